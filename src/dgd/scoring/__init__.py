"""Scores of behaviours and counts, and backtests that give every forecaster the same days."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
