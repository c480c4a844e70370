"""What the model is told about each day: calendar, known features, history summaries.

Calendar and the user's own features are known for the future. Summaries are
exponential averages of counts released before the day; in a forecast they
stay as they stood at the origin, and they can be left out. All are scaled on
the training days.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.model.feedback.signals import RATE_SMOOTHING
from dgd.panel.new_units import with_typical_counts, with_typical_units
from dgd.panel.panel import Panel
from dgd.panel.split import Split, mean_per_period
from dgd.tables.checks import LARGEST_COUNT, LARGEST_VALUE

DAYS_TO_LEARN_WEEKDAYS = 14
CALENDARS = ("none", "weekday", "hour", "weekday and hour")
SUMMARIES = ("history", "none")
MEASURES = ("first_arrivals", "first_behaviors", "rates")
STANDSTILL = 1e-12
"""A feature whose scale is no larger never moved."""
SCALINGS = ("known_scaling", "summary_scaling", "context_scaling")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centre and scale of every feature over the training days' cells."""

    center: Float[np.ndarray, " feature"]
    scale: Float[np.ndarray, " feature"]

    @staticmethod
    def of(features: np.ndarray, days: slice) -> "Scaling":
        cells = (0, 1, 2)
        scale = features[days].std(cells)
        # A feature that never moved in training carries no information: leave it at zero.
        return Scaling(features[days].mean(cells), np.where(scale > STANDSTILL, scale, np.inf))

    @staticmethod
    def of_events(context: np.ndarray, arrivals: np.ndarray) -> "Scaling":
        """The same over events, `arrivals` of them in each group."""
        total = max(1.0, float(arrivals.sum()))
        center = arrivals @ context / total
        scale = np.sqrt(arrivals @ (context - center) ** 2 / total)
        return Scaling(center, np.where(scale > STANDSTILL, scale, np.inf))

    def apply(self, features: np.ndarray) -> np.ndarray:
        return (features - self.center) / self.scale

    @staticmethod
    def restored(tensors: Tensors, name: str, length: int) -> "Scaling":
        """The scaling of `length` features that a file keeps under `name`."""
        scale = tensors[f"{name}/scale"]
        center = declared.tensor(tensors, f"{name}/center", [length], -LARGEST_VALUE, LARGEST_VALUE)
        if scale.shape != (length,) or scale.dtype.kind != "f" or not np.all(scale > STANDSTILL):
            raise ValueError(f"{name}/scale is not {length} numbers above {STANDSTILL}")
        return Scaling(center, scale)


@dataclass(frozen=True, eq=False)
class FeatureMaker:
    """How features are made from a panel, fixed on the training days.

    Args:
        calendar: "weekday", "none", or what `choose_calendar` picked.
        retention: of the exponential averages behind the summaries.
        first_arrivals, first_behaviors: daily means the averages start from.
        rates: reference behaviour rates that the summaries are smoothed towards.
        summarized: "history", or "none" for no summaries at all.
    """

    calendar: str
    retention: float
    first_arrivals: Float[np.ndarray, "unit cohort"]
    first_behaviors: Float[np.ndarray, "unit cohort behavior"]
    rates: Float[np.ndarray, "cohort behavior"]
    known_scaling: Scaling
    summary_scaling: Scaling
    context_scaling: Scaling
    summarized: str = "history"

    @staticmethod
    def fitted(
        panel: Panel,
        split: Split,
        rates: np.ndarray,
        calendar: str,
        retention: float,
        summarized: str = "history",
    ) -> "FeatureMaker":
        """The maker for a panel whose features can be held at once."""
        unscaled = FeatureMaker.unscaled(panel, split, rates, calendar, retention, summarized)
        known = unscaled.known(panel, panel.known_dates, panel.features)
        summaries = unscaled.summaries(panel)
        return replace(
            unscaled,
            known_scaling=Scaling.of(known, split.train),
            summary_scaling=Scaling.of(summaries, split.train),
            context_scaling=_context_scaling(panel, split),
        )

    @staticmethod
    def unscaled(
        panel: Panel,
        split: Split,
        rates: np.ndarray,
        calendar: str,
        retention: float,
        summarized: str = "history",
    ) -> "FeatureMaker":
        """The maker before it knows how large its features are."""
        warmup = panel.counts.between(split.warmup.start, split.warmup.stop)
        if calendar == "auto":
            calendar = choose_calendar(panel, split)
        return FeatureMaker(
            calendar=calendar,
            retention=retention,
            first_arrivals=mean_per_period(panel.arrivals, split.warmup),
            first_behaviors=warmup.behaviors_of_cells() / warmup.shape[0],
            rates=rates,
            known_scaling=Scaling(np.zeros(1), np.ones(1)),
            summary_scaling=Scaling(np.zeros(1), np.ones(1)),
            context_scaling=Scaling(np.zeros(0), np.ones(0)),
            summarized=summarized,
        )

    def known(
        self, panel: Panel, dates: np.ndarray, features: Float[np.ndarray, "date unit cohort own"]
    ) -> Float[np.ndarray, "date unit cohort calendar"]:
        """Calendar and the user's features on `dates`, scaled."""
        cells = (len(dates), len(panel.units), len(panel.cohorts))
        return self.known_of(dates, np.broadcast_to(features, (*cells, features.shape[-1])))

    def known_of(
        self, dates: np.ndarray, features: Float[np.ndarray, "date units cohorts own"]
    ) -> Float[np.ndarray, "date units cohorts calendar"]:
        """The same for as many units and cohorts as `features` tells apart."""
        marks = calendar_marks(dates, self.calendar)
        spread = np.broadcast_to(marks[:, None, None], (*features.shape[:3], marks.shape[1]))
        return self.known_scaling.apply(np.concatenate([spread, features], -1))

    def summaries(self, panel: Panel) -> Float[np.ndarray, "day_and_next unit cohort summary"]:
        """Summaries as known at the beginning of every day, the day after the last included."""
        if self.summarized == "none":
            return np.zeros((panel.days + 1, len(panel.units), len(panel.cohorts), 0))
        arrivals, behaviors = panel.arrivals, panel.behavior_counts
        if panel.since is not None:
            arrivals = with_typical_counts(panel, arrivals, panel.together.arrivals)
            behaviors = with_typical_counts(panel, behaviors, panel.together.behavior_counts)
        arrivals = self._average(arrivals, self.first_arrivals)
        behaviors = self._average(behaviors, self.first_behaviors)
        shown = behaviors + RATE_SMOOTHING * self.rates
        rates = shown / (arrivals + RATE_SMOOTHING)[..., None]
        return self.summary_scaling.apply(
            np.concatenate([np.log1p(arrivals)[..., None], rates], -1)
        )

    def of_units(self, units: Int[np.ndarray, " some"]) -> "FeatureMaker":
        """The maker of some units' features, which are the same as among all."""
        return replace(
            self,
            first_arrivals=self.first_arrivals[units],
            first_behaviors=self.first_behaviors[units],
        )

    def with_new_units(self, size: Float[np.ndarray, "unit_and_new cohort"]) -> "FeatureMaker":
        """The maker with units behind the known ones, of these sizes, that begin as is typical."""
        return replace(
            self,
            first_arrivals=with_typical_units(self.first_arrivals, size),
            first_behaviors=with_typical_units(self.first_behaviors, size),
        )

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        """Everything that a file must keep."""
        facts = {
            "calendar": self.calendar,
            "retention": self.retention,
            "summarized": self.summarized,
        }
        tensors = {name: getattr(self, name) for name in MEASURES}
        for name in SCALINGS:
            scaling: Scaling = getattr(self, name)
            tensors |= {f"{name}/center": scaling.center, f"{name}/scale": scaling.scale}
        return facts, {f"features/{name}": tensor for name, tensor in tensors.items()}

    @staticmethod
    def restored(facts: dict[str, Any], tensors: Tensors, panel: Panel) -> "FeatureMaker":
        """The maker that `stored` describes, for the panel it was fitted on."""
        calendar = declared.choice(facts, "calendar", CALENDARS)
        summarized = declared.choice(facts, "summarized", SUMMARIES)
        retention = declared.number(facts, "retention")
        if not 0 <= retention < 1:
            raise ValueError(f"retention is {retention}, not in [0, 1)")
        cells, behaviors = (len(panel.units), len(panel.cohorts)), len(panel.behaviors)
        lengths = {
            "known_scaling": len(calendar_names(calendar)) + len(panel.feature_names),
            "summary_scaling": 1 + behaviors if summarized == "history" else 0,
            "context_scaling": 0 if panel.events is None else len(panel.events.names),
        }
        scalings: dict[str, Any] = {
            name: Scaling.restored(tensors, f"features/{name}", length)
            for name, length in lengths.items()
        }
        measures: dict[str, Any] = {
            "first_arrivals": declared.tensor(
                tensors, "features/first_arrivals", cells, 0, LARGEST_COUNT
            ),
            "first_behaviors": declared.tensor(
                tensors, "features/first_behaviors", (*cells, behaviors), 0, LARGEST_COUNT
            ),
            "rates": declared.tensor(tensors, "features/rates", (cells[1], behaviors), 0, 1),
        }
        return FeatureMaker(calendar, retention, **measures, **scalings, summarized=summarized)

    def _average(self, counts: np.ndarray, first: np.ndarray) -> np.ndarray:
        path = [first]
        for day in counts:
            path.append(self.retention * path[-1] + (1.0 - self.retention) * day)
        return np.stack(path)

    def names(self, panel: Panel) -> tuple[str, ...]:
        """Every feature in the order the model sees them."""
        known = (*calendar_names(self.calendar), *panel.feature_names)
        if self.summarized == "none":
            return known
        return (*known, "log recent arrivals", *(f"recent {b} rate" for b in panel.behaviors))


def _context_scaling(panel: Panel, split: Split) -> Scaling:
    if panel.events is None:
        return Scaling(np.zeros(0), np.ones(0))
    trained = panel.events.between(split.first, split.train_stop)
    return Scaling.of_events(trained.context, trained.patterns.sum(-1).astype(np.float64))


def choose_calendar(panel: Panel, split: Split) -> str:
    """Weekdays where training saw each at least twice; fewer days extrapolate wildly."""
    if panel.period.name == "week":
        return "none"
    days = (split.train_stop - split.first) * (panel.period.step / np.timedelta64(1, "D"))
    weekday = days >= DAYS_TO_LEARN_WEEKDAYS
    if panel.period.name == "hour":
        return "weekday and hour" if weekday else "hour"
    return "weekday" if weekday else "none"


def calendar_names(calendar: str) -> tuple[str, ...]:
    days = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    names: tuple[str, ...] = days if "weekday" in calendar else ()
    if "hour" in calendar:
        names += tuple(f"{wave} {k} per day" for k in (1, 2, 3) for wave in ("sine", "cosine"))
    return names


def calendar_marks(dates: np.ndarray, calendar: str) -> Float[np.ndarray, "date mark"]:
    """Six weekday indicators and, for hours, three daily waves."""
    marks = []
    days = dates.astype("datetime64[D]")
    if "weekday" in calendar:
        weekday = (days.astype(np.int64) + 3) % 7
        marks.append(weekday[:, None] == np.arange(1, 7))
    if "hour" in calendar:
        share = (dates - days) / np.timedelta64(1, "D")
        turns = 2.0 * np.pi * share[:, None] * np.arange(1, 4)
        marks.append(np.stack([np.sin(turns), np.cos(turns)], -1).reshape(len(dates), -1))
    if not marks:
        return np.zeros((len(dates), 0))
    return np.concatenate(marks, 1).astype(np.float64)


CYCLES = {"day": 7, "hour": 24, "week": 1}
"""Places in the cycle of every period: the weekdays, the hours of a day."""
LIKE_A_SUNDAY = 0.5
"""How much of a public holiday is a Sunday before anything is known of holidays."""


def season_places(panel: Panel) -> int:
    """Seasonal effects that a panel has: places in its cycle, and kinds of special days."""
    return CYCLES[panel.period.name] + len(panel.special_days.kinds) - 1


def learned_places(panel: Panel, days: int) -> int:
    """Those that so many days can tell: none where they do not hold two cycles."""
    return season_places(panel) if days >= 2 * CYCLES[panel.period.name] else 0


def season_loadings(panel: Panel, dates: np.ndarray) -> Float[np.ndarray, "date place"]:
    """Which seasonal effects each of `dates` meets: that of its place in the cycle and, on a
    special day, the effect of its kind; a public holiday is half a Sunday."""
    length = CYCLES[panel.period.name]
    loadings = np.zeros((len(dates), season_places(panel)))
    if length == 1:
        return loadings
    place = dates.astype(f"datetime64[{panel.period.unit}]").astype(np.int64) % length
    if panel.period.name == "day":
        place = (place + 3) % 7
    day, codes = np.arange(len(dates)), panel.special_days.codes_on(dates)
    loadings[day, place] = 1.0
    if panel.period.name == "day":
        holiday = codes == 1
        loadings[holiday] *= 1 - LIKE_A_SUNDAY
        loadings[holiday, 6] += LIKE_A_SUNDAY
    special = codes > 0
    loadings[day[special], length - 1 + codes[special]] = 1.0
    return loadings
