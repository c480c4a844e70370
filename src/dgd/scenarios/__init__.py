"""What a change would do, and how effort is best spread: scenarios, response curves, plans."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
