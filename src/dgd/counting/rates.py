"""Cohorts of people by how often they show a behaviour and how often they are seen."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment
from dgd.counting.behaviors import NEITHER, behavior_code, refuse_behavior
from dgd.counting.cohorts import cohorts_of
from dgd.counting.history import read_history
from dgd.errors import InputError
from dgd.tables.clock import Clock
from dgd.tables.periods import Moment


def rate_cohorts(
    history: IntoFrame,
    clock: Clock,
    *,
    person: str,
    behavior: str,
    start: Moment,
    end: Moment,
    reference_exposures: float = 20.0,
    rate_groups: int = 4,
    volume_groups: int = 2,
    newcomers: str = "new",
    smoothing: float = 1.0,
    newcomer_size: float = 1.0,
    name: str = "cohort",
) -> Assignment:
    r"""Quantile groups of a smoothed behaviour rate, crossed with quantile groups of volume.

    Person i with n_i events, c_i of them showing `behavior`, has the rate

    .. math:: \frac{c_i + k r}{n_i + k}

    where k is `reference_exposures` and r the rate of all events together. A person's
    group is one more than the number of inner quantiles strictly below their value, so
    equal values share a group. Labels are "rate 1 volume 1" to "rate 4 volume 2", then
    `newcomers`.

    Args:
        history: One row per event, on any engine that `count_events` reads.
        clock: The time column of the history.
        person: The column that says whose event it is.
        behavior: The 0/1 column whose rate is taken.
        start: First day of the history.
        end: Last day of the history, included.
        reference_exposures: How many events of average people are added to everybody's own.
        rate_groups: Into how many groups the rates fall.
        volume_groups: Into how many groups the numbers of events fall.
        newcomers: The cohort of people whom the history does not know.
        smoothing: What is added to the people of every cohort but the newcomers' to give
            its reference size.
        newcomer_size: The newcomers' reference size.
        name: The column that holds the cohort.

    Returns:
        Who belongs to which cohort, ready to label further events.

    Raises:
        InputError: The history has no rows in its range, or times or behaviours that
            cannot be read.
    """
    if rate_groups < 1 or volume_groups < 1 or reference_exposures < 0:
        raise InputError(
            f"rate_groups {rate_groups} and volume_groups {volume_groups} must be at least 1 and "
            f"reference_exposures {reference_exposures} at least 0."
        )

    def sums(schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
        code = behavior_code(behavior, schema)
        return {
            "showed": (code == 1).cast(nw.Int64).sum(),
            "bad": (code == NEITHER).cast(nw.Int64).sum(),
        }

    known = read_history(
        history, clock, id=person, start=start, end=end, columns=[behavior], sums=sums
    )
    if known.table["bad"].sum():
        refuse_behavior(known.frame, "history", behavior)
    exposures, showed = (known.table[c].cast(pl.Float64) for c in ("rows", "showed"))
    overall = float(showed.sum()) / float(exposures.sum())
    smoothed = (showed + reference_exposures * overall) / (exposures + reference_exposures)
    rate, volume = quantile_group(smoothed, rate_groups), quantile_group(exposures, volume_groups)
    return cohorts_of(
        known,
        groups=rate * volume_groups + volume,
        labels=[
            f"rate {r} volume {v}"
            for r in range(1, rate_groups + 1)
            for v in range(1, volume_groups + 1)
        ],
        newcomers=newcomers,
        smoothing=smoothing,
        newcomer_size=newcomer_size,
        name=name,
    )


def quantile_group(values: pl.Series, groups: int) -> pl.Series:
    """The group 0 ... `groups` - 1 of each value: how many inner quantiles lie strictly below it.

    Quantiles interpolate linearly between the sorted values. Equal values share a
    group, whatever their order, so heavy ties make groups uneven or leave some empty.
    """
    cuts = [values.quantile(g / groups, interpolation="linear") for g in range(1, groups)]
    group = pl.repeat(0, len(values), dtype=pl.Int64, eager=True)
    for cut in cuts:
        group = group + (values > cut).cast(pl.Int64)
    return group
