"""The arrivals that the past alone expects: pools of smoothers of the total and of every cell.

The total is forecast twice, by smoothers of the total itself and by the sum of those of the
cells. Each is better on some tables, and half of each is better than most; cells share the result
in proportion to their own forecasts.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.exposure import Exposed
from dgd.anchoring.seasons import cycle_length, places
from dgd.anchoring.weighing import block_of, blocks_of, scored_days, soft_weights
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
    cells: Float[np.ndarray, "block candidate"]
    reach: Float[np.ndarray, " cell"]
    """Arrivals per effort of every cell when the weights were found: a total's effort is the mean
    of the cells', weighed by it, and later counts must not move it."""
    dispersion: Float[np.ndarray, "block cohort"]
    """r of each cohort's arrivals around the forecast, as past errors scattered."""
    effort: EffortCurve
    """How the model found contact to answer to effort when the weights were found."""

    @staticmethod
    def chosen(
        panel: Panel,
        split: Split,
        effort: EffortCurve | None = None,
        *,
        means_alone: bool = False,
        softness: float = SOFTNESS,
        recent: float = RECENT,
    ) -> "ArrivalAnchor":
        """Weigh the candidates, or those that are means, by forecasts of training and validation
        days; contact is proportional to effort where no curve says otherwise."""
        curve = effort or EffortCurve.proportional(len(panel.cohorts))
        arrivals = panel.arrivals[: split.validation_stop].astype(np.float64)
        days = scored_days(split)
        blocks = blocks_of(days)
        cycle = cycle_length(panel, split.train_stop)
        cells = Exposed.cells(arrivals, curve.relative(panel.effort) if panel.has_effort else None)
        reach = cells.reach()
        told_apart = max(softness, SCATTER / np.sqrt(len(days)))

        def weights(series: Exposed) -> Float[np.ndarray, "block candidate"]:
            losses = _losses(panel, series, days, blocks, cycle, recent)
            if means_alone:
                losses[:, ~series.are_means(cycle)] = UNHEARD
            return soft_weights(losses, told_apart, 1.0, MOST_HEARD)

        flat = np.full((len(blocks), len(panel.cohorts)), np.inf)
        totals, parts = weights(cells.total(reach)), weights(cells)
        anchor = ArrivalAnchor(cycle, blocks, totals, parts, reach, flat, curve)
        return replace(anchor, dispersion=anchor._scatter(panel, days, arrivals))

    def predict(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin unit cohort"]:
        """Expected arrivals of every step after each origin."""
        last = int(origins.max())
        arrivals = panel.arrivals[: last + 1].astype(np.float64)
        dates = panel.period.range(panel.dates[0], last + horizon + 1)
        effort = known_until(panel, dates)[0] if panel.has_effort else None
        cells = Exposed.cells(arrivals, None if effort is None else self.effort.relative(effort))
        total = cells.total(self.reach)
        place = places(panel, np.arange(last + horizon + 1), self.cycle)
        rows = [block_of(step, self.blocks) for step in range(1, horizon + 1)]
        found = np.zeros((horizon, len(origins), *arrivals.shape[1:]))
        known = place[: len(arrivals)]
        walks = zip(total.walked(known, self.cycle), cells.walked(known, self.cycle), strict=True)
        asked = set(origins.tolist())
        for origin, (of_total, of_cells) in enumerate(walks):
            if origin not in asked:
                continue
            for step, row in enumerate(rows, 1):
                target = (origin + step, place[origin + step], step)
                whole = float((self.totals[row] @ total.ahead(of_total, *target))[0])
                parts = self.cells[row] @ cells.ahead(of_cells, *target) + LEAST_ARRIVALS
                # half of the total's own forecast, half of the sum of the cells'
                scaled = parts * (0.5 + 0.5 * whole / parts.sum())
                found[step - 1, origins == origin] = scaled.reshape(arrivals.shape[1:])
        if effort is not None:  # without effort nobody is reached
            steps = np.arange(1, horizon + 1)[:, None]
            found = np.where(effort[origins + steps] > 0, found, 0.0)
        return found

    def dispersion_at(self, horizon: int) -> Float[np.ndarray, "1 step 1 1 cohort"]:
        """r of every step ahead."""
        rows = [block_of(step, self.blocks) for step in range(1, horizon + 1)]
        return self.dispersion[rows][None, :, None, None, :]

    def _scatter(
        self, panel: Panel, days: Int[np.ndarray, " target"], arrivals: np.ndarray
    ) -> Float[np.ndarray, "block cohort"]:
        """Moment estimates of r from errors at past origins, cohorts drawn to all of them."""
        found = np.zeros((len(self.blocks), arrivals.shape[2]))
        for row, step in enumerate(self.blocks):
            targets = days[days >= step]
            mean = self.predict(panel, targets - step, step)[-1]
            excess = ((arrivals[targets] - mean) ** 2 - mean).sum((0, 1))
            found[row] = pooled_inverse(excess, (mean**2).sum((0, 1)), len(targets))
        # the further ahead, the more forecasts scatter: few errors may not say otherwise
        return 1 / np.maximum(np.maximum.accumulate(found), 1 / LARGEST_DISPERSION)


def _losses(
    panel: Panel,
    series: Exposed,
    days: Int[np.ndarray, " target"],
    blocks: tuple[int, ...],
    cycle: int,
    recent: float,
) -> Float[np.ndarray, "block candidate"]:
    """Errors of every candidate, relative to the least: the square of mean root absolute errors,
    in which a few extraordinary days do not decide."""
    known = len(series.counts)
    roots = np.zeros((len(blocks), series.candidates(cycle)))
    weights = np.zeros(len(blocks))
    scored = set(days.tolist())
    place = places(panel, np.arange(known + max(blocks)), cycle)
    for origin, states in enumerate(series.walked(place[:known], cycle)):
        for row, step in enumerate(blocks):
            day = origin + step
            if day not in scored:
                continue
            expected = series.ahead(states, day, place[day], step)
            weight = 2.0 ** (-(known - 1 - day) / recent)
            roots[row] += weight * np.sqrt(np.abs(expected - series.counts[day]).sum(1))
            weights[row] += weight
    errors = (roots / weights[:, None]) ** 2
    return np.asarray(errors / np.maximum(errors.min(1, keepdims=True), LEAST_ARRIVALS))
