"""Charts, each made from a tidy table that the user can have as well."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
