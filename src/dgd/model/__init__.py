"""The equations: who is out there, whom contact reaches, how they respond, what they carry on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
