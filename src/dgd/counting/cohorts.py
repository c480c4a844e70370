"""People in groups as cohorts: their labels, their reference sizes, and the newcomers."""

from collections.abc import Sequence

import polars as pl

from dgd.counting.assignment import Assignment, fixed_by
from dgd.counting.history import KnownIds
from dgd.errors import InputError


def cohorts_of(
    known: KnownIds,
    *,
    groups: pl.Series,
    labels: Sequence[str],
    newcomers: str,
    smoothing: float,
    newcomer_size: float,
    name: str,
) -> Assignment:
    """The cohorts that put each person of `known` in the group at their row.

    Args:
        known: The people of a history.
        groups: The index in `labels` of everybody's group.
        labels: What the groups are called.
        newcomers: The cohort of everybody else.
        smoothing: A group's reference size is its people plus this.
        newcomer_size: The newcomers' reference size.
        name: The column that holds the cohort.

    Raises:
        InputError: A label is taken, or a size would not be positive.
    """
    if newcomers in labels:
        raise InputError(f'the label "{newcomers}" is taken by another group; choose another.')
    if smoothing < 0 or newcomer_size <= 0:
        raise InputError(
            f"smoothing {smoothing} and size {newcomer_size} must not be negative, and the size "
            "not 0."
        )
    people = [float((groups == index).sum()) + smoothing for index in range(len(labels))]
    return fixed_by(
        known,
        ids=known.table[known.id],
        labels=[labels[group] for group in groups],
        sizes=pl.DataFrame({name: [*labels, newcomers], "size": [*people, float(newcomer_size)]}),
        otherwise=newcomers,
    )
