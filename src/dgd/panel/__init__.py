"""Counts and known inputs on a grid of dates, units and cohorts, and how they are cut and read."""
