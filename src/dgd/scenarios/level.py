r"""Level from the forecast, response from the model.

.. math:: N' = \hat N \frac{M'}{M}, \qquad q'(y) \propto \hat q(y) \frac{q^{M\prime}(y)}{q^M(y)}

where N-hat and q-hat are a seed's own forecast of the future as planned, M and q^M what its
model expects there, and primes what it expects after a change. The anchor of a forecast knows
the level well and nothing of causes; the model's share in a forecast says how good its level
is, not what a change does. So a change moves the forecast by the whole of the model's ratio.
Cells that the model expects nobody in have no ratio; after a change they have the model's level.
Every seed has a ratio of its own, as every drawn path has; expected numbers are means over seeds.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.model.days import Prediction


class Level(eqx.Module):
    """The future as planned: its forecast, and what the model expects of it."""

    forecast: Prediction
    model: Prediction

    def moved(self, model: Prediction) -> Prediction:
        """The forecast, moved as far as `model` departs from what it expects as planned."""
        some = self.model.arrivals > 0
        ratio = model.arrivals / jnp.where(some, self.model.arrivals, 1.0)
        arrivals = jnp.where(some, self.forecast.arrivals * ratio, model.arrivals)
        return Prediction(arrivals, self._tilted(model.patterns))

    def _tilted(
        self, patterns: Float[Array, "pattern date unit cohort"]
    ) -> Float[Array, "pattern date unit cohort"]:
        likely = self.model.patterns > 0
        tilt = jnp.where(likely, patterns / jnp.where(likely, self.model.patterns, 1.0), 1.0)
        odds = self.forecast.patterns * tilt
        return odds / odds.sum(0, keepdims=True)


def series_of(prediction: Prediction) -> Float[Array, "date unit cohort series"]:
    """Arrivals, then every behaviour: expected counts."""
    return jnp.concatenate([prediction.arrivals[..., None], prediction.behaviors], -1)
