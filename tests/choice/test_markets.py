"""Markets hold what the table says, and refuse what cannot be right."""

import json
from typing import Any

import duckdb
import equinox as eqx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.choice import ChoiceModel, Demand, Markets, Scales
from dgd.choice.stored import markets_from, markets_stored
from dgd.runtime import computing
from support.random_choice import ATTRIBUTES, SIZES, make, offers_table, random_demand
from support.refusals import refused

MARKS: dict[str, Any] = {
    "instruments": ["cost"],
    "absorb": ["product", "maker"],
    "firm": "maker",
    "household": "home",
    "period": "week",
    "place": "town",
}
"""The columns beside the offers, each with a name of its own."""


def marked_table() -> pl.DataFrame:
    """The offers with who made them, what they cost, who chose, when and where."""
    order = {"north": 0, "south": 1, "east": 2, "west": 3, "center": 4}
    number = pl.col("market").replace_strict(order, return_dtype=pl.Int64)
    return offers_table().with_columns(
        maker=pl.when(pl.col("product").is_in(["a", "b"])).then(pl.lit("x")).otherwise(pl.lit("y")),
        cost=0.3 * pl.col("price") + 0.1 * number,
        home=number % 2,
        week=10 - number,
        town=pl.concat_str(pl.lit("town "), number % 3),
    )


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


def test_volumes_with_fractions_are_read_as_they_are():
    volumes = offers_table().with_columns(pl.col("count") * 1.25)
    markets = make(volumes)
    assert not markets.whole
    assert make().whole
    assert markets.sales.tolist() == pytest.approx((1.25 * make().sales).tolist())
    assert make(volumes, market_size=None, outside=2.5).outside.tolist() == pytest.approx([2.5] * 5)
    assert markets.rows()["count"].to_list() == volumes["count"].to_list()


def test_shares_are_the_counts_they_came_from():
    part = offers_table().with_columns(part=pl.col("count") / pl.col("visitors"))
    counted, shared = make(), make(part.drop("count"), share="part")
    assert np.allclose(shared.count, counted.count)
    assert np.allclose(shared.outside, counted.outside)
    assert not shared.whole
    assert shared.rows()["part"].to_list() == pytest.approx(part["part"].to_list())
    alone = make(part.drop("count"), share="part", market_size=None)
    assert alone.size.tolist() == [1.0] * 5
    assert np.allclose(alone.count * 500, counted.count)


def test_shares_of_a_market_are_parts_of_one():
    parts = offers_table().with_columns(part=0.4 * pl.col("available"))
    with refused("market south, part", "add up to 1.2", "correct them"):
        make(parts.filter(pl.col("market") == "south"), share="part")
    fit_in = parts.with_columns(0.25 * pl.col("part"))
    with refused("outside was given with shares", "leave it out"):
        make(fit_in, share="part", market_size=None, outside=3)


def test_without_an_outside_option_there_is_no_constant_and_nobody_buys_nothing():
    markets = make(outside=False, market_size=None)
    assert markets.attribute_names == tuple(ATTRIBUTES)
    assert not markets.has_constant
    assert not markets.has_outside
    assert np.array_equal(markets.size, markets.sales)
    assert markets.outside.tolist() == [0.0] * 5
    assert not markets.with_prices({"a": 1.0}).has_outside
    asked = make(offers_table().drop("count"), count=None, outside=False, market_size=None)
    assert asked.size.tolist() == [1.0] * 5


def test_shares_of_all_that_was_chosen_add_up_to_one():
    table = offers_table().with_columns(
        part=(pl.col("count") / pl.col("count").sum().over("market")).round(3)
    )
    counted = make(outside=False, market_size=None)
    shared = make(table.drop("count"), share="part", outside=False, market_size=None)
    assert shared.sales.tolist() == pytest.approx([1.0] * 5)
    assert np.allclose(shared.count, counted.count / counted.sales[:, None], atol=2e-3)
    sized = make(table.drop("count"), share="part", outside=False, market_size=70)
    assert np.array_equal(sized.sales.round(9), sized.size)
    half = table.with_columns(pl.col("part") / 2)
    with refused("market north, part", "add up to 0.5", "outside=False", "correct them"):
        make(half, share="part", outside=False, market_size=None)


def test_without_an_outside_option_no_table_has_a_row_for_it():
    markets = make(outside=False, market_size=None)
    with computing():
        model = random_demand(1, cohorts=1)
        pick = (model.utility.attribute_effect[1:], model.utility.attribute_loading[1:])
        where = lambda m: (m.utility.attribute_effect, m.utility.attribute_loading)  # noqa: E731
        model = eqx.tree_at(where, model, pick)
        scales = Scales(model.scales.center[1:], model.scales.spread[1:], model.scales.price)
        model = eqx.tree_at(lambda m: m.scales, model, scales)
    demand = Demand((model,), markets)
    shares, diversion = demand.shares_table(), demand.diversion_table()
    assert shares.height == markets.listed.sum()
    assert "outside" not in shares["product"]
    assert "outside" not in diversion["to"]
    for table, measure, keys in (
        (shares, "share", ["market"]),
        (diversion, "diversion", ["market", "product"]),
    ):
        total = table.group_by(keys).agg(pl.col(measure).sum())
        assert np.allclose(total[measure], 1.0)
    assert shares["count"].sum() == pytest.approx(markets.sales.sum())


def test_marks_stand_beside_their_offers():
    markets = make(marked_table(), **MARKS)
    assert list(markets.marks) == ["maker", "home", "week", "town", "product"]
    assert markets.marks["week"].labels == (10, 9, 8, 7, 6)
    assert markets.marks["home"].of_market.tolist() == [0, 1, 0, 1, 0]
    table, rows = marked_table(), markets.rows()
    for name in ("cost", "maker", "home", "week", "town", "product"):
        assert rows[name].to_list() == table[name].to_list(), name
    assert (markets.marks["maker"].code < 0).tolist() == (~markets.listed).tolist()


@pytest.mark.parametrize("column", ["home", "week", "town"])
def test_a_mark_of_the_market_is_the_same_in_all_its_rows(column: str):
    number, other = pl.int_range(pl.len()), 77 if column != "town" else "elsewhere"
    value = pl.when(number == 2).then(pl.lit(other)).otherwise(pl.col(column))
    words = ["row 3", "market north", "product c", f"column {column}", str(other)]
    with refused(*words, "give all rows of a market the same"):
        make(marked_table().with_columns(value.alias(column)), **MARKS)
    gap = pl.when(number == 2).then(None).otherwise(pl.col(column))
    with refused("row 3", column, "missing", "name it"):
        make(marked_table().with_columns(gap.alias(column)), **MARKS)


def test_rows_make_the_same_markets_again():
    markets = make(marked_table(), **MARKS)
    again = make(markets.rows(), **MARKS, market_size=500)
    for grid in ("product", "available", "attributes", "count", "instruments", "size"):
        assert np.array_equal(getattr(again, grid), getattr(markets, grid)), grid
    assert again.columns == markets.columns
    assert again.rows().equals(markets.rows())
    assert {name: marks.labels for name, marks in again.marks.items()} == {
        name: marks.labels for name, marks in markets.marks.items()
    }


def test_selected_and_changed_markets_keep_their_marks():
    markets = make(marked_table(), **MARKS)
    chosen = markets.select(["east", "north"])
    rows = markets.rows()
    for label in chosen.markets:
        own = chosen.rows().filter(pl.col("market") == label)
        assert own.equals(rows.filter(pl.col("market") == label))
    for changed_to in (markets.with_prices({"a": 1.0}), markets.without_products(["b"])):
        same = ["market", "product", "cost", "maker", "home", "week", "town"]
        assert changed_to.rows().select(same).equals(rows.select(same))


def test_new_offers_take_from_their_market_what_is_the_markets():
    markets = make(marked_table(), **MARKS)
    new = {"product": ["e"], "price": [1.0], "quality": [0.5], "style": [0.0], "maker": ["z"]}
    added = markets.with_products(pl.DataFrame(new)).rows().filter(pl.col("product") == "e")
    of_market = markets.rows().unique("market", maintain_order=True)
    for name in ("home", "week", "town"):
        assert added[name].to_list() == of_market[name].to_list()
    assert added["cost"].to_list() == [0.0] * 5
    with refused('no column "maker"'):
        markets.with_products(pl.DataFrame(new).drop("maker"))


@pytest.mark.parametrize(
    "options", [{}, {"share": "part"}, {"outside": False, "market_size": None}], ids=str
)
def test_stored_markets_come_back_whole(options: dict[str, Any]):
    part = pl.col("count") / pl.col("visitors")
    markets = make(marked_table().with_columns(part=part), **MARKS, **options)
    facts, tensors = markets_stored(markets)
    back = markets_from(json.loads(json.dumps(facts)), tensors)
    assert back.rows().equals(markets.rows())
    assert back.columns == markets.columns
    assert back.has_outside == markets.has_outside
    assert back.attribute_names == markets.attribute_names
    assert np.array_equal(back.size, markets.size)
    for name, marks in markets.marks.items():
        assert back.marks[name].labels == marks.labels
        assert np.array_equal(back.marks[name].code, marks.code)


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
        (2, "count", float("inf"), ["row 2", "product b", "column count", "inf", "finite"]),
        (2, "count", None, ["row 2", "product b", "missing", "fill it in or drop the row"]),
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
        ({"market_size": None, "outside": -2.5}, ["market north", "outside", "-2.5", "negative"]),
        ({"market_size": None, "outside": True}, ["outside is True", "how many bought nothing"]),
        ({"outside": False}, ["market_size was given with outside=False", "leave it out"]),
        ({"outside": False, "market_size": None, "attributes": []}, ["attributes is empty"]),
        ({"instruments": ["cost"]}, ['no column "cost"', "visitors", "rename"]),
        ({"instruments": ["quality"]}, ['"quality"', "is an attribute", "moves prices"]),
        ({"instruments": ["price"]}, ['instruments names "price"', "in use"]),
        ({"absorb": ["town"]}, ['no column "town"']),
        ({"absorb": ["market", "market"]}, ["absorb", "market", "twice"]),
        ({"absorb": ["price"]}, ['absorb names "price"', "in use"]),
        ({"firm": "maker"}, ['no column "maker"']),
        ({"household": "home"}, ['no column "home"']),
        ({"period": "week"}, ['no column "week"']),
        ({"place": "town"}, ['no column "town"']),
        ({"share": "part"}, ['no column "part"']),
        ({"share": "count"}, ["row 1", "above 1", "parts of everyone"]),
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
