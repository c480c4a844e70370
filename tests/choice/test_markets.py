"""Markets hold what the table says, and refuse what cannot be right."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.choice import ChoiceModel, Markets
from support.random_choice import ATTRIBUTES, SIZES, make, offers_table
from support.refusals import refused


def changed(row: int, column: str, value: object) -> pd.DataFrame:
    """The offers with one value changed, as a frame whose columns may hold anything."""
    table = {name: list(values) for name, values in offers_table().to_dict(as_series=False).items()}
    table[column][row - 1] = value
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


def test_every_row_stands_where_the_table_says():
    markets = make()
    assert markets.markets == ("north", "south", "east", "west", "center")
    assert markets.product.shape == (5, 4)
    assert markets.listed.sum(1).tolist() == [3, 4, 2, 3, 4]
    assert markets.available.sum(1).tolist() == [3, 3, 2, 3, 4]
    assert markets.attribute_names == ("constant", *ATTRIBUTES)
    assert (markets.attributes[..., 0] == markets.listed).all()
    for row in offers_table().iter_rows(named=True):
        market = markets.markets.index(row["market"])
        slot = markets.product[market].tolist().index(markets.products.index(row["product"]))
        assert markets.price[market, slot] == row["price"]
        assert markets.count[market, slot] == row["count"]
        assert markets.attributes[market, slot, 1:].tolist() == [row[a] for a in ATTRIBUTES]
    assert np.array_equal(markets.outside, 500 - markets.sales)


def test_rows_come_back_as_they_were():
    back = make().to_frame()
    assert isinstance(back, pl.DataFrame)
    given = offers_table().drop("visitors").cast({"available": pl.Boolean, "count": pl.Float64})
    assert back.equals(given.select(back.columns))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb", "lazy"])
def test_any_kind_of_frame_makes_the_same_markets(kind: str):
    table = offers_table()
    frames = {
        "pandas": table.to_pandas,
        "polars": lambda: table,
        "pyarrow": table.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(table.to_arrow()),
        "lazy": table.lazy,
    }
    made, same = make(frames[kind]()), make()
    assert np.array_equal(made.price, same.price, equal_nan=True)
    assert np.array_equal(made.count, same.count)
    assert made.kind == {"duckdb": "pyarrow", "lazy": "polars"}.get(kind, kind)


def test_size_can_be_given_in_every_form():
    labels = make().markets
    each = {label: 400.0 + index for index, label in enumerate(labels)}
    table = pl.DataFrame({"market": list(each), "market_size": list(each.values())})
    nothing = {label: each[label] - sold for label, sold in zip(labels, make().sales, strict=True)}
    for size in (
        make(market_size=each).size,
        make(market_size=table).size,
        make(market_size=None, outside=nothing).size,
        make(offers_table().join(table, on="market"), market_size="market_size").size,
    ):
        assert size.tolist() == list(each.values())
    assert make(market_size=900).size.tolist() == [900.0] * 5


def test_cohort_sizes_may_differ_between_markets():
    everywhere = make(sizes=SIZES)
    assert everywhere.cohorts == ("new", "old")
    assert everywhere.cohort_size.tolist() == [[2.0, 5.0]] * 5
    sizes = pl.DataFrame(
        {
            "market": [m for m in make().markets for _ in range(2)],
            "cohort": ["new", "old"] * 5,
            "size": np.arange(1.0, 11.0),
        }
    )
    assert make(sizes=sizes).cohort_size[3].tolist() == [7.0, 8.0]


def test_markets_without_counts_are_one_opportunity_each():
    markets = make(offers_table().drop("count"), count=None, market_size=None)
    assert not markets.counted
    assert markets.size.tolist() == [1.0] * 5
    with refused("count=None", "training needs counts"):
        ChoiceModel().fit(markets)


def test_an_unavailable_product_needs_no_price():
    row = offers_table().with_row_index().filter(pl.col("available") == 0).item(0, "index")
    markets = make(changed(row + 1, "price", None))
    assert np.isnan(markets.price[1]).sum() == 1
    assert markets.rows()["price"].null_count() == 1


def test_selected_markets_need_no_more_slots_than_they_use():
    chosen = make().select(["east", "north"])
    assert chosen.markets == ("east", "north")
    assert chosen.price.shape == (2, 3)
    with refused("nowhere", "north"):
        make().select(["nowhere"])
    with refused("no market"):
        make().select([])


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (2, "count", -3, ["row 2", "market north", "product b", "column count", "-3", "start at"]),
        (2, "count", 2.5, ["row 2", "product b", "2.5", "counts are whole"]),
        (2, "count", None, ["row 2", "product b", "missing", "write 0 or drop the row"]),
        (5, "count", 7, ["row 5", "market south", "product b", "7", "not available"]),
        (1, "price", None, ["row 1", "market north", "product a", "price", "missing"]),
        (1, "price", float("inf"), ["row 1", "product a", "inf"]),
        (1, "price", -0.5, ["row 1", "product a", "-0.5", "negative"]),
        (3, "quality", float("nan"), ["row 3", "product c", "quality", "finite"]),
        (3, "available", 2, ["row 3", "product c", "available", "2", "neither 0 nor 1"]),
        (3, "market", None, ["row 3", "market", "missing"]),
        (3, "product", "outside", ["row 3", "product", "outside", "rename"]),
        (3, "product", "a", ["rows 1 and 3", "north", "a", "drop one"]),
        (3, "visitors", 400, ["rows 1 and 3", "market north", "visitors", "500", "400"]),
    ],
)
def test_a_wrong_cell_is_named(row: int, column: str, value: object, words: list[str]):
    with refused(*words):
        make(changed(row, column, value))


def test_a_column_of_text_is_no_price():
    cheap = offers_table().with_columns(price=pl.lit("cheap"))
    with refused("row 1", "market north", "price", "is not a number"):
        make(cheap)
    with refused("market north", "no available product"):
        make(cheap.with_columns(available=pl.lit(0), count=pl.lit(0)))


def test_a_wrong_cell_is_named_by_the_users_own_columns():
    table = changed(2, "count", -3).rename(columns={"market": "town", "product": "good"})
    with refused("row 2", "town north", "good b", "column count", "-3"):
        make(table, market="town", product="good")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"price": "cost"}, ['no column "cost"', "visitors", "rename"]),
        ({"attributes": ["size"]}, ['no column "size"']),
        ({"attributes": "quality"}, ['["quality"]']),
        ({"attributes": ["quality", "quality"]}, ["quality", "twice"]),
        ({"attributes": ["price"]}, ["price", "in use"]),
        ({"attributes": ["constant"]}, ["constant", "let dgd add it"]),
        ({"attributes": [], "constant": False}, ["attributes is empty"]),
        ({"market": "product"}, ["product", "named twice"]),
        ({"available": None}, ["available", "was not named"]),
        ({"market_size": None}, ["neither outside nor market_size"]),
        ({"outside": 3}, ["both outside and market_size"]),
        ({"market_size": 60}, ["market south", "60", "below the 82", "sold"]),
        ({"market_size": {"north": 500}}, ["says nothing about market south"]),
        ({"market_size": {"north": 500, "moon": 2}}, ["moon", "correct the label"]),
        ({"market_size": -4}, ["market north", "-4", "negative"]),
        ({"market_size": None, "outside": 2.5}, ["market north", "outside", "2.5", "not whole"]),
        ({"market_size": "size"}, ['no column "size"']),
        ({"sizes": {"new": -1.0}}, ["sizes", "-1", "negative"]),
        ({"sizes": {"new": 0.0}}, ["north", "size 0"]),
        ({"sizes": pl.DataFrame({"cohort": ["new"]})}, ['no column "size"']),
    ],
    ids=str,
)
def test_wrong_options_are_refused(options: dict[str, Any], words: list[str]):
    with refused(*words):
        make(**options)


def test_a_market_with_nothing_available_is_named():
    closed = offers_table().with_columns(
        available=pl.when(pl.col("market") == "east").then(0).otherwise("available"),
        count=pl.when(pl.col("market") == "east").then(0).otherwise("count"),
    )
    with refused("market east", "no available product", "leave the market out"):
        make(closed)


def test_an_empty_table_is_refused():
    with refused("no rows"):
        make(offers_table().clear())
    with pytest.raises(dgd.InputError, match="not a table"):
        make([1, 2])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("style", ['attribute "style" is 2', "cannot be told", "leave it out"]),
        ("price", ["price is 2", "price sensitivity cannot be learned"]),
    ],
)
def test_what_never_varies_cannot_be_learned(column: str, words: list[str]):
    markets = make(offers_table().with_columns(pl.lit(2.0).alias(column)))
    with refused(*words):
        ChoiceModel().fit(markets)


def test_counts_without_a_choice_in_them_are_refused():
    with refused("nothing was sold"):
        ChoiceModel().fit(make(offers_table().with_columns(count=pl.lit(0))))
    with refused("everyone bought"):
        ChoiceModel().fit(make(market_size=None, outside=0))


def test_the_markets_say_what_they_are():
    assert "5 markets, 4 products, 3 attributes, 1 cohorts" in repr(make())
    assert isinstance(make(), Markets)
