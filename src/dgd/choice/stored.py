"""Markets as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgd.choice.markets import Markets
from dgd.choice.marks import Marks
from dgd.choice.offer_table import OfferColumns
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.tables.checks import LARGEST_COUNT, LARGEST_VALUE
from dgd.tables.frames import EAGER_KINDS

GRIDS = (
    "product", "price", "available", "attributes", "count", "size", "cohort_size", "instruments",
)  # fmt: skip
LABELS = ("markets", "products", "attribute_names", "cohorts")


def markets_stored(markets: Markets) -> tuple[dict[str, Any], Tensors]:
    """Everything of `markets` that a file must keep."""
    facts = {
        **{name: getattr(markets, name) for name in LABELS},
        "columns": asdict(markets.columns),
        "kind": markets.kind,
        "has_outside": markets.has_outside,
        "marks": {name: marks.labels for name, marks in markets.marks.items()},
    }
    grids = {f"markets/{name}": getattr(markets, name) for name in GRIDS}
    beside = {f"markets/marks/{name}": marks.code for name, marks in markets.marks.items()}
    return facts, {**grids, **beside}


def markets_from(facts: dict[str, Any], tensors: Tensors) -> Markets:
    """The markets that `markets_stored` describes."""
    labels: dict[str, Any] = {name: declared.labels(facts, name) for name in LABELS}
    markets, cohorts = len(labels["markets"]), len(labels["cohorts"])
    products, attributes = len(labels["products"]), len(labels["attribute_names"])
    product = declared.tensor(tensors, "markets/product", [markets, None], -1, products - 1, "i")
    slots = product.shape
    grids: dict[str, Any] = {
        "product": product,
        "price": declared.tensor(tensors, "markets/price", slots, 0, LARGEST_VALUE, gaps=True),
        "available": declared.tensor(tensors, "markets/available", slots, kind="b"),
        "attributes": declared.tensor(
            tensors, "markets/attributes", [*slots, attributes], -LARGEST_VALUE, LARGEST_VALUE
        ),
        "count": declared.tensor(tensors, "markets/count", slots, 0, LARGEST_COUNT),
        "size": declared.tensor(tensors, "markets/size", [markets], 0, LARGEST_COUNT),
        "cohort_size": declared.tensor(
            tensors, "markets/cohort_size", [markets, cohorts], 0, LARGEST_VALUE
        ),
    }
    columns = _columns(facts)
    grids["instruments"] = declared.tensor(
        tensors,
        "markets/instruments",
        [*slots, len(columns.instruments)],
        -LARGEST_VALUE,
        LARGEST_VALUE,
    )
    offered = (product >= 0) & ~np.isnan(grids["price"])
    if np.any(grids["available"] & ~offered) or np.any(grids["count"][~grids["available"]] > 0):
        raise ValueError("markets/available names what has no price, or not what was bought")
    return Markets(
        **grids,
        **labels,
        columns=columns,
        kind=declared.choice(facts, "kind", EAGER_KINDS),
        has_outside=declared.choice(facts, "has_outside", (True, False)),
        marks=_marks(declared.part(facts, "marks"), tensors, columns, product),
    )


def _marks(
    facts: dict[str, Any], tensors: Tensors, columns: OfferColumns, product: np.ndarray
) -> dict[str, Marks]:
    if set(facts) != set(columns.marks):
        raise ValueError("marks are not those that columns name")
    found = {}
    for name in columns.marks:
        labels = declared.labels(facts, name)
        stored = f"markets/marks/{name}"
        index = declared.tensor(tensors, stored, product.shape, -1, len(labels) - 1, "i")
        if np.any((index < 0) != (product < 0)):
            raise ValueError(f"{stored} marks what is not offered, or not what is")
        found[name] = Marks(index, labels)
    return found


LISTS = ("absorb", "instruments")
OPTIONAL = ("count", "firm", "household", "period", "place")


def _columns(facts: dict[str, Any]) -> OfferColumns:
    named = dict(declared.part(facts, "columns"))
    for name in LISTS:
        named[name] = declared.texts(named, name)
    if not isinstance(named["shares"], bool):
        raise TypeError("shares is neither yes nor no")
    for key, name in named.items():
        missing = name is None and key in OPTIONAL
        if not (missing or isinstance(name, str) or key in (*LISTS, "shares")):
            raise ValueError("columns are not all texts")
    return OfferColumns(**named)
