r"""The quality at which a model's shares are the observed ones: BLP's contraction, accelerated.

.. math:: \xi \leftarrow F(\xi) = \xi + \log s^{obs} - \log s(\xi)

has one fixed point in every market with an outside option (Berry, Levinsohn and Pakes 1995). Two
steps of it say how fast it goes, and SQUAREM (Varadhan and Roland 2008, scheme S3) goes further
along them. All markets step together; one that has arrived stands still.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.inversion.shares import ObservedShares
from dgd.choice.offers import Offers

TOLERANCE = 1e-13
"""The largest error of a log share in a market that has arrived."""
ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""A utility is known to this part of itself; no share can be nearer than that."""
MOST_STEPS = 2000
LONGEST = 1e6
"""The most that SQUAREM lengthens a step; whether it helped is seen before it is taken."""
SMALLEST = 1e-300


class Inversion(NamedTuple):
    """What was found in every market."""

    quality: Float[Array, "market slot"]
    """xi; 0 where a product is not available."""
    error: Float[Array, " market"]
    """The largest error of a log share."""
    converged: Bool[Array, " market"]
    steps: Int[Array, ""]


class _State(NamedTuple):
    quality: Float[Array, "market slot"]
    gap: Float[Array, "market slot"]
    step: Int[Array, ""]


@eqx.filter_jit
def inverted(demand: ChoiceDemand, offers: Offers, observed: ObservedShares) -> Inversion:
    r"""The quality xi at which `demand` has the `observed` shares; inside `computing`.

    What the offers hold as quality is put aside. The search begins where a logit would end,

    .. math:: \xi_j = \log \frac{s_j^{obs}}{s_0^{obs}} - \log \frac{s_j(0)}{s_0(0)}

    which is the answer where people are alike.
    """
    target = _log(observed.products)
    effect = demand.utility.quality_effect
    # The steps are those of lambda xi, the value that quality has.
    demand = eqx.tree_at(lambda m: m.utility.quality_effect, demand, jnp.ones_like(effect))

    def gap(quality: Float[Array, "market slot"]) -> Float[Array, "market slot"]:
        """log s_obs - log s: how far F moves."""
        found = demand.shares(offers._replace(quality=quality)).products
        return jnp.where(offers.available, target - _log(found), 0.0)

    def going(state: _State) -> Bool[Array, ""]:
        return (state.step < MOST_STEPS) & ~_arrived(state).all()

    def step(state: _State) -> _State:
        once = state.quality + state.gap
        second = gap(once)
        bend = second - state.gap
        length = _norm(state.gap) / jnp.maximum(_norm(bend), SMALLEST)
        length = jnp.clip(length, 1.0, LONGEST)[:, None]
        far = state.quality + 2 * length * state.gap + length**2 * bend
        ahead = gap(far)
        # Where the long step leads away, the two plain ones still lead nearer.
        helps = jnp.isfinite(ahead).all(1) & (_norm(ahead) <= _norm(state.gap))
        moved = jnp.where(helps[:, None], far + ahead, once + second)
        moved = jnp.where(_arrived(state)[:, None], state.quality, moved)
        return _State(moved, gap(moved), state.step + 1)

    start = demand.shares(offers._replace(quality=jnp.zeros_like(offers.quality)))
    ratio = _log(observed.outside) - _log(start.outside)
    first = jnp.where(offers.available, target - _log(start.products) - ratio[:, None], 0.0)
    last = jax.lax.while_loop(going, step, _State(first, gap(first), jnp.zeros((), int)))
    return Inversion(last.quality / effect, jnp.abs(last.gap).max(1), _arrived(last), last.step)


def _arrived(state: _State) -> Bool[Array, " market"]:
    exact = jnp.maximum(TOLERANCE, ROUNDING * jnp.abs(state.quality).max(1))
    return jnp.abs(state.gap).max(1) <= exact


def _norm(values: Float[Array, "market slot"]) -> Float[Array, " market"]:
    return jnp.sqrt((values**2).sum(1))


def _log(share: Array) -> Array:
    return jnp.log(jnp.maximum(share, SMALLEST))
