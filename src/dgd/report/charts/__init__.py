"""Charts, each made from a tidy table that the user can have as well."""
