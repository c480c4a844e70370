"""Files that are whole or absent, and that can never run code."""
