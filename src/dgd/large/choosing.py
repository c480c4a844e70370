"""The anchor of a fit, chosen on all of its units or, where these are very many, on some.

Some units say which candidates are good for all; what units share comes from everyone's counts.
Several processes bring the same units together as one would look at, and choose alike.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.arrival_anchor import AmongMany, ArrivalAnchor
from dgd.anchoring.exposure import Exposed
from dgd.anchoring.layers import MOVEMENTS
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.anchoring.stored import anchor_restored, anchor_stored
from dgd.forecasting.predictive import Predictive
from dgd.large.block_size import units_at_once, units_chosen_on
from dgd.large.fitted_units import FittedUnits
from dgd.learning.settings import Settings
from dgd.model.effort import EffortCurve
from dgd.panel.panel import Panel
from dgd.panel.shared import BroughtTogether
from dgd.panel.some_units import blocks_of_units, panel_of_units

REACH = "anchor/reach"


def chosen_anchor(fit: FittedUnits, settings: Settings, curve: EffortCurve) -> Anchor | None:
    """What forecasts of a fit without anchor start from, chosen on its training and validation
    days."""
    some = _Some.of(fit) if fit.in_blocks else None
    panel, split = fit.panel if some is None else some.panel, fit.split
    patterns = arrivals = None
    if settings.anchor == "history":
        patterns = PatternAnchor.chosen(panel, split, MOVEMENTS[settings.tilts])
    if settings.arrival_anchor != "none":
        alone = settings.arrival_anchor == "means"
        if some is None:
            arrivals = ArrivalAnchor.chosen(panel, split, curve, means_alone=alone)
        else:
            arrivals = _among_many(fit, panel, curve, means_alone=alone)
    if patterns is None and arrivals is None:
        return None
    anchor = Anchor(patterns, arrivals, learned_spread=settings.spread == "learned")
    if settings.departures == "none":
        return anchor if some is None else _the_first_ones(fit, anchor)
    if some is None:
        return anchor.weighed(panel, split, fit.predict)
    levels = None
    if arrivals is not None:
        levels = partial(fit.all_ahead.level_by, arrivals, fit.panel)
    weighed = anchor.weighed(panel, split, some.predict, levels)
    return _the_first_ones(fit, weighed)


class _Some:
    """The units of a fit on which its anchor is chosen, those of other processes among them."""

    def __init__(self, fit: FittedUnits, units: Int[np.ndarray, " some"]) -> None:
        self._together = BroughtTogether.of(fit.panel, units, fit.group)
        self._number = len(units)
        # a process that has none of them asks all of its questions too, for the others wait
        self._fit = fit.of_units(units if len(units) else np.zeros(1, np.int64))

    @staticmethod
    def of(fit: FittedUnits) -> "_Some":
        return _Some(fit, units_chosen_on(fit.panel, fit.group))

    @property
    def panel(self) -> Panel:
        return self._together.whole

    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        """What the fit expects of all of them."""
        found = self._fit.predict(origins, horizon)

        def joined(own: np.ndarray) -> np.ndarray:
            return self._together.joined(own[:, :, :, : self._number], 3)

        return replace(found, arrivals=joined(found.arrivals), patterns=joined(found.patterns))


def _among_many(
    fit: FittedUnits, some: Panel, curve: EffortCurve, *, means_alone: bool
) -> ArrivalAnchor:
    """Weighed on some units, at the level of all, for all."""
    panel, stop = fit.panel, fit.split.validation_stop
    reach = _reach(fit, curve)

    def level(
        anchor: ArrivalAnchor, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> np.ndarray:
        return fit.all_ahead.level_by(replace(anchor, reach=reach), panel, origins, horizon)

    total = fit.all_ahead.total(reach, curve, panel, stop, 0)
    among = AmongMany(total, level)
    found = ArrivalAnchor.chosen(some, fit.split, curve, means_alone=means_alone, among=among)
    return replace(found, reach=reach)


def _reach(fit: FittedUnits, curve: EffortCurve) -> Float[np.ndarray, " cell"]:
    """Arrivals per effort of every cell of all units."""
    found = []
    for units in blocks_of_units(len(fit.panel.units), units_at_once(fit.panel)):
        panel = panel_of_units(fit.panel, units)
        arrivals = panel.arrivals[: fit.split.validation_stop].astype(np.float64)
        effort = curve.relative(panel.effort) if panel.has_effort else None
        found.append(Exposed.cells(arrivals, effort).reach())
    return np.concatenate(found)


def _the_first_ones(fit: FittedUnits, anchor: Anchor) -> Anchor:
    """What the first of several processes has chosen, to the last bit; each knows the reach of
    its own cells."""
    if fit.group.count == 1:
        return anchor
    facts, tensors = anchor_stored(anchor)
    own = {REACH: tensors.pop(REACH)} if REACH in tensors else {}
    names = fit.group.every([facts, sorted(tensors)])[0]
    nothing = np.zeros(0)
    shared = {name: fit.group.every(np.asarray(tensors.get(name, nothing)))[0] for name in names[1]}
    found = anchor_restored({"anchor": names[0]}, {**shared, **own}, fit.panel)
    assert found is not None
    return found
