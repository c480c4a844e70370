"""Choice inside the dynamics: what was bought before moves what is chosen next."""
