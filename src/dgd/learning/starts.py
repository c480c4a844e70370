"""Where training starts: what is measured beforehand, and the first parameters.

The paper starts from warm-up rates. The library's own start stands where the
simple baselines already are: mean arrivals of the training days, and cohort
intercepts and within-arrival dependence from a pooled logistic fit.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize
from scipy.special import expit, logit

from dgd.model.context import AbstractContext, EventContext, SharedContext
from dgd.model.feedback import AbstractFeedback, Feedback, Reference, WithoutFeedback
from dgd.model.model import Model
from dgd.model.observation import Arrival, Behavior
from dgd.model.patterns import behavior_bits
from dgd.model.population import POPULATIONS, first_mixture
from dgd.model.readout import READOUTS
from dgd.panel.panel import Panel
from dgd.panel.split import Split


def _zeros(*shape: Any) -> Array:
    return jnp.asarray(np.zeros(*shape))


@dataclass(frozen=True)
class Shape:
    """The lengths of the model's axes."""

    units: int
    cohorts: int
    behaviors: int
    features: int
    components: int
    dim: int
    nodes: int
    contexts: int


@dataclass(frozen=True, eq=False)
class Start:
    """What the first parameters are made from; the seed adds small differences."""

    reference: Reference
    cohort_intercept: Float[np.ndarray, "cohort behavior"]
    dependence: Float[np.ndarray, " pair"]
    initial_scale: float
    population: str = "gaussian"
    dynamics: str = "feedback"
    readout: str = "weighted"
    supervision: str = "counts"

    def model(self, shape: Shape, seed: int) -> Model:
        """Parameters at the start of training for one seed.

        Drawn with NumPy: nothing needs compiling before training itself.
        """
        rng = np.random.default_rng(seed)

        def noise(*size: int, scale: float = 0.05) -> np.ndarray:
            return scale * rng.normal(size=size)

        cohorts, dim = shape.cohorts, shape.dim
        behaviors, features = shape.behaviors, shape.features
        mixture = first_mixture(
            rng, cohorts, shape.components, dim, nodes=shape.nodes, scale=self.initial_scale
        )
        arrival = Arrival(
            intercept=_zeros((shape.units, cohorts)),
            feature_effect=_zeros(features),
            loading=jnp.asarray(noise(dim)),
        )
        behavior = Behavior(
            unit_intercept=_zeros((shape.units, behaviors)),
            cohort_intercept=jnp.asarray(self.cohort_intercept),
            feature_effect=_zeros((features, behaviors)),
            memory_effect=_zeros((behaviors, behaviors)),
            fatigue_effect=_zeros(behaviors),
            environment_effect=_zeros(behaviors),
            free_loading=jnp.asarray(0.1 + noise(behaviors - 1, dim)),
            dependence_entries=jnp.asarray(self.dependence),
        )
        feedback: AbstractFeedback = Feedback(
            raw_memory_retention=jnp.asarray(logit(0.7)),
            raw_fatigue_retention=jnp.asarray(logit(0.7)),
            raw_shift_retention=jnp.asarray(logit(0.7)),
            raw_environment_retention=jnp.asarray(logit(0.7)),
            raw_common_gain=jnp.asarray(logit(0.3)),
            raw_unit_gain=jnp.asarray(logit(0.3)),
            rate_response=jnp.asarray(noise(behaviors, dim)),
            fatigue_response=jnp.asarray(noise(dim)),
        )
        if self.dynamics == "none":
            feedback = WithoutFeedback(dim)
        population = POPULATIONS[self.population](mixture)
        context: AbstractContext = SharedContext()
        if self.supervision == "events":
            context = EventContext(_zeros((shape.contexts, behaviors)))
        return Model(
            population,
            arrival,
            behavior,
            feedback,
            self.reference,
            READOUTS[self.readout](population),
            context,
        )


def measure(panel: Panel, split: Split, days: slice) -> Reference:
    """Baselines and reference rates over `days`, smoothed so that no rate is 0 or 1."""
    arrivals = panel.arrivals[days].sum(0)
    people = (panel.size[days] * panel.effort[days]).sum(0)
    people = np.where(people > 0, people, panel.size[days].sum(0))
    return Reference(
        log_baseline=jnp.asarray(np.log((arrivals + 0.5) / people)),
        rates=jnp.asarray(reference_rates(panel, days)),
        size=jnp.asarray(_reference_size(panel, split)),
    )


def reference_rates(panel: Panel, days: slice) -> Float[np.ndarray, "cohort behavior"]:
    """v0: each cohort's behaviour rates, drawn to the overall rates by two arrivals' weight."""
    shown = panel.behavior_counts[days].sum((0, 1)).astype(np.float64)
    arrivals = panel.arrivals[days].sum((0, 1)).astype(np.float64)
    overall = (shown.sum(0) + 0.5) / (arrivals.sum() + 1.0)
    return np.asarray((shown + 2.0 * overall) / (arrivals + 2.0)[:, None])


def _reference_size(panel: Panel, split: Split) -> Float[np.ndarray, " cohort"]:
    """n_ref: the largest size across units; without sizes mean arrivals, so that dose is near 1."""
    if panel.sized:
        return np.asarray(panel.size[split.train].max((0, 1)))
    return np.maximum(1.0, panel.arrivals[split.warmup].sum(1).mean(0))


def start_from_warmup(panel: Panel, split: Split, initial_scale: float) -> Start:
    """The paper's start: warm-up baselines, warm-up rates as intercepts, no dependence."""
    reference = measure(panel, split, split.warmup)
    pairs = len(panel.behaviors) * (len(panel.behaviors) - 1) // 2
    intercept = logit(np.asarray(reference.rates))
    return Start(reference, intercept, np.zeros(pairs), initial_scale)


def start_from_training(panel: Panel, split: Split, initial_scale: float) -> Start:
    """Mean arrivals of the training days and a pooled autoregressive logistic fit."""
    reference = measure(panel, split, split.train)
    warmup_rates = jnp.asarray(reference_rates(panel, split.warmup))
    reference = eqx.tree_at(lambda r: r.rates, reference, warmup_rates)
    counts = panel.patterns[split.train].sum((0, 1)).astype(np.float64)
    intercept, dependence = pooled_logistic(counts)
    below = np.tril_indices(len(panel.behaviors), -1)
    return Start(reference, intercept, dependence[below], initial_scale)


def pooled_logistic(
    counts: Float[np.ndarray, "cohort pattern"], ridge: float = 1.0
) -> tuple[Float[np.ndarray, "cohort behavior"], Float[np.ndarray, "behavior behavior"]]:
    """Cohort intercepts and dependence of each behaviour on the earlier ones.

    One ridge-penalised logistic regression per behaviour. The penalty draws
    cohort intercepts to the overall rate and dependence to zero.
    """
    cohorts, patterns = counts.shape
    behaviors = int(np.log2(patterns))
    bits = behavior_bits(behaviors)
    member = np.repeat(np.eye(cohorts), patterns, axis=0)
    weight = counts.ravel()
    intercept = np.zeros((cohorts, behaviors))
    dependence = np.zeros((behaviors, behaviors))
    for h in range(behaviors):
        shown = np.tile(bits[:, h], cohorts)
        design = np.concatenate([member, np.tile(bits[:, :h], (cohorts, 1))], axis=1)
        overall = logit((weight @ shown + 0.5) / (weight.sum() + 1.0))
        effects = _logistic_effects(design, shown, weight, overall, ridge)
        intercept[:, h] = overall + effects[:cohorts]
        dependence[h, :h] = effects[cohorts:]
    return intercept, dependence


def _logistic_effects(
    design: Float[np.ndarray, "row effect"],
    shown: Float[np.ndarray, " row"],
    weight: Float[np.ndarray, " row"],
    offset: float,
    ridge: float,
) -> Float[np.ndarray, " effect"]:
    """Effects with the least weighted logistic loss plus ridge, found by a trust region."""

    def loss(effects: np.ndarray) -> float:
        eta = offset + design @ effects
        return float(
            weight @ (np.logaddexp(0.0, eta) - shown * eta) + ridge / 2 * effects @ effects
        )

    def slope(effects: np.ndarray) -> np.ndarray:
        rate = expit(offset + design @ effects)
        return np.asarray(design.T @ (weight * (rate - shown)) + ridge * effects)

    def curvature(effects: np.ndarray) -> np.ndarray:
        rate = expit(offset + design @ effects)
        spread = weight * rate * (1.0 - rate)
        return (design * spread[:, None]).T @ design + ridge * np.eye(len(effects))

    start = np.zeros(design.shape[1])
    found = minimize(loss, start, jac=slope, hess=curvature, method="trust-exact")
    return np.asarray(found.x)
