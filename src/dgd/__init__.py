"""Learn collective dynamics from counts.

panel = dgd.Panel.from_counts(counts, behaviors=["click", "like"])
fit = dgd.DGD().fit(panel, train_end="2022-04-21", validation_end="2022-04-28")
fit.forecast(horizon=7).to_frame()

The public names stand in `__init__.pyi`; each is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
