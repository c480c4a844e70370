"""Best prices: what brute force over the prices seen finds, and nothing beyond them."""

import numpy as np
import polars as pl
import pytest

from dgd.choice import ChoiceFit
from support.random_choice import make, offers_table, random_fit
from support.refusals import refused


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return random_fit(make())


@pytest.mark.slow
def test_no_price_that_was_seen_earns_more(fit: ChoiceFit) -> None:
    table = fit.best_prices(["a"], kind="polars")
    assert table["aim"].to_list() == ["revenue", "revenue of all"]
    offers = fit.markets.rows().filter(pl.col("available") & (pl.col("product") == "a"))
    grid = np.linspace(offers["price"].min(), offers["price"].max(), 301)
    curve = fit.demand_curve("a", grid, kind="polars")
    for row in table.iter_rows(named=True):
        (found,) = fit.demand_curve("a", [row["best price"]], kind="polars")[row["aim"]]
        assert found >= curve[row["aim"]].max() * (1 - 1e-4)
        assert grid[0] <= row["best price"] <= grid[-1]
        assert row["usual price"] == pytest.approx(offers["price"].median())
        assert row["gain percent"] >= -1e-9
        assert row["at the edge"] == (
            min(abs(row["best price"] - end) for end in (grid[0], grid[-1])) < 1e-9
        )


def test_a_product_of_one_price_has_no_best_one() -> None:
    one_price = pl.when(pl.col("product") == "a").then(1.5).otherwise(pl.col("price"))
    fit = random_fit(make(offers_table().with_columns(price=one_price)))
    assert fit.best_prices(["a"], kind="polars").is_empty()


def test_a_strange_product_is_refused(fit: ChoiceFit) -> None:
    with refused("'q'"):
        fit.best_prices(["q"])
