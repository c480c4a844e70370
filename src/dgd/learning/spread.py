"""One training loop on several processes: each has its units, everything else is everywhere.

Every process runs the same compiled program on its own rows; the program itself adds up what units
have in common (`model/unit_axis.py`). Gradients of what is shared are added up too, so that shared
parameters stay the same everywhere, to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, PyTree

from dgd.model.unit_axis import UNITS, over_units, spread
from dgd.processes.group import REPLICATED, SHARDED, Group


@dataclass(frozen=True, eq=False)
class Spread:
    """The processes, and which of the parameters each has for its own units."""

    group: Group
    own: Bool[np.ndarray, " parameter"] | None = None
    """True for parameters of units; the others are shared."""
    of_units: Callable[[PyTree], PyTree[bool]] | None = None
    """Which arrays of a loss's data have a leading axis over units, or over blocks of them."""

    def compiled(
        self, program: Callable[..., Any], carry: PyTree, data: PyTree, limits: PyTree
    ) -> Callable[..., Any]:
        """The program (carry, data, limits) -> (carry, losses) on all processes at once.

        What each process hands over and gets back are its own rows.
        """
        if self.group.count == 1:
            return jax.jit(program).lower(carry, data, limits).compile()
        assert self.own is not None
        assert self.of_units is not None
        vector = (len(self.own),)
        of_carry = jax.tree.map(lambda x: SHARDED if x.shape == vector else REPLICATED, carry)
        of_data = jax.tree.map(lambda own: SHARDED if own else REPLICATED, self.of_units(data))
        everywhere = jax.tree.map(lambda _: REPLICATED, limits)
        spread_out = jax.jit(
            jax.shard_map(
                program,
                mesh=self.group.mesh(),
                in_specs=(of_carry, of_data, everywhere),
                out_specs=(of_carry, REPLICATED),
                check_vma=False,
            )
        )
        placed_data: dict[int, PyTree] = {}

        def run(carry: PyTree, data: PyTree, limits: PyTree) -> PyTree:
            if id(data) not in placed_data:
                placed_data.clear()
                placed_data[id(data)] = self._placed(data, of_data)
            given = (self._placed(carry, of_carry), placed_data[id(data)])
            found = spread_out(*given, self._placed(limits, everywhere))
            return jax.tree.map(lambda x: jnp.asarray(self.group.local(x)), found)

        return run

    def _placed(self, tree: PyTree, specs: PyTree) -> PyTree:
        """The arrays of this process as parts of global ones."""
        return jax.tree.map(
            lambda x, spec: (
                self.group.sharded(np.asarray(x))
                if spec == SHARDED
                else self.group.replicated(np.asarray(x))
            ),
            tree,
            specs,
        )


def gradient_over_units(
    gradient: Float[Array, " parameter"], own: Bool[np.ndarray, " parameter"] | None
) -> Float[Array, " parameter"]:
    """The gradient of the objective that all processes share.

    Each process differentiates the same number, so every gradient is as many times too large as
    there are processes; those of shared parameters are moreover spread over them.
    """
    if own is None or not spread():
        return gradient
    return jnp.where(own, gradient, over_units(gradient)) / jax.lax.axis_size(UNITS)


def clipped_over_units(
    most: float, own: Bool[np.ndarray, " parameter"]
) -> optax.GradientTransformation:
    """Clip by the norm of shared parameters and those of all processes' units together."""

    def update(updates: Array, state: optax.EmptyState, params: Any = None) -> tuple[Array, Any]:
        del params
        squares = updates**2
        shared = jnp.where(own, 0.0, squares).sum()
        norm = jnp.sqrt(shared + over_units(jnp.where(own, squares, 0.0).sum()))
        return jnp.where(norm < most, updates, updates / norm * most), state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)


def all_finite(gradient: Float[Array, " parameter"]) -> Bool[Array, ""]:
    """Whether every number is finite, those of other processes included."""
    fine = jnp.isfinite(gradient).all()
    return over_units(jnp.where(fine, 0.0, 1.0)) == 0 if spread() else fine
