"""Several processes that work as one: who each is, what they sum, and how they are started."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
