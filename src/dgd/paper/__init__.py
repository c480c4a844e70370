"""The paper's tables, one file each, computed here and set beside its figures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
