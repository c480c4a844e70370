"""The app: a local page on which tables are looked at, fitted, forecast and planned with."""
