"""The arrivals that the past alone expects: pools of smoothers of the total and of every cell.

The total is forecast twice, by smoothers of the total itself and by the sum of those of the
cells. Each is better on some tables, and half of each is better than most; cells share the result
in proportion to their own forecasts.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.arrival_losses import SPARSE_SOFTNESS, arrival_losses, is_sparse
from dgd.anchoring.exposure import Exposed
from dgd.anchoring.hierarchy import Hierarchy
from dgd.anchoring.seasons import cycle_length, places
from dgd.anchoring.typical_days import cells_with_typical_days
from dgd.anchoring.weighing import block_of, blocks_of, scored_days, soft_weights
from dgd.learning.unit_prior import MANY_UNITS
from dgd.model.effort import EffortCurve
from dgd.model.negative_binomial import LARGEST_DISPERSION, pooled_inverse
from dgd.panel.panel import Panel
from dgd.panel.sequences import known_until
from dgd.panel.split import Split

SOFTNESS = 0.1
"""By which share errors may differ at least without being told apart."""
SCATTER = 0.8
"""By which share the mean error of a single day scatters: over n days, by 1 / sqrt(n) of it."""
MOST_HEARD = 40
"""Smoothers that are kept."""
RECENT = 56.0
"""Half-life, in days, of what an error says about a candidate."""
LEAST_ARRIVALS = 1e-9
"""Arrivals that a cell is expected to have at least: nothing is impossible."""
UNHEARD = 1e9
"""The relative loss of a candidate that is to have no weight."""


@dataclass(frozen=True, eq=False)
class ArrivalAnchor:
    """Weights of the candidates, found at past origins."""

    cycle: int
    blocks: tuple[int, ...]
    totals: Float[np.ndarray, "block candidate"]
    cells: Float[np.ndarray, "block candidate_of_cells"]
    reach: Float[np.ndarray, " cell"]
    """Arrivals per effort of every cell when the weights were found: a total's effort is the mean
    of the cells', weighed by it, and later counts must not move it."""
    dispersion: Float[np.ndarray, "block cohort"]
    """r of each cohort's arrivals around the forecast, as past errors scattered."""
    effort: EffortCurve
    """How the model found contact to answer to effort when the weights were found."""
    hierarchies: tuple[Hierarchy, ...] = ()
    """What units had in common when the weights were found, by days and by effort; none of few."""

    @staticmethod
    def chosen(
        panel: Panel,
        split: Split,
        effort: EffortCurve | None = None,
        *,
        means_alone: bool = False,
        softness: float = SOFTNESS,
        recent: float = RECENT,
        among: "AmongMany | None" = None,
    ) -> "ArrivalAnchor":
        """Weigh the candidates, or those that are means, by forecasts of training and validation
        days; contact is proportional to effort where no curve says otherwise. Of units `among`
        many the total is everyone's."""
        curve = effort or EffortCurve.proportional(len(panel.cohorts))
        arrivals = panel.arrivals[: split.validation_stop].astype(np.float64)
        days = scored_days(split)
        blocks = blocks_of(days)
        cycle = cycle_length(panel, split.train_stop)
        cells = Exposed.cells(arrivals, curve.relative(panel.effort) if panel.has_effort else None)
        reach = cells.reach()
        if len(panel.units) >= MANY_UNITS:
            place = places(panel, np.arange(len(arrivals)), cycle)
            cells = cells.with_hierarchies(place, cycle, len(panel.cohorts))
        told_apart = max(softness, SCATTER / np.sqrt(len(days)))

        def weights(series: Exposed) -> Float[np.ndarray, "block candidate"]:
            losses = arrival_losses(panel, series, days, blocks, cycle, recent)
            if means_alone:
                losses[:, ~series.are_means(cycle)] = UNHEARD
            apart = SPARSE_SOFTNESS if is_sparse(series) else told_apart
            return soft_weights(losses, apart, 1.0, MOST_HEARD)

        flat = np.full((len(blocks), len(panel.cohorts)), np.inf)
        total = cells.total(reach) if among is None else among.total
        totals, parts = weights(total), weights(cells)
        common = cells.hierarchies
        anchor = ArrivalAnchor(cycle, blocks, totals, parts, reach, flat, curve, common)
        return replace(anchor, dispersion=anchor._scatter(panel, days, arrivals, among))

    def predict(
        self,
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        level: Float[np.ndarray, "step origin"] | None = None,
    ) -> Float[np.ndarray, "step origin unit cohort"]:
        """Expected arrivals of every step after each origin; of units among many, at the `level`
        that all units have together."""
        cells = self._cells(panel, origins, horizon)
        parts = self._ahead(panel, cells, self.cells, origins, horizon) + LEAST_ARRIVALS
        if level is None:
            whole = self.of_total(panel, cells.total(self.reach), origins, horizon)
            level = level_of(whole, parts[..., cells.known].sum(-1))
        return self.leveled(parts, level, panel, origins, horizon)

    def leveled(
        self,
        parts: Float[np.ndarray, "step origin cell"],
        level: Float[np.ndarray, "step origin"],
        panel: Panel,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
    ) -> Float[np.ndarray, "step origin unit cohort"]:
        """What cells' own smoothers expect, at the level of all of them."""
        grid = (horizon, len(origins), len(panel.units), len(panel.cohorts))
        found = (parts * level[..., None]).reshape(grid)
        if panel.has_effort or panel.since is not None:  # without effort nobody is reached
            dates = panel.period.range(panel.dates[0], int(origins.max()) + horizon + 1)
            steps = np.arange(1, horizon + 1)[:, None]
            found = np.where(known_until(panel, dates)[0][origins + steps] > 0, found, 0.0)
        return found

    def own(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> tuple[Float[np.ndarray, "step origin cell"], Float[np.ndarray, "step origin cohort"]]:
        """What the cells' own smoothers expect, before the total has its say, and the sums of
        those that are in it."""
        cells = self._cells(panel, origins, horizon)
        parts = self._ahead(panel, cells, self.cells, origins, horizon) + LEAST_ARRIVALS
        counted = np.zeros_like(parts)
        counted[..., cells.known] = parts[..., cells.known]
        grid = (horizon, len(origins), len(panel.units), len(panel.cohorts))
        return parts, counted.reshape(grid).sum(2)

    def of_total(
        self, panel: Panel, total: Exposed, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin"]:
        """What smoothers of the total expect of it."""
        return self._ahead(panel, total, self.totals, origins, horizon)[..., 0]

    def of_units(self, units: Int[np.ndarray, " some"]) -> "ArrivalAnchor":
        """The anchor of some of the units."""
        cells = self.reach.reshape(-1, self.dispersion.shape[1])
        return replace(self, reach=cells[units].ravel())

    def _cells(self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int) -> Exposed:
        """Series of all cells as they are known at the last of the origins."""
        last = int(origins.max())
        arrivals = panel.arrivals[: last + 1].astype(np.float64)
        dates = panel.period.range(panel.dates[0], last + horizon + 1)
        effort = known_until(panel, dates)[0] if panel.has_effort else None
        worked = None if effort is None else self.effort.relative(effort)
        return cells_with_typical_days(panel, arrivals, worked, self.hierarchies)

    def _ahead(
        self,
        panel: Panel,
        series: Exposed,
        weights: Float[np.ndarray, "block candidate_of_series"],
        origins: Int[np.ndarray, " origin"],
        horizon: int,
    ) -> Float[np.ndarray, "step origin series"]:
        """What the weighed candidates expect of every series."""
        last = int(origins.max())
        place = places(panel, np.arange(last + horizon + 1), self.cycle)
        rows = [block_of(step, self.blocks) for step in range(1, horizon + 1)]
        found = np.zeros((horizon, len(origins), series.counts.shape[1]))
        asked = set(origins.tolist())
        for origin, walked in enumerate(series.walked(place[: last + 1], self.cycle)):
            if origin not in asked:
                continue
            for step, row in enumerate(rows, 1):
                target = (origin + step, place[origin + step], step)
                found[step - 1, origins == origin] = weights[row] @ series.ahead(walked, *target)
        return found

    def dispersion_at(self, horizon: int) -> Float[np.ndarray, "1 step 1 1 cohort"]:
        """r of every step ahead."""
        rows = [block_of(step, self.blocks) for step in range(1, horizon + 1)]
        return self.dispersion[rows][None, :, None, None, :]

    def _scatter(
        self,
        panel: Panel,
        days: Int[np.ndarray, " target"],
        arrivals: np.ndarray,
        among: "AmongMany | None",
    ) -> Float[np.ndarray, "block cohort"]:
        """Moment estimates of r from errors at past origins, cohorts drawn to all of them."""
        found = np.zeros((len(self.blocks), arrivals.shape[2]))
        for row, step in enumerate(self.blocks):
            targets = days[days >= step]
            level = None if among is None else among.level(self, targets - step, step)
            mean = self.predict(panel, targets - step, step, level)[-1]
            excess = ((arrivals[targets] - mean) ** 2 - mean).sum((0, 1))
            found[row] = pooled_inverse(excess, (mean**2).sum((0, 1)), len(targets))
        # the further ahead, the more forecasts scatter: few errors may not say otherwise
        return 1 / np.maximum(np.maximum.accumulate(found), 1 / LARGEST_DISPERSION)


class AmongMany(NamedTuple):
    """What all units are, where a panel holds some of them."""

    total: Exposed
    """Their arrivals together."""
    level: Callable[[ArrivalAnchor, Int[np.ndarray, " origin"], int], np.ndarray]
    """What moves every cell's own forecast to the level of all, as `level_of` has it."""


def level_of(
    whole: Float[np.ndarray, "step origin"], parts: Float[np.ndarray, "step origin"]
) -> Float[np.ndarray, "step origin"]:
    """What moves forecasts of cells, together `parts`, half the way to the total's own."""
    return np.asarray(0.5 + 0.5 * whole / parts)
