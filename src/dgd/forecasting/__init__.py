"""Forecasts: the protocol every forecaster keeps, paths ahead, and what comes out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
