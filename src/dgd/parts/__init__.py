"""Counts in a folder of Parquet files, spread over parts by a hash of the unit."""
