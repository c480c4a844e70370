r"""What weekdays, features and effort do, in words and per cent, with intervals.

A feature moves the logarithm of arrivals and the log-odds of behaviours; an effect b is a change
of :math:`100 (e^b - 1)` per cent. Features were scaled for the model, so b is its coefficient
divided by that scale. Twice the usual effort changes arrivals by what the response of the cohort
says. Intervals hold 90 of 100 draws of what the parameters do not know. What a day does to later
ones, by fatigue, memory and environment, is not part of its effect.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.panel.features import FeatureMaker, calendar_names
from dgd.panel.grids import ARRIVALS
from dgd.panel.panel import Panel
from dgd.tables.labels import Label

INTERVAL = (0.05, 0.95)
FIRST_WEEKDAY = "Monday"
EFFORT = "effort"
PER_WEEKDAY, PER_UNIT, DOUBLED = f"against {FIRST_WEEKDAY}", "per unit", "doubled"


class Effect(NamedTuple):
    """One row: what changes what, by how much."""

    input: str
    on: str
    cohort: Label | None
    per: str
    percent: float
    low: float | None
    high: float | None
    words: str


def effects_table(draws: Sequence[Crowd], maker: FeatureMaker, panel: Panel) -> pl.DataFrame:
    """One row per weekday or feature and what it moves, and per cohort for effort."""
    rows = [*_of_features(draws, maker, panel), *_of_effort(draws, panel)]
    labels = pl.Series(list(panel.cohorts)).dtype
    numbers = dict.fromkeys(("percent", "low", "high"), pl.Float64)
    texts = dict.fromkeys(("input", "on", "per", "words"), pl.String)
    schema = {name: {**numbers, **texts}.get(name, labels) for name in Effect._fields}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of_features(draws: Sequence[Crowd], maker: FeatureMaker, panel: Panel) -> Iterator[Effect]:
    """Weekdays and the user's own features; a feature that never moved has no effect to tell."""
    weekdays = calendar_names("weekday")
    names = (*calendar_names(maker.calendar), *panel.feature_names)
    waves = set(calendar_names(maker.calendar)) - set(weekdays)
    of_arrivals = np.stack([np.asarray(crowd.arrival.feature_effect) for crowd in draws])
    of_behaviors = np.stack([np.asarray(crowd.response.feature_effect) for crowd in draws])
    of_all = np.concatenate([of_arrivals[..., None], of_behaviors], -1)
    for number, (name, scale) in enumerate(zip(names, maker.known_scaling.scale, strict=True)):
        if name in waves or not np.isfinite(scale):
            continue
        is_weekday = number < len(calendar_names(maker.calendar))
        per = PER_WEEKDAY if is_weekday else PER_UNIT
        for column, on in enumerate(panel.series):
            percent, low, high = _percent(of_all[:, number, column] / scale)
            words = _words(_subject(name, on, is_weekday), on, percent, low, high)
            yield Effect(name, on, None, per, percent, low, high, words)


def _of_effort(draws: Sequence[Crowd], panel: Panel) -> Iterator[Effect]:
    if not panel.has_effort:
        return
    cohorts = len(panel.cohorts)
    curves = [crowd.effort.curve(cohorts) for crowd in draws]
    twice = np.log([curve.relative(2 * curve.usual) for curve in curves])
    learned = draws[0].effort.learned(cohorts)
    for number, cohort in enumerate(panel.cohorts):
        if not learned[number]:
            words = (
                f"Effort for cohort {cohort} never varied in training: that twice the effort "
                "brings twice the arrivals is an assumption."
            )
            yield Effect(EFFORT, ARRIVALS, cohort, DOUBLED, 100.0, None, None, words)
            continue
        percent, low, high = _percent(twice[:, number])
        subject = f"At twice the usual effort {{}} arrive in cohort {cohort}"
        words = _words(subject, ARRIVALS, percent, low, high)
        yield Effect(EFFORT, ARRIVALS, cohort, DOUBLED, percent, low, high, words)


def _percent(logarithms: Float[np.ndarray, " draw"]) -> tuple[float, float, float]:
    """The change in per cent, and the ends of its interval."""
    low, high = np.quantile(logarithms, INTERVAL)
    middle, low, high = (float(100 * np.expm1(x)) for x in (logarithms.mean(), low, high))
    return middle, low, high


def _subject(name: str, on: str, is_weekday: bool) -> str:
    """The sentence with a gap where the change belongs."""
    if is_weekday and on == ARRIVALS:
        return f"On {name}s {{}} arrive than on {FIRST_WEEKDAY}s"
    if is_weekday:
        return f"On {name}s the odds of {on} are {{}} than on {FIRST_WEEKDAY}s"
    if on == ARRIVALS:
        return f"With every unit of {name} {{}} arrive"
    return f"With every unit of {name} the odds of {on} are {{}}"


def _words(subject: str, on: str, percent: float, low: float, high: float) -> str:
    less, more = ("fewer", "more") if on == ARRIVALS else ("lower", "higher")
    ends = (
        f"{_shown(low)} to {_shown(high)}",
        f"{_shown(low)} % {less} to {_shown(high)} % {more}",
    )
    if low < 0 < high:
        topic = subject.split(" {}", maxsplit=1)[0]
        return f"{topic}: no difference can be told ({ends[1]})."
    way = less if percent < 0 else more
    return f"{subject.format(f'{_shown(percent)} % {way}')} ({ends[0]} % {way})."


def _shown(percent: float) -> str:
    size = abs(percent)
    return f"{size:,.0f}" if size >= 10 else f"{size:.2g}"
