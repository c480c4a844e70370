"""A pooled autoregressive logistic fit: rates and dependence that all days share."""

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.special import expit, logit

from dgd.model.bits import behavior_bits


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
