"""Markets as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

import numpy as np

from dgd.choice.markets import Markets
from dgd.choice.offer_table import OfferColumns
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.tables.checks import LARGEST_COUNT, LARGEST_VALUE
from dgd.tables.frames import EAGER_KINDS

GRIDS = ("product", "price", "available", "attributes", "count", "size", "cohort_size")
LABELS = ("markets", "products", "attribute_names", "cohorts")


def markets_stored(markets: Markets) -> tuple[dict[str, Any], Tensors]:
    """Everything of `markets` that a file must keep."""
    facts = {
        **{name: getattr(markets, name) for name in LABELS},
        "columns": asdict(markets.columns),
        "kind": markets.kind,
    }
    return facts, {f"markets/{name}": getattr(markets, name) for name in GRIDS}


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
    offered = (product >= 0) & ~np.isnan(grids["price"])
    if np.any(grids["available"] & ~offered) or np.any(grids["count"][~grids["available"]] > 0):
        raise ValueError("markets/available names what has no price, or not what was bought")
    columns = _columns(facts)
    kind = declared.choice(facts, "kind", EAGER_KINDS)
    return Markets(**grids, **labels, columns=columns, kind=kind)


def _columns(facts: dict[str, Any]) -> OfferColumns:
    named = declared.part(facts, "columns")
    counted = [name for key, name in named.items() if key != "count" or name is not None]
    if not all(isinstance(name, str) for name in counted):
        raise ValueError("columns are not all texts")
    return OfferColumns(**named)
