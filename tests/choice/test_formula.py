"""A formula says what options say, and one that is wrong is answered by what is right."""

import numpy as np
import polars as pl
import pytest

from dgd.choice import Markets
from dgd.choice.formula import DemandFormula, read_formula
from support.random_choice import make, offers_table
from support.refusals import refused

REST = {"available": "available", "market_size": "visitors"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("sales ~ price", DemandFormula("sales", None, "price")),
        (
            "sales ~ price | sugar + mushy",
            DemandFormula("sales", None, "price", ("sugar", "mushy")),
        ),
        ("sales~price|1", DemandFormula("sales", None, "price")),
        ("share(s) ~ price | sugar", DemandFormula(None, "s", "price", ("sugar",))),
        ("share( s ) ~ price", DemandFormula(None, "s", "price")),
        ("sold units ~ price in euro", DemandFormula("sold units", None, "price in euro")),
        (
            "sales ~ price | sugar + C(brand) + C( city )",
            DemandFormula("sales", None, "price", ("sugar",), absorb=("brand", "city")),
        ),
        (
            "sales ~ price | sugar | cost + wage",
            DemandFormula("sales", None, "price", ("sugar",), instruments=("cost", "wage")),
        ),
        ("sales ~ price | size-1", DemandFormula("sales", None, "price", ("size-1",))),
    ],
    ids=str,
)
def test_a_formula_is_read_as_it_is_written(text: str, meant: DemandFormula):
    assert read_formula(text) == meant


@pytest.mark.parametrize("terms", ["0 + sugar", "sugar + 0", "-1 + sugar", "sugar - 1", "sugar -1"])
def test_zero_and_minus_one_take_the_constant_away(terms: str):
    meant = DemandFormula("sales", None, "price", ("sugar",), constant=False)
    assert read_formula(f"sales ~ price | {terms}") == meant


def test_a_formula_makes_the_markets_that_options_make():
    table = offers_table().with_columns(cost=pl.col("price") * 0.5)
    by_formula = Markets.from_formula(
        "count ~ price | quality + style + C(product) | cost", table, **REST
    )
    by_options = make(table, absorb=["product"], instruments=["cost"])
    assert by_formula.rows().equals(by_options.rows())
    assert by_formula.columns == by_options.columns
    assert by_formula.attribute_names == by_options.attribute_names
    assert np.array_equal(by_formula.instruments, by_options.instruments)


def test_a_formula_of_shares_makes_the_markets_of_their_counts():
    table = offers_table().with_columns(part=pl.col("count") / pl.col("visitors")).drop("count")
    markets = Markets.from_formula("share(part) ~ price | 0 + quality", table, **REST)
    assert markets.attribute_names == ("quality",)
    assert np.allclose(markets.count, make().count)


def test_other_options_stand_beside_a_formula():
    named = {"market": "town", "product": "good"}
    table = offers_table().rename({"market": "town", "product": "good", "price": "cost"})
    markets = Markets.from_formula("count ~ cost | style", table, **named, **REST, firm="good")
    assert markets.columns.keys == ["town", "good"]
    assert markets.columns.price == "cost"
    assert list(markets.marks) == ["good"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sales price", ['"sales price"', 'no "~"', "sales ~ price"]),
        ("a ~ b ~ c", ['2 "~"', "sales ~ price"]),
        ("a ~ b | c | d | e", ["4 parts", "instruments"]),
        ("~ price", ['no column left of "~"', "sales ~ price"]),
        ("sales ~", ['no column right of "~"', "sales ~ price"]),
        ("sales ~ | sugar", ['no column right of "~"']),
        ("log(sales) ~ price", ['"log(sales)"', "not a column"]),
        ("a + b ~ price", ['"a + b"', "one column of sales"]),
        ("share() ~ price", ["in share(...)", "share(s)"]),
        ("sales ~ price + sugar", ['"price + sugar"', 'attributes after "|"']),
        ("sales ~ 3", ['"3"', "is a number"]),
        ("sales ~ price | sugar + + mushy", ['"sugar + + mushy"', "empty place", "attributes"]),
        ("sales ~ price |", ["empty place", "attributes"]),
        ("sales ~ price | log(sugar)", ['"log(sugar)"', "make a column of it first"]),
        ("sales ~ price | 2", ['"2"', "is a number"]),
        ("sales ~ price | C()", ["in C(...)", "C(product)"]),
        ("sales ~ price | sugar | C(city)", ['"C(city)"', "among the instruments"]),
        ("sales ~ price | sugar | 0", ['"0"', "among the instruments", "is a number"]),
        (7, ["formula is 7", "sales ~ price"]),
    ],
    ids=str,
)
def test_a_wrong_piece_is_named_with_what_is_right(text: str, words: list[str]):
    with refused(*words):
        read_formula(text)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("count ~ price | charm", {}, ['no column "charm"']),
        ("sold ~ price | style", {}, ['no column "sold"']),
        ("count ~ price | style + style", {}, ["style", "twice"]),
        ("count ~ price | style | style", {}, ["style", "is an attribute"]),
        ("count ~ price | style", {"price": "price"}, ["price was given", "formula"]),
        ("count ~ price | style", {"attributes": ["quality"]}, ["attributes was given"]),
        (
            "count ~ price | style + C(market)",
            {"absorb": ["product"]},
            ["absorb was given", "formula"],
        ),
    ],
    ids=str,
)
def test_columns_are_refused_as_those_of_options_are(
    text: str, options: dict[str, object], words: list[str]
):
    with refused(*words):
        Markets.from_formula(text, offers_table(), **REST, **options)
