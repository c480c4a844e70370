"""Cohorts of people, fixed from what a stated history shows of them.

Each function reads the history lazily on the engine it lives in, aggregates it
to one row per person, and returns an `Assignment`: who belongs to which cohort,
the cohorts' reference sizes, and `assign` to label further events.
"""

import narwhals as nw
import polars as pl
from narwhals.typing import IntoFrame

from dgd.counting.assignment import Assignment, fixed_by
from dgd.counting.behaviors import NEITHER, behavior_code, refuse_behavior
from dgd.counting.engines import known_frame
from dgd.counting.history import read_history
from dgd.counting.refusals import refuse_missing
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
    """Quantile groups of a smoothed behaviour rate, crossed with quantile groups of volume.

    Person i with n_i events, c_i of them showing `behavior`, has the rate
    (c_i + k r) / (n_i + k), where k is `reference_exposures` and r the overall rate.
    Labels are "rate 1 volume 1" to "rate 4 volume 2", then `newcomers`.
    Sizes are people + `smoothing`; newcomers have `newcomer_size`.

    A person's group is one more than the number of inner quantiles (linear
    interpolation) strictly below their value: equal values share a group.
    """
    if rate_groups < 1 or volume_groups < 1 or reference_exposures < 0:
        raise InputError(
            f"rate_groups {rate_groups} and volume_groups {volume_groups} must be at least 1 and "
            f"reference_exposures {reference_exposures} at least 0."
        )
    code = _code(history, behavior)
    known = read_history(
        history,
        clock,
        id=person,
        columns=[behavior],
        sums={
            "showed": (code == 1).cast(nw.Int64).sum(),
            "bad": (code == NEITHER).cast(nw.Int64).sum(),
        },
        start=start,
        end=end,
    )
    if known.table["bad"].sum():
        refuse_behavior(known.frame, "history", behavior)
    exposures, showed = (known.table[c].cast(pl.Float64) for c in ("rows", "showed"))
    overall = float(showed.sum()) / float(exposures.sum())
    smoothed = (showed + reference_exposures * overall) / (exposures + reference_exposures)
    rate, volume = quantile_group(smoothed, rate_groups), quantile_group(exposures, volume_groups)
    return fixed_by(
        known,
        id=person,
        name=name,
        groups=rate * volume_groups + volume,
        labels=[
            f"rate {r} volume {v}"
            for r in range(1, rate_groups + 1)
            for v in range(1, volume_groups + 1)
        ],
        otherwise=newcomers,
        smoothing=smoothing,
        otherwise_size=newcomer_size,
    )


def spending_cohorts(
    history: IntoFrame,
    clock: Clock,
    *,
    person: str,
    amount: str,
    start: Moment,
    end: Moment,
    order: str | None = None,
    newcomers: str = "new",
    smoothing: float = 0.0,
    newcomer_size: float = 1.0,
    name: str = "cohort",
) -> Assignment:
    """Single purchase, repeat with low spending, repeat with high spending, newcomers.

    Without `order` every row is a purchase; with it, rows of one order (invoice) are.
    Repeat customers are split at the median of their total spending; the
    median itself is low. Labels: "single", "repeat low", "repeat high", `newcomers`.
    """
    number = nw.col(amount).cast(nw.Float64)
    sums = {"spent": number.sum(), "unpriced": nw.col(amount).is_null().cast(nw.Int64).sum()}
    if order is not None:
        sums["orders"] = nw.col(order).n_unique()
    _require_number(history, amount)
    known = read_history(
        history,
        clock,
        id=person,
        columns=[amount] if order is None else [amount, order],
        sums=sums,
        start=start,
        end=end,
    )
    unpriced = int(known.table["unpriced"].sum())
    if unpriced:
        refuse_missing("history", amount, unpriced)
    purchases = known.table["rows" if order is None else "orders"]
    # Engines add in different orders; a millionth hides the difference, and no one's money.
    spent = known.table["spent"].round(6)
    repeat = purchases > 1
    middle = spent.filter(repeat).median()
    high = repeat & (spent > middle) if middle is not None else repeat
    return fixed_by(
        known,
        id=person,
        name=name,
        groups=repeat.cast(pl.Int64) + high.cast(pl.Int64),
        labels=["single", "repeat low", "repeat high"],
        otherwise=newcomers,
        smoothing=smoothing,
        otherwise_size=newcomer_size,
    )


def newcomer_cohorts(
    history: IntoFrame,
    clock: Clock,
    *,
    person: str,
    start: Moment,
    end: Moment,
    known: str = "known",
    newcomers: str = "new",
    smoothing: float = 0.0,
    newcomer_size: float = 1.0,
    name: str = "cohort",
) -> Assignment:
    """People the history knows, and everybody else (missing ids too)."""
    seen = read_history(
        history,
        clock,
        id=person,
        columns=[],
        sums={},
        start=start,
        end=end,
    )
    return fixed_by(
        seen,
        id=person,
        name=name,
        groups=pl.repeat(0, seen.table.height, dtype=pl.Int64, eager=True),
        labels=[known],
        otherwise=newcomers,
        smoothing=smoothing,
        otherwise_size=newcomer_size,
    )


def quantile_group(values: pl.Series, groups: int) -> pl.Series:
    """The place 0 ... `groups` - 1 of each value: how many inner quantiles lie strictly below it.

    Quantiles interpolate linearly between the sorted values. Equal values share a
    group, whatever their order, so heavy ties make groups uneven or leave some empty.
    """
    cuts = [values.quantile(g / groups, interpolation="linear") for g in range(1, groups)]
    place = pl.repeat(0, len(values), dtype=pl.Int64, eager=True)
    for cut in cuts:
        place = place + (values > cut).cast(pl.Int64)
    return place


def _code(history: IntoFrame, behavior: str) -> nw.Expr:
    schema = known_frame(history, "history").collect_schema()
    if behavior not in schema:
        raise InputError(
            f'history has no column "{behavior}"; its columns are {", ".join(schema)}: rename one '
            "of them or name the right one."
        )
    return behavior_code(behavior, schema)


def _require_number(history: IntoFrame, amount: str) -> None:
    schema = known_frame(history, "history").collect_schema()
    if amount in schema and not schema[amount].is_numeric():
        raise InputError(
            f"history column {amount} holds {schema[amount]}, not numbers; hand over amounts of "
            "money."
        )
