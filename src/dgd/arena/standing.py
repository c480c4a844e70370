"""How every contestant stands against the best simple opponent of each window.

The mark of a window, horizon and metric is the lowest score among the simple opponents, picked
with hindsight: at least as hard as any one of them. A score is set beside it as a ratio, and
windows are averaged by the geometric mean, so that none weighs more for its size; the joint NLL,
whose zero means nothing, is set beside it as a difference and averaged plainly.
"""

from collections.abc import Collection

import polars as pl

from dgd.arena.contestants import DEFAULT, SIMPLE, TAKEN_AWAY
from dgd.arena.metrics import AS_DIFFERENCE, in_order, is_difference

PLACE = ["metric", "horizon"]


def against_best(rows: pl.DataFrame, simple: Collection[str] = tuple(SIMPLE)) -> pl.DataFrame:
    """Every row with its `figure`: score over mark, or score minus mark in the joint NLL.

    Rows without a mark, where no simple opponent was scored, are left out.
    """
    place = ["set", *PLACE]
    marks = (
        rows.filter(pl.col("model").is_in(list(simple)))
        .group_by(place)
        .agg(pl.col("mean").min().alias("mark"))
    )
    return rows.join(marks, on=place, maintain_order="left").with_columns(_figure().alias("figure"))


def standings(rows: pl.DataFrame, simple: Collection[str] = tuple(SIMPLE)) -> pl.DataFrame:
    """One row per metric, horizon and model, the best first.

    `figure` is the mean over windows, `won` on how many of the `windows` the model was better
    than the mark, `worst` its figure on `worst_window`, where it was furthest behind.
    """
    table = (
        against_best(rows, simple)
        .group_by([*PLACE, "model"], maintain_order=True)
        .agg(
            _mean().alias("figure"),
            (pl.col("mean") < pl.col("mark")).sum().cast(pl.Int64).alias("won"),
            pl.len().cast(pl.Int64).alias("windows"),
            pl.col("set").get(pl.col("figure").arg_max()).alias("worst_window"),
            pl.col("figure").max().alias("worst"),
        )
    )
    return table.sort(in_order(), "horizon", "figure", maintain_order=True)


def taken_away(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per metric, horizon and part: the `change` of the default's figure without it.

    Scores are set beside the default's own, in per cent of it; the joint NLL as a difference.
    Above zero the part helps.
    """
    place = ["set", *PLACE]
    own = rows.filter(model=DEFAULT).select(*place, pl.col("mean").alias("mark"))
    table = (
        rows.filter(pl.col("model").is_in(list(TAKEN_AWAY)))
        .join(own, on=place, maintain_order="left")
        .with_columns(_figure().alias("figure"))
        .group_by([*PLACE, "model"], maintain_order=True)
        .agg(_mean().alias("change"))
    )
    per_cent = 100 * (pl.col("change") - 1)
    changed = table.with_columns(pl.when(is_difference()).then("change").otherwise(per_cent))
    return changed.sort(in_order(), maintain_order=True)


def _figure() -> pl.Expr:
    """A score beside its mark."""
    score, mark = pl.col("mean"), pl.col("mark")
    return pl.when(is_difference()).then(score - mark).otherwise(score / mark)


def _mean() -> pl.Expr:
    """Over windows: plain for differences, geometric for ratios."""
    figure = pl.col("figure")
    plain = pl.col("metric").first().is_in(AS_DIFFERENCE)
    return pl.when(plain).then(figure.mean()).otherwise(figure.log().mean().exp())
