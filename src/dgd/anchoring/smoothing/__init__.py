"""Smoothers of arrivals: what is known of a series after every day, by many candidates at once."""
