"""Forecasts: the protocol every forecaster keeps, paths ahead, and what comes out."""
