"""Features of panels too large to hold those of all units at once, or spread over processes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from dgd.panel.features import STANDSTILL, FeatureMaker, Scaling
from dgd.panel.panel import Panel
from dgd.panel.some_units import blocks_of_units, panel_of_units
from dgd.panel.split import Split
from dgd.processes.group import Group

AT_ONCE = 50_000_000
"""Numbers of features that are held at once; more are scaled block by block."""
BLOCK = 2_000
"""Units of a block."""


def held_at_once(panel: Panel, group: Group) -> bool:
    """Whether the features of all units fit into memory easily."""
    cells = panel.days * len(panel.units) * len(panel.cohorts)
    numbers = cells * (len(panel.behaviors) + len(panel.feature_names) + 8)
    return group.count == 1 and panel.everyone is None and numbers <= AT_ONCE


def scaled_in_blocks(maker: FeatureMaker, panel: Panel, split: Split, group: Group) -> FeatureMaker:
    """The same maker, its features scaled on the training days of all units, wherever they are."""

    def parts(of: Callable[[Panel, FeatureMaker], np.ndarray]) -> Iterator[np.ndarray]:
        for units in blocks_of_units(len(panel.units), BLOCK):
            yield of(panel_of_units(panel, units), maker.of_units(units))[split.train]

    def known(some: Panel, own: FeatureMaker) -> np.ndarray:
        return own.known(some, some.known_dates, some.features)

    def summaries(some: Panel, own: FeatureMaker) -> np.ndarray:
        return own.summaries(some)

    return replace(
        maker,
        known_scaling=_scaling(lambda: parts(known), group),
        summary_scaling=_scaling(lambda: parts(summaries), group),
    )


def _scaling(
    parts: Callable[[], Iterator[Float[np.ndarray, "date unit cohort feature"]]], group: Group
) -> Scaling:
    """Centre and scale over all parts, which are walked twice."""
    cells = [(float(np.prod(x.shape[:3])), x.sum((0, 1, 2))) for x in parts()]
    number = group.sum(sum(count for count, _ in cells))
    center = group.sum(sum(total for _, total in cells)) / number
    squares = group.sum(sum(((x - center) ** 2).sum((0, 1, 2)) for x in parts()))
    scale = np.sqrt(squares / number)
    return Scaling(center, np.where(scale > STANDSTILL, scale, np.inf))
