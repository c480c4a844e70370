"""From raw events to pattern counts, lazily, on the engine the events live in."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
