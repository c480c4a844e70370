"""What was measured before training and stays fixed."""

import equinox as eqx
from jaxtyping import Array, Float


class Reference(eqx.Module):
    """Baselines, rates and sizes that the learned parts are read against."""

    log_baseline: Float[Array, "unit cohort"]
    """Baseline log-intensity per person."""
    rates: Float[Array, "cohort behavior"]
    """v0: reference behaviour rates."""
    size: Float[Array, " cohort"]
    """n_ref: the largest reference size of the cohort across units."""
