"""Prices that follow what no column holds: what instruments say about them."""
