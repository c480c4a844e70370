"""The accuracy arena: the library beside its opponents on every window that the data allow."""
