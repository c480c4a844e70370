"""Frames of any kind in and out, columns checked on the way, the steps of time, table files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
