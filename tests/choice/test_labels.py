"""Product labels come back as they were given: texts as texts, whole numbers as whole numbers."""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.choice import ChoiceFit, Offers
from dgd.choice.demand_curves import demand_curve_table
from dgd.report import demand_curve_chart
from dgd.report import demand_curve_table as charted_curves
from dgd.report.charts.elasticities import elasticity_chart, elasticity_table
from dgd.runtime import computing
from support.random_choice import make, offers_table, random_fit
from support.refusals import refused

NUMBERS = {"a": 7, "b": 20, "c": 3, "d": 100}
KINDS = ("pandas", "polars", "pyarrow")


def numbered_table() -> pl.DataFrame:
    number = pl.col("product").replace_strict(NUMBERS, return_dtype=pl.Int64)
    return offers_table().with_columns(number)


def as_kind(table: pl.DataFrame, kind: str) -> Any:
    return {"pandas": table.to_pandas, "pyarrow": table.to_arrow}.get(kind, lambda: table)()


@pytest.fixture(scope="module", params=KINDS)
def fit(request: pytest.FixtureRequest) -> ChoiceFit:
    """A fit whose products are numbers, from each kind of frame."""
    return random_fit(make(as_kind(numbered_table(), request.param)))


@pytest.fixture(scope="module")
def named() -> ChoiceFit:
    """The same fit with texts for labels."""
    return random_fit(make())


def whole(table: Any, column: str) -> list[int | None]:
    """A column that must hold whole numbers, in whatever frame."""
    frame = nw.from_native(table, eager_only=True)
    assert frame.schema[column].is_integer(), frame.schema[column]
    return [None if value is None or value is pd.NA else value for value in frame[column].to_list()]


def texts(numbers: list[int | None]) -> list[str]:
    """What the same column holds where labels are texts."""
    text = {number: label for label, number in NUMBERS.items()}
    return ["outside" if number is None else text[number] for number in numbers]


def test_shares_keep_whole_numbers_and_leave_buying_nothing_without_one(
    fit: ChoiceFit, named: ChoiceFit
):
    table, same = fit.predict(), named.predict()
    assert texts(whole(table, "product")) == same["product"].to_list()
    assert np.allclose(nw.from_native(table)["share"].to_numpy(), same["share"])
    if fit.markets.kind == "pandas":
        assert table["product"].dtype == pd.Int64Dtype()


def test_elasticities_and_diversion_keep_whole_numbers(fit: ChoiceFit, named: ChoiceFit):
    table, same = fit.elasticities(), named.elasticities()
    for column in ("product", "price of"):
        assert texts(whole(table, column)) == same[column].to_list()
    table, same = fit.diversion(), named.diversion()
    for column in ("product", "to"):
        assert texts(whole(table, column)) == same[column].to_list()
    assert None not in whole(table, "product")
    assert None in whole(table, "to")


def test_a_comparison_matches_whole_numbers_and_buying_nothing(fit: ChoiceFit, named: ChoiceFit):
    compared = fit.compare(fit.markets.with_prices({7: 1.5}).without_products([3]))
    same = named.compare(named.markets.with_prices({"a": 1.5}).without_products(["c"]))
    ours, theirs = compared.products("polars"), same.products("polars")
    assert texts(whole(compared.products(), "product")) == theirs["product"].to_list()
    assert ours["measure"].to_list() == theirs["measure"].to_list()
    for column in ("base", "changed", "difference"):
        found, expected = ours[column].to_numpy(), theirs[column].to_numpy()
        assert np.allclose(found, expected, equal_nan=True)
    nothing = ours.filter(pl.col("product").is_null())
    assert nothing["measure"].unique().sort().to_list() == ["count", "share"]
    assert "outside" in compared._repr_html_()


def test_markets_of_numbers_and_of_texts_cannot_be_compared(named: ChoiceFit):
    numbers = make(numbered_table())
    with refused("products like 7", "'a'", "both by whole numbers"):
        named.compare(numbers)


def test_a_demand_curve_is_asked_by_the_number(fit: ChoiceFit, named: ChoiceFit):
    ours = fit.demand_curve(7, [1.0, 2.0], kind="polars")
    theirs = named.demand_curve("a", [1.0, 2.0], kind="polars")
    assert ours.columns == ["price", "count", "revenue", "count of all", "revenue of all"]
    assert np.allclose(ours.to_numpy(), theirs.to_numpy())
    with refused("product '7' is not in the markets"):
        fit.demand_curve("7", [1.0])


def test_best_prices_keep_whole_numbers():
    fit = random_fit(make(numbered_table()), seeds=(1,))
    assert whole(fit.best_prices([20], kind="polars"), "product") == [20, 20]
    assert whole(fit.best_prices([], kind="polars"), "product") == []


def test_tables_of_charts_keep_whole_numbers_and_charts_show_them():
    fit = random_fit(make(numbered_table()), seeds=(1,))
    curves = charted_curves(fit, [7, 3], [1.0, 2.0])
    assert curves["product"].dtype == pl.Int64
    assert curves["product"].unique(maintain_order=True).to_list() == [7, 3]
    shown = str(demand_curve_chart(fit, [7, 3], [1.0, 2.0]).to_dict())
    assert "'product': '7'" in shown
    elasticities = elasticity_table(fit)
    assert set(whole(elasticities, "price of")) == set(NUMBERS.values())
    assert "'price of': '100'" in str(elasticity_chart(fit).to_dict())


def test_a_report_and_a_file_hold_numbers(tmp_path: Any):
    fit = random_fit(make(numbered_table()), seeds=(1,))
    report = dgd.report.choice_report(fit).html
    assert '<option value="20">' in report
    fit.save(tmp_path / "fit.dgd")
    assert dgd.load(tmp_path / "fit.dgd").predict().equals(fit.predict())


def test_a_curve_moves_one_price_and_remakes_no_table():
    markets = make(numbered_table())
    fit = random_fit(markets)

    def offers_of(asked: Any) -> Offers:
        with computing():
            return Offers.of(asked)

    prices = [0.4, 1.7, 2.9]
    curve = demand_curve_table(fit.parameters, offers_of, markets, 20, prices)
    assert curve["price"].to_list() == prices
    for row in curve.iter_rows(named=True):
        remade = fit.predict(markets.with_prices({20: row["price"]}), "polars")
        sold = remade.drop_nulls("price")
        own = sold.filter(pl.col("product") == 20)
        assert row["count"] == pytest.approx(own["count"].sum())
        assert row["revenue"] == pytest.approx(row["price"] * own["count"].sum())
        assert row["count of all"] == pytest.approx(sold["count"].sum())
        assert row["revenue of all"] == pytest.approx((sold["price"] * sold["count"]).sum())


@pytest.mark.parametrize(
    ("prices", "words"),
    [([], ["prices is empty"]), ([1.0, -2.0], ["-2", "from 0 on"]), ([float("nan")], ["nan"])],
    ids=str,
)
def test_what_is_no_price_is_refused(prices: list[float], words: list[str], named: ChoiceFit):
    with refused(*words):
        named.demand_curve("a", prices)
