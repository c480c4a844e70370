"""What a crowd carries into every day, as a tidy table: whatever its feedback carries."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.panel.panel import Panel

ENVIRONMENT = "environment"
EVERYONE = "all"
COMMON, OF_UNIT = "common", "unit"
"""What of the environment all units share, and what each adds to it."""
COLUMNS = ("seed", "date", "state", "who", "of", "value", "reference")


def carried_days_table(
    crowds: Sequence[Crowd],
    seeds: Sequence[int],
    states: Sequence[State],
    first: int,
    panel: Panel,
) -> pl.DataFrame:
    """One row per seed, date, state, whose it is and what of it.

    Args:
        states: of every seed, at the beginning of each day from the one of number `first` on.
    """
    days = len(states[0].environment.common)
    dates = panel.period.series("date", panel.period.range(panel.dates[first], days))
    texts = [pl.Series(name, [], pl.String) for name in COLUMNS[2:5]]
    numbers = [pl.Series(name, [], pl.Float64) for name in COLUMNS[5:]]
    empty = pl.DataFrame([pl.Series("seed", [], pl.Int64), dates.clear(), *texts, *numbers])
    parts = [empty]
    for seed, crowd, state in zip(seeds, crowds, states, strict=True):
        for series in _series(crowd, state, panel):
            parts.append(
                series.select(
                    pl.lit(seed, pl.Int64).alias("seed"),
                    dates,
                    *(pl.col(name).cast(empty.schema[name]) for name in COLUMNS[2:]),
                )
            )
    return pl.concat(parts)


def _series(crowd: Crowd, state: State, panel: Panel) -> Iterator[pl.DataFrame]:
    """One table of all days for every number that is carried."""
    for part in crowd.feedback.carried:
        yield from _of_cohorts(part, crowd, np.asarray(state.carried[part.name]), panel)
    if crowd.feedback.environment.factors():
        yield from _of_environment(state.environment, panel)


def _of_cohorts(
    part: AbstractCarriedState,
    crowd: Crowd,
    path: Float[np.ndarray, "date cohort ..."],
    panel: Panel,
) -> Iterator[pl.DataFrame]:
    flat = path.reshape(*path.shape[:2], -1)
    settled = part.settles_at(crowd.reference)
    known = np.full(flat.shape[1:], np.nan) if settled is None else np.asarray(settled)
    for (index, number), usual in np.ndenumerate(known.reshape(flat.shape[1:])):
        of = _names_of(part, flat.shape[2], panel)[number]
        yield _column(part.name, panel.cohorts[index], of, flat[:, index, number], usual)


def _names_of(part: AbstractCarriedState, numbers: int, panel: Panel) -> Sequence[str | None]:
    """What each number of a cohort is of; nothing where there is one."""
    if part.each == "behavior":
        return panel.behaviors
    return [None] if numbers == 1 else [f"{part.each} {n + 1}".strip() for n in range(numbers)]


def _of_environment(state: EnvironmentState, panel: Panel) -> Iterator[pl.DataFrame]:
    yield _column(ENVIRONMENT, EVERYONE, COMMON, np.asarray(state.common))
    if len(panel.units) > 1:
        for number, unit in enumerate(panel.units):
            yield _column(ENVIRONMENT, unit, OF_UNIT, np.asarray(state.unit)[:, number])


def _column(
    state: str,
    who: object,
    of: str | None,
    values: Float[np.ndarray, " date"],
    reference: float = np.nan,
) -> pl.DataFrame:
    return pl.DataFrame({"value": values}).with_columns(
        pl.lit(state).alias("state"),
        pl.lit(str(who)).alias("who"),
        pl.lit(of, pl.String).alias("of"),
        pl.lit(None if np.isnan(reference) else float(reference), pl.Float64).alias("reference"),
    )
