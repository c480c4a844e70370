"""The anchor of a fit, chosen on all of its units or, where these are very many, on some.

Some units that are evenly spread say which candidates are good for all; what units share comes from
everyone's counts. Of several processes the first one's choice is everybody's.
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
from dgd.large.block_size import units_at_once, units_chosen_on
from dgd.large.fitted_units import FittedUnits
from dgd.learning.settings import Settings
from dgd.model.effort import EffortCurve
from dgd.panel.some_units import blocks_of_units, panel_of_units

REACH = "anchor/reach"


def chosen_anchor(fit: FittedUnits, settings: Settings, curve: EffortCurve) -> Anchor | None:
    """What forecasts of a fit without anchor start from, chosen on its training and validation
    days."""
    some = fit.of_units(units_chosen_on(fit.panel)) if fit.in_blocks else fit
    panel, split = some.panel, fit.split
    patterns = arrivals = None
    if settings.anchor == "history":
        patterns = PatternAnchor.chosen(panel, split, MOVEMENTS[settings.tilts])
    if settings.arrival_anchor != "none":
        alone = settings.arrival_anchor == "means"
        if some is fit:
            arrivals = ArrivalAnchor.chosen(panel, split, curve, means_alone=alone)
        else:
            arrivals = _among_many(fit, some, curve, means_alone=alone)
    if patterns is None and arrivals is None:
        return None
    anchor = Anchor(patterns, arrivals, learned_spread=settings.spread == "learned")
    if settings.departures == "none":
        return anchor if some is fit else _the_first_ones(fit, anchor)
    if some is fit:
        return anchor.weighed(panel, split, fit.predict)
    levels = None
    if arrivals is not None:
        levels = partial(fit.all_ahead.level_by, arrivals, fit.panel)
    weighed = anchor.weighed(panel, split, some.predict, levels)
    return _the_first_ones(fit, weighed)


def _among_many(
    fit: FittedUnits, some: FittedUnits, curve: EffortCurve, *, means_alone: bool
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
    found = ArrivalAnchor.chosen(some.panel, fit.split, curve, means_alone=means_alone, among=among)
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
    """What the first of several processes has chosen; each knows the reach of its own cells."""
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
