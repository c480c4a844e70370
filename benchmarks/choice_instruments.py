"""A logit with instruments, estimated by dgd and by PyBLP from the same cereals.

Both absorb an effect per brand, use the table's twenty instruments, weigh moments in two steps and
cluster by market, so that the inverted row must say what PyBLP says. A fit of dgd by inversion
also draws the 200 parameter sets that its ranges are taken from; "the estimate alone" leaves them
out. The control function is another estimator.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from choice_data import CEREAL_INSTRUMENTS, cereals, share_markets
from dgd.choice import ChoiceFit, ChoiceModel, Markets
from dgd.choice.inversion.gmm import estimate_quality

SAME = 1e-6
"""How far apart the price effects of dgd and PyBLP may lie."""


def cereal_markets(table: pl.DataFrame) -> Markets:
    return share_markets(
        table, "product_ids", [], absorb=["product_ids"], instruments=CEREAL_INSTRUMENTS
    )


def by_pyblp(table: Any) -> Callable[[], Any]:
    """From the data frame to the estimate."""
    import pyblp

    pyblp.options.verbose = False
    formulation = pyblp.Formulation("0 + prices", absorb="C(product_ids)")
    clustered = {"W_type": "clustered", "se_type": "clustered"}
    return lambda: pyblp.Problem(formulation, table).solve(method="2s", **clustered)


def alone(table: pl.DataFrame) -> Callable[[], Any]:
    return lambda: estimate_quality(cereal_markets(table), heterogeneous=False, dim=1, nodes=1)


def fitted(table: pl.DataFrame, quality: str) -> Callable[[], ChoiceFit]:
    model = ChoiceModel(population="point", quality=quality)
    return lambda: model.fit(cereal_markets(table))


def timed(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, Any]]:
    """Median seconds and the last result of every way, taking turns, after one run each."""
    last = {name: way() for name, way in ways.items()}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            last[name] = way()
            spent[name].append(time.perf_counter() - begin)
    return {name: (float(np.median(times)), last[name]) for name, times in spent.items()}


def said(fit: ChoiceFit) -> dict[str, float]:
    own = fit.elasticities(kind="polars").filter(pl.col("product_ids") == pl.col("price of"))
    effect = fit.coefficients(kind="polars").row(0, named=True)
    return {
        "price": -effect["estimate"],
        "own elasticity": float(own["elasticity"].to_numpy().mean()),
    }


def with_instruments(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds, price effect and mean own elasticity of each."""
    table = cereals()
    frame = table.to_pandas()
    ways: dict[str, Callable[[], Any]] = {
        "PyBLP": by_pyblp(frame.assign(clustering_ids=frame["market_ids"])),
        "dgd, inverted, the estimate alone": alone(table),
        "dgd, inverted": fitted(table, "inverted"),
        "dgd, control function": fitted(table, "control"),
    }
    found = timed(ways, rounds)
    theirs, results = found["PyBLP"]
    own = results.extract_diagonals(results.compute_elasticities())
    effect = float(results.beta.item())
    estimate = found["dgd, inverted, the estimate alone"][1]
    ours = -float(estimate.parameters[-1]) / float(estimate.demand.scales.price)
    assert abs(ours - effect) < SAME, (ours, effect)
    figures: dict[str, dict[str, float]] = {
        "PyBLP": {"price": effect, "own elasticity": float(own.mean())},
        "dgd, inverted, the estimate alone": {"price": ours},
        **{name: said(one) for name, (_, one) in found.items() if isinstance(one, ChoiceFit)},
    }
    return {
        name: {"seconds": spent, "PyBLP by it": theirs / spent, **figures[name]}
        for name, (spent, _) in found.items()
    }
