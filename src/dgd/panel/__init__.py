"""Counts and known inputs on a grid of dates, units and cohorts, and how they are cut and read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
