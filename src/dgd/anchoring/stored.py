"""An anchor as the facts and tensors of a file."""

from typing import Any

import numpy as np

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.chains import Chain
from dgd.anchoring.exposure import LEAST_REACH
from dgd.anchoring.hierarchy import STRENGTHS, Hierarchy
from dgd.anchoring.layers import Layer
from dgd.anchoring.levels import Level
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.anchoring.seasons import CYCLES
from dgd.anchoring.smoothing.shrunken import shrunken_candidates
from dgd.anchoring.smoothing.smoothers import candidates
from dgd.anchoring.tilts import Tilt
from dgd.anchoring.weighing import BLOCKS
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.model.effort import EffortCurve
from dgd.model.negative_binomial import LARGEST_DISPERSION
from dgd.panel.grids import LARGEST_EFFORT, SMALLEST_EFFORT
from dgd.panel.panel import Panel
from dgd.tables.checks import LARGEST_COUNT

LEVELS: tuple[Level, ...] = ("all", "cohort", "unit", "cell")
MOST_LAYERS = 3
LARGEST_STRENGTH = 1e9
LARGEST_VARIANCE = 1e9
LARGEST_SATURATION = 1e9


def anchor_stored(anchor: Anchor | None) -> tuple[dict[str, Any] | None, Tensors]:
    """Everything of an anchor that a file must keep."""
    if anchor is None:
        return None, {}
    facts: dict[str, Any] = {
        "pattern_share": anchor.pattern_share,
        "arrival_share": anchor.arrival_share,
        "learned_spread": anchor.learned_spread,
        "reach": anchor.reach,
    }
    tensors: Tensors = {}
    if anchor.patterns is not None:
        own = anchor.patterns
        facts["patterns"] = {
            "cycle": own.cycle,
            "blocks": len(own.blocks),
            "layers": len(own.layers),
            "of_everyone": own.of_everyone,
        }
        tensors["anchor/chains"] = np.array(own.chains)
        tensors["anchor/chain_shares"] = own.chain_shares
        for number, layer in enumerate(own.layers):
            tensors |= _layer_stored(layer, f"anchor/layer {number}")
    if anchor.arrivals is not None:
        facts["arrivals"] = {
            "cycle": anchor.arrivals.cycle,
            "blocks": len(anchor.arrivals.blocks),
            "shrunken": bool(anchor.arrivals.hierarchies),
        }
        tensors["anchor/totals"] = anchor.arrivals.totals
        tensors["anchor/cells"] = anchor.arrivals.cells
        tensors["anchor/reach"] = anchor.arrivals.reach
        tensors["anchor/dispersion"] = anchor.arrivals.dispersion
        for name, values in anchor.arrivals.effort._asdict().items():
            tensors[f"anchor/effort/{name}"] = values
        for number, common in enumerate(anchor.arrivals.hierarchies):
            tensors |= _hierarchy_stored(common, f"anchor/hierarchy {number}")
    return facts, tensors


def anchor_restored(facts: dict[str, Any], tensors: Tensors, panel: Panel) -> Anchor | None:
    """The anchor of a file; files without one are of fits without one."""
    if facts.get("anchor") is None:
        return None
    about = declared.part(facts, "anchor")
    patterns = _patterns(about, tensors, panel) if "patterns" in about else None
    arrivals = _arrivals(about, tensors, panel) if "arrivals" in about else None
    joint, volume = (declared.number(about, f"{name}_share") for name in ("pattern", "arrival"))
    if not (0 <= joint <= 1 and 0 <= volume <= 1):
        raise ValueError("the shares of the model are not numbers from 0 to 1")
    learned = declared.choice(about, "learned_spread", (True, False))
    reach = declared.whole(about, "reach", 1, BLOCKS[-1])
    return Anchor(patterns, arrivals, joint, volume, learned, reach)


def _rows(facts: dict[str, Any], panel: Panel) -> tuple[int, tuple[int, ...]]:
    cycle = declared.whole(facts, "cycle", 1, CYCLES[panel.period.name])
    if cycle not in (1, CYCLES[panel.period.name]):
        raise ValueError(f"cycle is {cycle}, which is no rhythm of a {panel.period.name}")
    return cycle, BLOCKS[: declared.whole(facts, "blocks", 1, len(BLOCKS))]


def _patterns(about: dict[str, Any], tensors: Tensors, panel: Panel) -> PatternAnchor:
    cycle, blocks = _rows(declared.part(about, "patterns"), panel)
    fields = len(Chain._fields)
    chains = declared.tensor(tensors, "anchor/chains", [None, fields], 0, LARGEST_STRENGTH)
    if not len(chains) or np.any(chains[:, :4] <= 0):
        raise ValueError("anchor/chains holds a half-life that is not above 0, or no chain")
    facts = {"of_everyone": False, **declared.part(about, "patterns")}
    layers = declared.whole(facts, "layers", 0, MOST_LAYERS)
    return PatternAnchor(
        cycle,
        blocks,
        tuple(Chain(*row) for row in chains.tolist()),
        _shares(tensors, "anchor/chain_shares", len(chains)),
        tuple(_layer(tensors, f"anchor/layer {n}", len(blocks)) for n in range(layers)),
        declared.choice(facts, "of_everyone", (True, False)),
    )


def _layer_stored(layer: Layer, name: str) -> Tensors:
    tilts = [(LEVELS.index(tilt.level), *tilt[1:]) for tilt in layer.tilts]
    shocks = [layer.shocks.get(level, 0.0) for level in LEVELS]
    return {
        f"{name}/tilts": np.array(tilts, float),
        f"{name}/shares": layer.shares,
        f"{name}/shocks": np.array(shocks),
    }


def _layer(tensors: Tensors, name: str, rows: int) -> Layer:
    table = declared.tensor(tensors, f"{name}/tilts", [None, 4], 0, LARGEST_VARIANCE)
    if not len(table):
        raise ValueError(f"{name}/tilts holds no tilt")
    if np.any(table[:, 1:3] > 1) or not np.isin(table[:, 0], range(len(LEVELS))).all():
        raise ValueError(f"{name}/tilts holds a level or a share that is not known")
    tilts = tuple(Tilt(LEVELS[int(level)], *rest) for level, *rest in table.tolist())
    shocks = declared.tensor(tensors, f"{name}/shocks", [len(LEVELS)], 0, LARGEST_VARIANCE)
    shares = _shares(tensors, f"{name}/shares", rows, 1 + len(tilts))
    return Layer(tilts, shares, dict(zip(LEVELS, shocks.tolist(), strict=True)))


def _arrivals(about: dict[str, Any], tensors: Tensors, panel: Panel) -> ArrivalAnchor:
    cycle, blocks = _rows(declared.part(about, "arrivals"), panel)
    rows = len(blocks)
    exposures = 2 if panel.has_effort else 1
    count = candidates(cycle) * exposures
    shrunken = declared.choice(declared.part(about, "arrivals"), "shrunken", (True, False))
    known = exposures if shrunken else 0
    shape, cells = [rows, len(panel.cohorts)], len(panel.units) * len(panel.cohorts)
    spread = declared.tensor(tensors, "anchor/dispersion", shape, 1e-9, LARGEST_DISPERSION)
    return ArrivalAnchor(
        cycle,
        blocks,
        _shares(tensors, "anchor/totals", rows, count),
        _shares(tensors, "anchor/cells", rows, count + known * shrunken_candidates(cycle)),
        declared.tensor(tensors, "anchor/reach", [cells], 0, LARGEST_COUNT / LEAST_REACH),
        spread,
        _effort(tensors, len(panel.cohorts)),
        tuple(_hierarchy(tensors, n, cycle, len(panel.cohorts)) for n in range(known)),
    )


def _hierarchy_stored(common: Hierarchy, name: str) -> Tensors:
    return {
        f"{name}/rate": np.array([common.rate]),
        f"{name}/strengths": np.array([common.unit_strength, common.cell_strength]),
        f"{name}/shares": common.shares,
        f"{name}/rhythm": common.rhythm,
    }


def _hierarchy(tensors: Tensors, number: int, cycle: int, cohorts: int) -> Hierarchy:
    name = f"anchor/hierarchy {number}"
    rate = declared.tensor(tensors, f"{name}/rate", [1], 0, LARGEST_COUNT / LEAST_REACH)
    strengths = declared.tensor(tensors, f"{name}/strengths", [2], *STRENGTHS)
    shares = _shares(tensors, f"{name}/shares", cohorts)
    rhythm = declared.tensor(tensors, f"{name}/rhythm", [cycle, cohorts], 0, LARGEST_COUNT)
    if not rate[0] > 0:
        raise ValueError(f"{name}/rate is not above 0")
    unit, cell = strengths.tolist()
    return Hierarchy(float(rate[0]), unit, cell, shares, rhythm)


def _effort(tensors: Tensors, cohorts: int) -> EffortCurve:
    limits = {
        "elasticity": (0.0, 1.0),
        "saturation": (0.0, LARGEST_SATURATION),
        "usual": (SMALLEST_EFFORT, LARGEST_EFFORT),
    }
    return EffortCurve(
        **{
            name: declared.tensor(tensors, f"anchor/effort/{name}", [cohorts], *ends)
            for name, ends in limits.items()
        }
    )


def _shares(tensors: Tensors, name: str, *shape: int) -> np.ndarray:
    found = declared.tensor(tensors, name, shape, 0, 1)
    if np.any(np.abs(found.sum(-1) - 1) > 1e-6):
        raise ValueError(f"{name} are shares that do not add up to 1")
    return found
