"""Demand from market counts: who buys what when attributes, prices and availability change.

markets = dgd.choice.Markets.from_table(sales, attributes=["quality"], market_size="visitors")
fit = dgd.choice.ChoiceModel().fit(markets, validation=0.25)
fit.elasticities()
fit.compare(markets.with_prices({"a": 2.5})).total()
"""

from dgd.choice.choice_demand import ChoiceDemand, PriceDerivatives, Shares
from dgd.choice.comparison import Comparison
from dgd.choice.demand import Demand, price_derivatives, shares
from dgd.choice.estimator import ChoiceModel
from dgd.choice.fit import ChoiceFit
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.settings import ChoiceSettings
from dgd.choice.simulate import SimulatedMarkets, simulate_markets
from dgd.choice.storage import load
from dgd.choice.utility import Utility
from dgd.choice.worlds import ChoiceWorld, discrete_world, gaussian_world

__all__ = [
    "ChoiceDemand",
    "ChoiceFit",
    "ChoiceModel",
    "ChoiceSettings",
    "ChoiceWorld",
    "Comparison",
    "Demand",
    "Markets",
    "Offers",
    "PriceDerivatives",
    "Scales",
    "Shares",
    "SimulatedMarkets",
    "Utility",
    "discrete_world",
    "gaussian_world",
    "load",
    "price_derivatives",
    "shares",
    "simulate_markets",
]
