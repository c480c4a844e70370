"""The defaults against the simple baselines on every rehearsal: windows beside the arena's own.

    python benchmarks/rehearsed.py --data DIR --json FILE

Each rehearsal (`rehearsals.py`) is fitted with one seed and scored one, three and seven days
ahead, as in the arena. Constants of the model were chosen on these windows, so they are no blind
test of it; no test day of the arena is among the days forecast.
"""

import argparse
import json
from pathlib import Path

import polars as pl

from dgd.arena.contest import HORIZONS, ROW
from dgd.arena.contestants import DEFAULT, SIMPLE
from dgd.arena.metrics import METRICS
from dgd.arena.standing import standings
from dgd.estimator import DGD
from dgd.files.atomic import write_atomically
from dgd.scoring.backtesting import backtest
from rehearsals import Rehearsal, rehearsals

EIGHT_WEEKS = 56
MEANS = ("joint_nll", "behavior_count_mae", "arrival_mae", "arrival_crps")


def rows_of(number: int, one: Rehearsal) -> pl.DataFrame:
    """Scores of the defaults and of every simple baseline on one rehearsal."""
    panel, split = one.panel, one.split
    result = backtest(
        panel,
        {DEFAULT: DGD(), **{name: make() for name, make in SIMPLE.items()}},
        horizons=[step for step in HORIZONS if len(one.origins(step))],
        warmup_end=panel.dates[split.first - 1],
        train_end=panel.dates[split.train_stop - 1],
        validation_end=panel.dates[split.validation_stop - 1],
        seeds=[1],
        paths=0,
    )
    scores = result.to_frame("polars").filter(pl.col("metric").is_in(list(METRICS)))
    named = scores.with_columns(pl.lit(f"{one.source} {number}").alias("set"))
    return named.select(list(ROW)).cast(ROW).with_columns(pl.lit(panel.days).alias("days"))


def means(rows: pl.DataFrame) -> pl.DataFrame:
    """The defaults beside the best simple baseline of each window, by horizon: of the joint NLL the
    mean difference, of the others the geometric mean of ratios."""
    table = standings(rows).filter(pl.col("metric").is_in(MEANS), model=DEFAULT)
    named = table.with_columns(
        pl.col("metric").replace(METRICS),
        pl.format("{} days", "horizon").alias("ahead"),
        pl.col("figure").round(4),
        pl.format("{} of {}", "won", "windows").alias("won"),
    )
    return named.pivot("ahead", index="metric", values=["figure", "won"])


def show(rows: pl.DataFrame) -> None:
    source = pl.col("set").str.split(" ").list.first()
    print(standings(rows))
    for name in rows.select(source.unique(maintain_order=True)).to_series():
        print(name)
        print(standings(rows.filter(source == name)).filter(model=DEFAULT))
    long = pl.col("days") >= EIGHT_WEEKS
    for what, own in (("eight weeks or more", rows.filter(long)), ("fewer", rows.filter(~long))):
        if own.height:
            print(f"means over {own['set'].n_unique()} windows of {what}")
            print(means(own))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    found = []
    for number, one in enumerate(rehearsals(given.data, print)):
        found.append(rows_of(number, one))
        print(f"{one.source} {number}: {one.panel!r}", flush=True)
    if not found:
        asked.error(f"{given.data} holds no table that rehearsals are cut from")
    rows = pl.concat(found)
    with pl.Config(tbl_rows=200, tbl_cols=20, tbl_width_chars=140, tbl_hide_dataframe_shape=True):
        show(rows)
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(rows.to_dicts(), indent=1).encode())


if __name__ == "__main__":
    main()
