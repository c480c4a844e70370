"""Panels whose labels are other than those they were drawn with."""

from collections.abc import Sequence

import polars as pl

import dgd


def relabelled(drawn: dgd.Simulated, cohorts: Sequence[str], behaviors: Sequence[str]) -> dgd.Panel:
    """The drawn panel, its cohorts and behaviours under these labels."""
    renamed = dict(zip(drawn.panel.cohorts, cohorts, strict=True))
    counts, sizes = (
        table.with_columns(pl.col("cohort").replace_strict(renamed))
        for table in (drawn.panel.to_frame("polars"), drawn.sizes_to_frame("polars"))
    )
    return dgd.Panel.from_counts(
        counts.rename(dict(zip(drawn.panel.behaviors, behaviors, strict=True))),
        date="date",
        unit="unit",
        cohort="cohort",
        behaviors=list(behaviors),
        count="count",
        sizes=sizes,
    )
