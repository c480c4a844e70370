"""One plain sentence per series: can dynamics beat an average for it?"""

import math
from dataclasses import dataclass

from dgd.panel.exploration.movement import Movement
from dgd.panel.exploration.needed import (
    LEVEL,
    WIDEST_NOISE,
    periods_to_remember,
    periods_to_see,
)
from dgd.tables.periods import Period

SURE_OF_MEMORY = 1.5
"""An autocorrelation so many times its chance band (three standard errors) is a drift even
where the variance alone would pass for chance."""
SENTENCES = {
    "drift": "drifts: {before} tells about {now}",
    "faint": "drifts faintly: {before} tells little about {now}, and little is to be won",
    "swing": "swings back and forth: {before} tells about {now}",
    "shocks": "varies from {period} to {period}, but {before} says nothing about {now}",
    "chance": "varies no more than chance: an average is as good as it gets",
    "constant": "never varies: there is nothing to forecast",
}
REMEMBERING = ("drift", "swing")
"""The outcomes with which dynamics can beat an average."""
FAINT = 0.15
"""Below such an autocorrelation yesterday explains some two percent of what is not average."""
YEARS = 10
"""Nobody waits longer for an answer."""
PERIODS_A_YEAR = {"hour": 8766, "day": 365, "week": 52}


@dataclass(frozen=True)
class Verdict:
    """What was found of a series."""

    outcome: str
    """In a word: drift, faint, swing, shocks, chance, constant or too few."""
    sentence: str
    periods_needed: int | None
    """About how many periods tell; None where nobody could wait for them."""


@dataclass(frozen=True)
class Evidence:
    """All that a verdict rests on."""

    levels: tuple[Movement, ...]
    """All cells together and, where there are several, cell by cell."""
    sharpness: float
    counted: int
    """The periods of the table."""
    arrivals: float
    """In a period, on average."""
    seasons: int
    fewest: int
    """So many periods are needed whatever moves."""
    period: Period

    @property
    def periods(self) -> int:
        """Those that tell something, where the table has enough to ask."""
        return self.counted if self.counted < self.fewest else self.levels[0].periods

    @property
    def p_value(self) -> float:
        """Of all levels as one: the smallest, times how often was looked."""
        smallest = min(level.p_value for level in self.levels)
        return min(1.0, len(self.levels) * smallest) if smallest >= 0 else math.nan

    @property
    def moved(self) -> list[Movement]:
        """The levels at which chance alone does not explain the variance."""
        if self.periods < self.fewest:
            return []
        return [level for level in self.levels if len(self.levels) * level.p_value < LEVEL]

    @property
    def followed(self) -> list[Movement]:
        """The levels at which a period tells about the next."""
        return [
            level
            for level in self.levels
            if abs(level.autocorrelation)
            > level.chance_band * (1.0 if level in self.moved else SURE_OF_MEMORY)
        ]


def judge(evidence: Evidence) -> Verdict:
    """First whether anything can be told, then whether the series moves and remembers."""
    if evidence.moved:
        to_tell = min(periods_to_remember(level) for level in evidence.moved)
    else:
        to_tell = periods_to_see(evidence.sharpness, evidence.seasons)
    needed = _whole(max(to_tell, evidence.fewest), evidence.period)
    missing = _what_is_missing(evidence, needed)
    if missing is not None:
        return Verdict("too few", missing, needed)
    outcome = _outcome(evidence)
    sentence = SENTENCES[outcome].format_map(_words(evidence.period))
    if outcome in REMEMBERING and evidence.levels[0] not in evidence.followed:
        sentence = f"within cells {sentence}"
    return Verdict(outcome, sentence, needed)


def _what_is_missing(evidence: Evidence, needed: int | None) -> str | None:
    """What there is too little of to tell, if anything."""
    never_varies = evidence.sharpness == 0 and evidence.counted >= evidence.fewest
    if evidence.periods < evidence.fewest and not never_varies:
        return _too_few_periods(evidence, needed)
    if never_varies or evidence.followed:
        return None
    if not evidence.moved and WIDEST_NOISE**2 * evidence.sharpness < 1:
        return _too_few_arrivals(evidence)
    if needed is None or evidence.periods < needed:
        return _too_few_periods(evidence, needed)
    return None


def _outcome(evidence: Evidence) -> str:
    if evidence.sharpness == 0:
        return "constant"
    if evidence.followed:
        strongest = max((level.autocorrelation for level in evidence.followed), key=abs)
        if abs(strongest) < FAINT:
            return "faint"
        return "drift" if strongest > 0 else "swing"
    return "shocks" if evidence.moved else "chance"


def _too_few_periods(evidence: Evidence, needed: int | None) -> str:
    name, found, words = evidence.period.name, evidence.periods, _words(evidence.period)
    seen, what = "", ""
    if evidence.moved:
        seen, what = f"varies from {name} to {name}, but ", " whether {before} tells about {now}"
    about = f"more than {YEARS} years" if needed is None else f"about {needed:,}"
    return (
        f"{seen}too few {name}s to tell{what.format_map(words)}: {found:,} "
        f"{name}{'' if found == 1 else 's'}, {about} needed"
    )


def _too_few_arrivals(evidence: Evidence) -> str:
    enough = evidence.arrivals / (WIDEST_NOISE**2 * evidence.sharpness)
    return (
        f"too few arrivals to tell: {evidence.arrivals:,.3g} a {evidence.period.name}, about "
        f"{math.ceil(enough):,} needed"
    )


def _whole(periods: float, period: Period) -> int | None:
    """Rounded up, or None where nobody could wait for so many."""
    if not periods <= YEARS * PERIODS_A_YEAR[period.name]:
        return None
    return math.ceil(periods)


def _words(period: Period) -> dict[str, str]:
    """The period, the one before and the one after, as people say."""
    name = period.name
    if name == "day":
        return {"period": name, "before": "yesterday", "now": "today"}
    return {"period": name, "before": f"the {name} before", "now": f"the {name} after"}
