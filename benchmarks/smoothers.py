"""What the smoothers of arrivals are worth, each by itself and weighed, on the rehearsals.

    python benchmarks/smoothers.py --data DIR

Daily totals of every rehearsal (`rehearsals.py`), one, three and seven days ahead: the mean
absolute error over that of the best of five simple baselines, picked with hindsight, as the
geometric mean over windows. All cells start from one rate, and where fewer than two weeks come
before the test days there are no seasonal parts. The smoothers' constants were chosen on these
windows, so this is no blind test; no test day of the arena is among the days forecast.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.arena.contest import HORIZONS
from dgd.arena.contestants import SIMPLE
from dgd.model.innovations import LEAD_STARTS, ArrivalState, Smoothers
from dgd.panel.features import season_loadings
from dgd.runtime import computing
from dgd.scoring.backtesting import backtest
from rehearsals import Rehearsal, rehearsals

WEIGHED, EQUAL = "weighed", "equal weights"
SHORT_DAYS = 35
FEWEST_SEASONAL_DAYS = 14


def errors(one: Rehearsal) -> dict[tuple[str, int], float]:
    """The mean absolute error of every smoother, and of all together, at each horizon."""
    panel, stop = one.panel, one.split.validation_stop
    counts = panel.arrivals.astype(np.float64)
    base = np.log(counts[:stop].mean())
    season = season_loadings(panel, panel.known_dates[: panel.days])
    season = season if stop >= FEWEST_SEASONAL_DAYS else season[:, :0]
    units, cohorts = (size > 1 for size in counts.shape[1:])
    told_apart = (True, cohorts, units, units and cohorts)
    levels = tuple(np.flatnonzero(told_apart).tolist())
    smoothers = Smoothers(levels, (season.shape[1],) * len(levels))
    offset = np.broadcast_to(base, counts.shape)
    state: ArrivalState = jax.jit(smoothers.path)(
        jnp.asarray(offset), jnp.asarray(season), jnp.asarray(counts)
    )
    found: dict[tuple[str, int], float] = {}
    for step in HORIZONS:
        origins = one.origins(step)
        if not len(origins):
            continue
        ahead = jax.tree.map(lambda x, at=origins + 1: x[at], state)
        for _ in range(step - 1):
            ahead = smoothers.advance(ahead)
        lead = np.searchsorted(LEAD_STARTS, step - 1, side="right") - 1
        of_each = smoothers.of_each(ahead.parts, jnp.asarray(season[origins + step]))
        totals = np.asarray(jnp.exp(base + of_each).sum((2, 3)))
        recorded = counts[origins + step].sum((1, 2))

        def miss(total: Float[np.ndarray, " origin"], recorded: np.ndarray = recorded) -> float:
            return float(np.abs(total - recorded).mean())

        found |= {(name, step): miss(totals[:, n]) for n, name in enumerate(smoothers.names)}
        found[EQUAL, step] = miss(totals.mean(1))
        found[WEIGHED, step] = miss((np.asarray(ahead.weights)[:, lead] * totals).sum(1))
    return found


def marks(one: Rehearsal) -> dict[int, float]:
    """The least error among the simple baselines at each horizon."""
    panel, split = one.panel, one.split
    result = backtest(
        panel,
        {name: make() for name, make in SIMPLE.items()},
        horizons=[step for step in HORIZONS if len(one.origins(step))],
        warmup_end=panel.dates[split.first - 1],
        train_end=panel.dates[split.train_stop - 1],
        validation_end=panel.dates[split.validation_stop - 1],
        paths=0,
    )
    scores = result.to_frame("polars").filter(metric="arrival_mae")
    best = scores.group_by("horizon").agg(pl.col("mean").min())
    return dict(best.iter_rows())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    given = asked.parse_args()
    rows = []
    for one in rehearsals(given.data, print):
        best = marks(one)
        with computing():
            found = errors(one)
        length = "short" if one.panel.days < SHORT_DAYS else "long"
        rows += [
            (length, name, step, float(np.log(error / best[step])))
            for (name, step), error in found.items()
            if best[step] > 0
        ]
    if not rows:
        asked.error(f"{given.data} holds no table that rehearsals are cut from")
    table = pl.DataFrame(rows, schema=["windows", "smoother", "ahead", "log"], orient="row")
    means = table.group_by("windows", "smoother", "ahead", maintain_order=True).agg(
        pl.col("log").mean().exp().round(3).alias("ratio")
    )
    with pl.Config(tbl_rows=50, tbl_hide_dataframe_shape=True):
        print(means.pivot("ahead", index=["windows", "smoother"], values="ratio"))


if __name__ == "__main__":
    main()
