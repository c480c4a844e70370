"""Everyone alike: the logit at the top of its likelihood, whatever the level of shares."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from dgd.choice import ChoiceModel, Markets
from support.drawn_logit import SENSITIVITY, TASTES, drawn_markets, drawn_table

ALIKE = ChoiceModel(population="point")


def exact_logit(table: pl.DataFrame, size: float) -> np.ndarray:
    """Constant, taste for quality and price sensitivity, by a search of SciPy's own."""
    shape = (table["market"].n_unique(), -1)
    quality, price, count = (
        table[name].to_numpy().reshape(shape).astype(float)
        for name in ("quality", "price", "count")
    )
    nothing = size - count.sum(1)

    def loss(effects: np.ndarray) -> float:
        utility = effects[0] + effects[1] * quality - effects[2] * price
        log_total = np.logaddexp.reduce(np.c_[np.zeros(len(utility)), utility], axis=1)
        total = (count * (utility - log_total[:, None])).sum() - (nothing * log_total).sum()
        return -float(total) / count.sum()

    start = np.array([np.log(count.sum() / size / len(quality) / 4), 0.0, 1.0])
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000}
    return np.asarray(minimize(loss, start, method="Nelder-Mead", options=options).x)


def test_effects_are_those_of_a_search_of_scipys_own():
    table = drawn_table(3)
    fit = ALIKE.fit(drawn_markets(3))
    found = fit.coefficients()["estimate"].to_numpy()
    constant, quality, sensitivity = exact_logit(table, 5000)
    np.testing.assert_allclose(found, [sensitivity, constant, quality], rtol=1e-5)


def test_the_truth_is_found_again():
    found = ALIKE.fit(drawn_markets(4, markets=200)).coefficients()["estimate"].to_numpy()
    np.testing.assert_allclose(found, [SENSITIVITY, *TASTES], rtol=0.05)


@pytest.mark.parametrize("size", [10**6, 10**8, 10**9])
def test_elasticities_do_not_depend_on_how_rare_purchases_are(size: int):
    """The same counts in ever larger markets: inside shares from 0.5% down to five in a million."""
    table = drawn_table(5, constant=-4.0, size=5000)
    rare = Markets.from_table(table, attributes=["quality"], market_size=size)
    fit = ChoiceModel(starts=1, nodes=5).fit(rare, seeds=[1])
    sensitivity = exact_logit(table, size)[2]
    table = fit.elasticities()
    own = table.filter(pl.col("product") == pl.col("price of"))
    expected = -sensitivity * rare.rows()["price"].to_numpy()
    np.testing.assert_allclose(own["elasticity"].to_numpy(), expected, rtol=0.01)
    sold = fit.predict().filter(pl.col("product") != "outside")["count"].sum()
    np.testing.assert_allclose(sold, rare.count.sum(), rtol=0.001)


def test_units_of_prices_attributes_and_volumes_do_not_matter():
    table = drawn_table(6, scatter=0.5)
    other = table.with_columns(
        pl.col("price") * 100, pl.col("quality") * 50 + 1900, pl.col("count") * 0.001
    )
    one = ALIKE.fit(Markets.from_table(table, attributes=["quality"], market_size=5000))
    same = ALIKE.fit(Markets.from_table(other, attributes=["quality"], market_size=5.0))
    np.testing.assert_allclose(
        one.elasticities()["elasticity"], same.elasticities()["elasticity"], rtol=1e-6
    )
    for measure in ("estimate", "standard error"):
        price, _, quality = one.coefficients()[measure]
        cents, _, points = same.coefficients()[measure]
        np.testing.assert_allclose([100 * cents, 50 * points], [price, quality], rtol=1e-6)


def test_a_table_of_shares_says_what_its_counts_say():
    table = drawn_table(7, scatter=0.5)
    shares = table.with_columns(share=pl.col("count") / 5000)
    counted = ALIKE.fit(Markets.from_table(table, attributes=["quality"], market_size=5000))
    shared = ALIKE.fit(Markets.from_table(shares, attributes=["quality"], share="share"))
    np.testing.assert_allclose(
        counted.coefficients()["standard error"], shared.coefficients()["standard error"], rtol=1e-6
    )


def test_absorbed_labels_are_their_own_columns():
    table = drawn_table(8).with_columns(
        (pl.col("product") == f"p{j}").cast(pl.Float64).alias(f"is p{j}") for j in range(1, 4)
    )
    marks = [f"is p{j}" for j in range(1, 4)]
    columns = Markets.from_table(table, attributes=["quality", *marks], market_size=5000)
    absorbed = Markets.from_table(
        table, attributes=["quality"], absorb=["product"], market_size=5000
    )
    by_columns, by_labels = ALIKE.fit(columns), ALIKE.fit(absorbed)
    np.testing.assert_allclose(
        by_columns.predict()["share"], by_labels.predict()["share"], rtol=1e-7
    )
    np.testing.assert_allclose(
        by_columns.coefficients()["standard error"].to_numpy(),
        by_labels.coefficients()["standard error"].to_numpy(),
        rtol=1e-5,
    )


def test_market_effects_make_every_market_sell_what_it_sold():
    """With an effect of its own a market's purchases are met exactly: the logit's own rule."""
    markets = Markets.from_table(
        drawn_table(9, markets=12), attributes=["quality"], absorb=["market"], market_size=5000
    )
    table = ALIKE.fit(markets).predict().filter(pl.col("product") != "outside")
    sold = table.group_by("market", maintain_order=True).agg(pl.col("count").sum())
    np.testing.assert_allclose(sold["count"].to_numpy(), markets.sales, rtol=1e-6)


def test_choice_sets_without_an_outside_option_are_compared_among_themselves():
    """Leaving out who bought nothing leaves the effects of attributes and prices as they are."""
    table = drawn_table(10, markets=300)
    inside = Markets.from_table(table, attributes=["quality"], outside=False)
    found = ALIKE.fit(inside).coefficients()
    assert found["coefficient"].to_list() == ["price sensitivity", "taste for quality"]
    np.testing.assert_allclose(found["estimate"], [SENSITIVITY, TASTES[1]], rtol=0.06)
    shares = ALIKE.fit(inside).predict().group_by("market").agg(pl.col("share").sum())
    np.testing.assert_allclose(shares["share"], 1.0)
