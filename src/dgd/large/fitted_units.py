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

from dgd.anchoring.anchor import Anchor
from dgd.errors import InputError
from dgd.forecasting.guided import GuidedCrowd, GuidedDay
from dgd.forecasting.pool import Pool
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.rollout import expected_path
from dgd.large.all_ahead import AllAhead
from dgd.large.block_size import is_large, units_at_once
from dgd.large.refusals import refuse_together, unit_numbers
from dgd.large.unit_states import states_of_units
from dgd.learning.runs import Run
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.continuing import repeated_through
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.some_units import blocks_of_units, panel_of_units
from dgd.panel.split import Split
from dgd.processes.group import Group
from dgd.runtime import computing
from dgd.tables.labels import Label

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
    anchor: Anchor | None
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
            anchor=None if self.anchor is None else self.anchor.of_units(numbers),
            among=Among(self, numbers),
        )
        return found

    @property
    def in_blocks(self) -> bool:
        """Whether all units are at hand, but are looked at block by block."""
        return (
            self.among is None
            and self._can_be_parted
            and (self.panel.everyone is not None or is_large(self.panel))
        )

    @property
    def _can_be_parted(self) -> bool:
        known = self.anchor is None or self.anchor.knows_everyone
        if not known and self.group.count > 1 and self.among is None:
            raise InputError(
                f"{len(self.panel.units):,} of {self.panel.together.units:,} units are at hand, "
                "the others with other processes; save the fit and load the whole of it."
            )
        return known

    @property
    def _whole(self) -> "FittedUnits":
        """The fit that knows what all units are expected to do."""
        return self if self.among is None else self.among.whole

    @cached_property
    def all_ahead(self) -> AllAhead:
        """What all units are expected to do."""
        return AllAhead(self)

    def blocks(self: Whole) -> Iterator[Whole]:
        """All units, block by block."""
        for units in blocks_of_units(len(self.panel.units), units_at_once(self.panel)):
            yield self.of_units(units)

    def whole_panel(self, panel: Panel) -> Panel:
        """The panel of all units that knows as much of the future as that of some."""
        return repeated_through(self._whole.panel, len(panel.known_dates))

    def guided_paths(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[Prediction]:
        """The expected path of each seed, led by what all units are expected to do."""
        ahead = self.ahead(panel, origins, horizon)
        following = self._whole.all_ahead.following(self.whole_panel(panel), origins, horizon)
        return [
            expected_path(
                GuidedCrowd(crowd),
                self.carried(number, origins),
                [GuidedDay(day, after) for day, after in zip(ahead, led, strict=True)],
            )
            for number, (crowd, led) in enumerate(zip(self.crowds, following, strict=True))
        ]

    def level(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> np.ndarray | None:
        """What moves forecasts of cells to that of everyone's arrivals, where some are at hand."""
        if self.among is None:
            return None
        return self._whole.all_ahead.level(self.whole_panel(panel), origins, horizon)

    def predict_in_blocks(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel
    ) -> Predictive:
        """What `predict` says of all units, one block after another."""
        refuse_together(panel, len(self.runs) * len(origins) * horizon)
        whole = self if panel is self.panel else self.knowing(panel)
        found = [part.predict(origins, horizon) for part in whole.blocks()]
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

    def pool_in_blocks(
        self, origins: Int[np.ndarray, " origin"], horizon: int, panel: Panel
    ) -> Pool:
        """The forecast as it stands, to draw around: what all units are expected to do is taken
        for what they will do, and seeds for one."""
        mean = self.predict(origins, horizon, panel).averaged()
        nothing = np.zeros(horizon)
        return Pool(mean.arrivals[0], mean.patterns[0], nothing, nothing)

    def knowing(self: Whole, panel: Panel) -> Whole:
        """The same fit with a panel that knows more of the future; what was counted is the same."""
        found: Any = replace(self, panel=panel)  # type: ignore[type-var]
        found.__dict__["states"] = self.states
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
        """States of all units, or of some among all."""
        if self.among is None:
            with computing():
                most = units_at_once(self.panel)
                return states_of_units(
                    self.crowds, self.panel, self.features, self.split.first, most, self.group
                )
        whole, units = self._among
        here = jnp.asarray(units)
        return tuple(
            State(
                state.carried,
                EnvironmentState(state.environment.common, state.environment.unit[:, here]),
            )
            for state in whole.states
        )

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
