"""What a table holds before any fit, and whether dynamics could beat an average on it."""
