"""The same firms and demand in PyBLP: the same costs, and the same prices after a merger."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgd.choice import Markets
from dgd.choice.firms.conduct import Firms
from dgd.choice.fitted_offers import FittedOffers
from support.pyblp_firms import pyblp_equilibrium, pyblp_people, steep_demand

pyblp = pytest.importorskip("pyblp", reason="PyBLP is not installed")

MARKETS = 8
FIRMS = np.array(["a", "a", "b", "c"])
BOUGHT = {"c": "a"}


@pytest.fixture(scope="module")
def sold() -> pd.DataFrame:
    """Four products of three firms; every third market lacks one."""
    rng = np.random.default_rng(11)
    whole = pd.DataFrame(
        {
            "market_ids": np.repeat(np.arange(MARKETS), len(FIRMS)),
            "product": np.tile(np.arange(len(FIRMS)), MARKETS),
            "firm_ids": np.tile(FIRMS, MARKETS),
            "quality": rng.normal(size=MARKETS * len(FIRMS)),
            "style": rng.normal(size=MARKETS * len(FIRMS)),
            "marginal": rng.uniform(0.4, 0.9, MARKETS * len(FIRMS)),
        }
    )
    return whole[(whole["market_ids"] % 3 > 0) | (whole["product"] != 1)].reset_index(drop=True)


@pytest.fixture(scope="module")
def models() -> Any:
    return steep_demand(2), steep_demand(3)


@pytest.fixture(scope="module")
def theirs(sold: pd.DataFrame, models: Any) -> Any:
    people = pyblp_people(models, range(MARKETS))
    costs = sold["marginal"].to_numpy()
    return pyblp_equilibrium(pyblp, sold.drop(columns="marginal"), people, costs)


@pytest.fixture(scope="module")
def firms(sold: pd.DataFrame, models: Any, theirs: Any) -> Firms:
    """PyBLP's prices; what a market lacks is listed as not available."""
    table = sold.rename(columns={"market_ids": "market", "firm_ids": "firm"})
    table = table.assign(price=theirs.product_data.prices.ravel(), available=1)
    lacking = [m for m in range(MARKETS) if m % 3 == 0]
    extra = pd.DataFrame({"market": lacking, "product": 1, "firm": "a", "available": 0})
    extra = extra.assign(quality=0.0, style=0.0, price=np.nan)
    # First in its market, so that slots on offer are not simply the first ones.
    markets = Markets.from_table(
        pd.concat([extra, table]).drop(columns="marginal"),
        attributes=["quality", "style"],
        count=None,
        available="available",
        firm="firm",
    )
    return Firms(models, FittedOffers.plain(markets), markets)


def matched(table: pd.DataFrame, sold: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table` in PyBLP's order."""
    keys = sold[["market_ids", "product"]].rename(columns={"market_ids": "market"})
    found = keys.merge(table, on=["market", "product"], how="left", validate="1:1")
    assert len(table) == len(sold)
    return found


def test_costs_are_pyblps(firms: Firms, theirs: Any, sold: pd.DataFrame):
    ours = matched(firms.costs(), sold)
    found = theirs.compute_costs().ravel()
    assert np.abs(ours["cost"] - found).max() < 1e-10
    assert np.abs(ours["cost"] - sold["marginal"]).max() < 1e-8
    lerner = theirs.compute_markups(costs=found).ravel()
    assert np.abs(ours["lerner"] - lerner).max() < 1e-10


def test_costs_under_other_owners_are_pyblps(firms: Firms, theirs: Any, sold: pd.DataFrame):
    """Their costs if a and c already were one, found from the same prices."""
    joined = sold["firm_ids"].replace(BOUGHT)
    found = theirs.compute_costs(firm_ids=joined).ravel()
    table = firms.markets.to_frame()
    table["firm"] = table["firm"].replace(BOUGHT)
    markets = Markets.from_table(
        table, attributes=["quality", "style"], count=None, available="available", firm="firm"
    )
    ours = matched(Firms(firms.parameters, FittedOffers.plain(markets), markets).costs(), sold)
    assert np.abs(ours["cost"] - found).max() < 1e-10
    assert np.abs(found - sold["marginal"]).max() > 1e-3


def test_merger_prices_are_pyblps(firms: Firms, theirs: Any, sold: pd.DataFrame):
    costs = theirs.compute_costs()
    found = theirs.compute_prices(firm_ids=sold["firm_ids"].replace(BOUGHT), costs=costs)
    before = theirs.product_data.prices.ravel()
    ours = matched(firms.merger(BOUGHT).prices(), sold)
    assert (found.ravel() - before).max() > 1e-3
    assert np.abs(ours["new price"] - found.ravel()).max() < 1e-10
    assert np.abs(ours["base price"] - before).max() == 0


def test_prices_at_other_costs_are_pyblps(firms: Firms, theirs: Any, sold: pd.DataFrame):
    """A tax on product 2."""
    costs = theirs.compute_costs().ravel() + 0.1 * (sold["product"] == 2)
    found = theirs.compute_prices(costs=costs.to_numpy()[:, None]).ravel()
    table = sold.rename(columns={"market_ids": "market"})[["market", "product"]].assign(cost=costs)
    ours = matched(firms.equilibrium(table).prices(), sold)
    assert np.abs(ours["new price"] - found).max() < 1e-10


def test_profits_are_pyblps(firms: Firms, theirs: Any, sold: pd.DataFrame):
    joined = sold["firm_ids"].replace(BOUGHT)
    costs = theirs.compute_costs()
    prices = theirs.compute_prices(firm_ids=joined, costs=costs)
    shares = theirs.compute_shares(prices)
    found = theirs.compute_profits(prices, shares, costs).ravel()
    ours = firms.merger(BOUGHT).profits().set_index("firm")
    assert list(ours.index) == ["a", "b"]
    for firm in "ab":
        assert abs(ours.loc[firm, "changed"] - found[joined == firm].sum()) < 1e-9
