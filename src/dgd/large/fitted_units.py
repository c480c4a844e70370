"""What a fit says of some of its units, and how one of very many units is walked."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.rollout import Led, expected_path
from dgd.forecasting.scatter import Errors, Scatter
from dgd.large.all_ahead import AllAhead
from dgd.large.block_size import is_large, units_at_once
from dgd.large.filtering import Filtering, carried_of_cohorts
from dgd.large.refusals import refuse_together, unit_numbers
from dgd.learning.runs import Run
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.continuing import repeated_through
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead
from dgd.panel.some_units import blocks_of_units, panel_of_units, standing_for_all
from dgd.panel.split import Split
from dgd.processes.group import Group
from dgd.runtime import computing
from dgd.tables.labels import Label

MEASURED_ON = 200
"""Units on which the scatter of very many is measured."""
MOST_KEPT = 4
"""Answers of the filter that are kept, the latest ones."""

Whole = TypeVar("Whole", bound="FittedUnits")


class Among(NamedTuple):
    """The fit that some units are taken from, and their numbers in it."""

    whole: "FittedUnits"
    units: Int[np.ndarray, " some"]


class FittedUnits(ABC):
    """A fit that can be asked about some units, and that is walked block by block where it has
    very many, or where others are with other processes."""

    panel: Panel
    split: Split
    features: FeatureMaker
    runs: tuple[Run, ...]
    among: Among | None
    group: Group

    @property
    @abstractmethod
    def crowds(self) -> tuple[Crowd, ...]: ...

    @abstractmethod
    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> State: ...

    @abstractmethod
    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Inputs]: ...

    @abstractmethod
    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel | None = None
    ) -> Predictive: ...

    @property
    @abstractmethod
    def states(self) -> tuple[State, ...]: ...

    @property
    @abstractmethod
    def scatter(self) -> Scatter: ...

    def of_units(self: Whole, units: Sequence[Label] | Int[np.ndarray, " some"]) -> Whole:
        """The same fit for some units: its forecasts are those of the whole fit.

        What cohorts carry is what all units make of it. Scenarios and plans need the whole fit.

        Args:
            units: labels, or numbers of units where labels are texts.
        """
        if self.among is not None:
            of_all = self.among.units[unit_numbers(self.panel.units, units)]
            return self.among.whole.of_units(of_all)  # type: ignore[return-value]
        numbers = unit_numbers(self.panel.units, units)
        with computing():
            here = jnp.asarray(numbers)
            runs = tuple(
                replace(run, parameters=crowd_of_units(run.parameters, here)) for run in self.runs
            )
        found: Any = replace(  # type: ignore[type-var]
            self,
            panel=panel_of_units(self.panel, numbers),
            features=self.features.of_units(numbers),
            runs=runs,
            among=Among(self, numbers),
        )
        return found

    @property
    def in_blocks(self) -> bool:
        """Whether all units are at hand, but are looked at block by block."""
        return (
            self.among is None
            and self.crowds[0].innovations is not None
            and (self.panel.everyone is not None or is_large(self.panel))
        )

    @property
    def _whole(self) -> "FittedUnits":
        """The fit that knows what all units are expected to do."""
        return self if self.among is None else self.among.whole

    @cached_property
    def all_ahead(self) -> AllAhead:
        """What all units are expected to do."""
        return AllAhead(self)

    def whole_panel(self, panel: Panel) -> Panel:
        """The panel of all units that knows as much of the future as that of some."""
        return repeated_through(self._whole.panel, len(panel.known_dates))

    def led_by_all(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Sequence[Led] | None:
        """What all units are expected to lead the cohorts of some to, of every crowd and step."""
        if self.among is None:
            return None
        return self._whole.all_ahead.following(self.whole_panel(panel), origins, horizon)

    def predicted_in_blocks(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel
    ) -> Iterator[tuple[Int[np.ndarray, " some"], Predictive]]:
        """What `predict` says of all units, one block of them after another."""
        everyone = np.arange(len(self.panel.units))
        with computing():
            led = self.all_ahead.following(panel, origins, horizon)
            first = [self.state_of(n, everyone, origins) for n in range(len(self.crowds))]
        for units in blocks_of_units(len(everyone), units_at_once(panel)):
            with computing():
                some, maker = panel_of_units(panel, units), self.features.of_units(units)
                ahead = days_ahead(some, maker, origins, horizon)
                paths = [
                    expected_path(
                        crowd_of_units(crowd, jnp.asarray(units)),
                        crowd.state_of_units(state, units),
                        ahead,
                        of_cohorts,
                    )
                    for crowd, state, of_cohorts in zip(self.crowds, first, led, strict=True)
                ]
                arrivals = np.stack([np.asarray(path.arrivals) for path in paths])
                patterns = np.stack([np.asarray(path.patterns) for path in paths])
            yield units, Predictive(arrivals, np.moveaxis(patterns, 2, -1))

    def predict_in_blocks(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel
    ) -> Predictive:
        """The same of all units together."""
        refuse_together(panel, len(self.runs) * len(origins) * horizon)
        found = [one for _, one in self.predicted_in_blocks(origins, horizon, panel)]
        return replace(
            found[0],
            arrivals=np.concatenate([one.arrivals for one in found], 3),
            patterns=np.concatenate([one.patterns for one in found], 3),
        )

    def predict_among(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel
    ) -> Predictive:
        """What the whole fit predicts, of some of its units."""
        whole, units = self._among
        found = whole.predict(origins, horizon, self.whole_panel(panel))
        return replace(
            found, arrivals=found.arrivals[:, :, :, units], patterns=found.patterns[:, :, :, units]
        )

    def state_of(
        self, number: int, units: Int[np.ndarray, " some"], origins: Int[np.ndarray, " origin"]
    ) -> State:
        """What some of the units of the crowd of that `number` carry into the day after each
        origin."""
        crowd = self.crowds[number]
        if not self.in_blocks:
            return crowd.state_of_units(self.carried(number, origins), units)
        key = (number, units.tobytes(), origins.tobytes())
        if key not in self._kept:
            while len(self._kept) >= MOST_KEPT * len(self.crowds):
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._filtering(crowd).kept(units, (origins + 1).tolist())
        return self._kept[key]

    def measured_scatter(self) -> Scatter:
        """How far days scatter around forecasts, measured on some units that stand for all."""
        units = standing_for_all(self.panel, MEASURED_ON, self.group)
        # a process that has none of them asks for forecasts too, for the others wait
        some: Any = self.of_units(units if len(units) else np.zeros(1, np.int64))
        found = some.hindsight.errors(some.expected)
        if self.group.count == 1:
            return Scatter.measured(found)

        def joined(own: np.ndarray) -> np.ndarray:
            parts = self.group.every(np.ascontiguousarray(own[:, : len(units)]))
            return np.concatenate(parts, 1)

        errors = {step: Errors(*map(joined, one)) for step, one in found.items()}
        return Scatter.measured(errors)

    @cached_property
    def _kept(self) -> dict[tuple[int, bytes, bytes], State]:
        return {}

    def _filtering(self, crowd: Crowd) -> Filtering:
        block = units_at_once(self.panel)
        return Filtering(crowd, self.panel, self.features, self.split.first, block, self.group)

    def knowing(self: Whole, panel: Panel) -> Whole:
        """The same fit with a panel that knows more of the future; what was counted is the same."""
        found: Any = replace(self, panel=panel)  # type: ignore[type-var]
        for name in ("states", "_kept"):
            found.__dict__[name] = getattr(self, name)
        return found

    def knowing_more(self: Whole, effort: IntoFrame | None, features: IntoFrame | None) -> Whole:
        """The same fit with effort and features for days past the panel, where any are given."""
        if effort is None and features is None:
            return self
        if self.among is None:
            return self.knowing(self.panel.with_future(effort, features))
        more = self.among.whole.knowing_more(effort, features)
        return more.of_units(self.among.units)  # type: ignore[return-value]

    def states_in_blocks(self) -> tuple[State, ...]:
        """States of some units among all; of all of very many, what their cohorts carry."""
        if self.among is None:
            with computing():
                return tuple(self._of_cohorts(crowd) for crowd in self.crowds)
        whole, units = self._among
        if not whole.in_blocks:
            pairs = zip(whole.crowds, whole.states, strict=True)
            return tuple(crowd.state_of_units(state, units) for crowd, state in pairs)
        days = np.arange(self.split.first - 1, self.panel.days)
        with computing():
            return tuple(whole.state_of(n, units, days) for n in range(len(self.crowds)))

    def _of_cohorts(self, crowd: Crowd) -> State:
        first, days = self.split.first, self.panel.days - self.split.first + 1
        calm = EnvironmentState(jnp.zeros(days), jnp.zeros((days, len(self.panel.units))))
        return State(carried_of_cohorts(crowd, self.panel, first), calm)

    @property
    def _among(self) -> Among:
        assert self.among is not None
        return self.among

    def refuse_ranges(self) -> None:
        """Refuse to draw futures of very many units."""
        if self.in_blocks:
            raise InputError(
                f"ranges of {len(self.panel.units):,} units at once are too many; draw them for "
                "some with forecast(..., units=[...]), or leave out levels."
            )

    def refuse_part(self, what: str) -> None:
        """Refuse what needs all units, where some are at hand."""
        if self.among is not None:
            raise InputError(
                f"{len(self.panel.units):,} of {len(self._whole.panel.units):,} units are at hand; "
                f"{what} needs all of them: ask the fit of all units."
            )
