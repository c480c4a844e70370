"""Demand from market counts: who buys what when attributes, prices and availability change.

markets = dgd.choice.Markets.from_table(sales, attributes=["quality"], market_size="visitors")
fit = dgd.choice.ChoiceModel().fit(markets)
fit.elasticities(level=90)
fit.compare(markets.with_prices({"a": 2.5})).total()
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
