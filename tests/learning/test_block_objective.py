"""Blocks of units, one at a time and sparse, have the loss and gradient of all units at once."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from dgd import DGD, Panel
from dgd.learning.block_objective import BlockObjective
from dgd.learning.building import first_crowd, shape_of
from dgd.learning.preparing import prepared
from dgd.learning.starts import start_from_training
from dgd.learning.unit_blocks import BlockRecorder
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing
from support.sparse_panels import sparse_panel

ENDS: dict[str, Any] = {
    "train_end": "2024-01-15",
    "validation_end": "2024-01-19",
    "warmup_end": "2024-01-03",
}
UNITS = 7


def shaken(crowd: Crowd) -> Crowd:
    """Every trainable number moved a little, so that no gradient is zero by chance."""
    rng = np.random.default_rng(4)
    free, fixed = eqx.partition(crowd, crowd.trainable())
    moved = jax.tree.map(lambda x: x + 0.1 * jnp.asarray(rng.normal(size=x.shape)), free)
    return eqx.combine(moved, fixed)


def with_closed_days(panel: Panel) -> Panel:
    """The same with effort, which is zero where nobody came on some days and units."""
    effort = np.random.default_rng(2).uniform(0.5, 2.0, panel.arrivals.shape)
    closed = (panel.arrivals.sum(-1) == 0)[..., None] & (np.arange(panel.days) % 3 == 0)[
        :, None, None
    ]
    return replace(panel, effort=np.where(closed, 0.0, effort), has_effort=True)


def with_features(panel: Panel) -> Panel:
    own = np.random.default_rng(3).normal(size=(*panel.arrivals.shape, 2))
    return replace(panel, features=own, feature_names=("heat", "price"))


PANELS = {
    "plain": lambda panel: panel,
    "effort": with_closed_days,
    "features": with_features,
}


def both(panel: Panel, model: DGD, length: int) -> tuple[Any, Any]:
    """Value, validation and gradient of everything, all at once and in blocks."""
    panel, split, maker = prepared(panel, model, **ENDS)
    days = [(split.first, split.train_stop), (split.train_stop, split.validation_stop)]
    crowd = shaken(
        first_crowd(model, shape_of(model, panel, maker), start_from_training(panel, split), 1)
    )
    recorded = [recorded_days(panel, maker, *ends, model.dispersion) for ends in days]
    recorder = BlockRecorder(panel, maker, model.dispersion)
    blocks = [recorder.blocks(*ends, length) for ends in days]
    missing = blocks[0].days.present.size - UNITS
    in_blocks = BlockObjective(model.objective)

    def filled(crowd: Crowd) -> Crowd:
        own = UnitParameters.of(crowd)
        return UnitParameters(*(jnp.pad(x, ((0, missing), (0, 0))) for x in own)).put_into(crowd)

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def at_once(crowd: Crowd) -> Any:
        value, state = model.objective.train(crowd, *recorded[0])
        return value, model.objective.validate(crowd, *recorded[1], state)

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def walked(crowd: Crowd) -> Any:
        value, state = in_blocks.train(filled(crowd), blocks[0])
        return value, in_blocks.validate(filled(crowd), blocks[1], state)

    return at_once(crowd), walked(crowd)


@pytest.mark.parametrize(
    ("kind", "length"),
    [
        ("effort", 3),
        pytest.param("plain", UNITS, marks=pytest.mark.slow),
        pytest.param("features", 3, marks=pytest.mark.long),
    ],
)
def test_blocks_have_the_loss_and_gradient_of_all_units(kind: str, length: int) -> None:
    panel = PANELS[kind](sparse_panel(UNITS, rate=0.8))
    with computing():
        expected, found = both(panel, DGD(effort_response="proportional"), length)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            ravel_pytree(found[1])[0], ravel_pytree(expected[1])[0], rtol=1e-8, atol=1e-10
        )


@pytest.mark.long
@pytest.mark.parametrize(
    "changes", [{"dynamics": "none"}, {"readout": "separated", "expected_weight": 0.0}], ids=str
)
def test_variants_are_walked_alike(changes: dict[str, Any]) -> None:
    with computing():
        expected, found = both(sparse_panel(UNITS, rate=0.8), DGD(nodes=3, **changes), 4)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            ravel_pytree(found[1])[0], ravel_pytree(expected[1])[0], rtol=1e-8, atol=1e-10
        )
