"""Markets as the facts and tensors of a file."""

from dataclasses import asdict
from typing import Any

from dgd.choice.markets import Markets
from dgd.choice.offer_table import OfferColumns
from dgd.files.tensors import Tensors

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
    grids: dict[str, Any] = {name: tensors[f"markets/{name}"] for name in GRIDS}
    labels: dict[str, Any] = {name: tuple(facts[name]) for name in LABELS}
    columns = OfferColumns(**facts["columns"])
    return Markets(**grids, **labels, columns=columns, kind=facts["kind"])
