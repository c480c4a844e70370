"""Which units a crowd is trained on: all of them, or some of very many that stand for all.

With innovations no parameter belongs to a unit: levels are states, found day by day. What training
looks for is shared by all units, a few dozen numbers, and some hundred units tell them as well as
all do. Those units are chosen by the hashes of their labels, so that every process of a group
brings the same ones together and learns the same from them. What their cohorts carry is what all
units counted.
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from dgd.errors import InputError
from dgd.learning.settings import Settings
from dgd.learning.starts import reference_size
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.shared import BroughtTogether
from dgd.panel.some_units import standing_for_all
from dgd.panel.split import Split
from dgd.processes.group import Group

MOST_NUMBERS = 64_000_000
"""Days x cells x patterns x nodes that an epoch walks at most: a few gigabytes, and seconds."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The units that are trained on, and what stands for all."""

    panel: Panel
    maker: FeatureMaker
    everyone: Panel
    """The panel of the units at hand, of which these are some, or some with other processes'."""
    group: Group

    @staticmethod
    def of(
        settings: Settings, panel: Panel, split: Split, maker: FeatureMaker, group: Group
    ) -> "Sample":
        if settings.innovations != "learned":
            if group.count > 1:
                raise InputError(
                    'innovations is "none", which one process can train; leave it at "auto", or '
                    "fit with one process."
                )
            return Sample(panel, maker, panel, group)
        points = settings.components * settings.nodes**settings.dim
        of_a_unit = split.validation_stop * len(panel.cohorts) * panel.counts.shape[3] * points
        units = standing_for_all(panel, max(1, MOST_NUMBERS // of_a_unit), group)
        if group.count == 1 and len(units) == len(panel.units):
            return Sample(panel, maker, panel, group)
        brought = BroughtTogether.of(panel, units, group)
        first = (maker.first_arrivals[units], maker.first_behaviors[units])
        own = replace(
            maker,
            first_arrivals=brought.joined(first[0], 0),
            first_behaviors=brought.joined(first[1], 0),
        )
        return Sample(brought.whole, own, panel, group)

    @property
    def is_everyone(self) -> bool:
        """Whether all units are trained on, by this process alone."""
        return self.panel is self.everyone

    @property
    def is_part(self) -> bool:
        """Whether some units stand for others."""
        return len(self.panel.units) < self.everyone.together.units

    @property
    def how(self) -> str:
        """What a summary says of it."""
        return f"{len(self.panel.units):,} units for all {self.everyone.together.units:,}"

    def sized(self, crowd: Crowd, split: Split) -> Crowd:
        """The crowd of a sample, whose cohorts have the reference sizes of all units."""
        if self.is_everyone:
            return crowd
        largest = self.group.maximum(reference_size(self.everyone, split))
        return replace(crowd, reference=replace(crowd.reference, size=jnp.asarray(largest)))

    def of_all(self, crowd: Crowd) -> Crowd:
        """What was learned, as the first process has it, with the units at hand."""
        if self.is_everyone:
            return crowd
        same = jax.tree.map(lambda x: jnp.asarray(self.group.every(np.asarray(x))[0]), crowd)
        units = len(self.everyone.units)
        return UnitParameters(
            *(jnp.repeat(x[:1], units, 0) for x in UnitParameters.of(same))
        ).put_into(same)
