"""Pages people open: the report of a fit, and the pieces that the app shares with it."""
