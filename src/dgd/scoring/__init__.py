"""Scores of behaviours and counts, and backtests that give every forecaster the same days."""
