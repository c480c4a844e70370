"""Where training starts: what is measured beforehand.

The paper starts from warm-up rates. Without innovations the library can also start where the
simple baselines already are: mean arrivals of the training days, and cohort intercepts and
within-arrival dependence from a pooled logistic fit. With innovations everybody starts alike:
levels of units, cohorts and cells are found day by day, and a level that was measured beforehand
would be counted twice.
"""

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logit

from dgd.learning.effort_start import blank_response
from dgd.learning.pooled_logistic import pooled_logistic
from dgd.model.effort import AbstractEffortResponse, Proportional
from dgd.model.reference import Reference
from dgd.model.shape import Shape
from dgd.panel.panel import Panel
from dgd.panel.split import Split

PROPORTIONAL = Proportional()
"""How contact answers to effort where nobody says otherwise."""


@dataclass(frozen=True, eq=False)
class Start:
    """What counts say about the first parameters; the rest is the same for all panels."""

    reference: Reference
    cohort_intercept: Float[np.ndarray, "cohort behavior"]
    dependence: Float[np.ndarray, " pair"]
    effort: AbstractEffortResponse = PROPORTIONAL

    @staticmethod
    def blank(shape: Shape, elastic: bool = False) -> "Start":
        """Zeros of the right shapes, for parameters that a file will fill; an `elastic` response
        to effort has some too."""
        cohorts, behaviors = shape.cohorts, shape.behaviors
        reference = Reference(
            jnp.zeros((shape.units, cohorts)), jnp.zeros((cohorts, behaviors)), jnp.zeros(cohorts)
        )
        pairs = behaviors * (behaviors - 1) // 2
        effort = blank_response(cohorts) if elastic else PROPORTIONAL
        return Start(reference, np.zeros((cohorts, behaviors)), np.zeros(pairs), effort)


def measure(panel: Panel, split: Split, days: slice, effort: AbstractEffortResponse) -> Reference:
    """Baselines and reference rates over `days`, smoothed so that no rate is 0 or 1."""
    arrivals = panel.arrivals[days].sum(0)
    people = people_reached(panel, days, effort)
    people = np.where(people > 0, people, panel.size[days].sum(0))
    return Reference(
        log_baseline=jnp.asarray(np.log((arrivals + 0.5) / people)),
        rates=jnp.asarray(reference_rates(panel, days)),
        size=jnp.asarray(reference_size(panel, split)),
    )


def people_reached(
    panel: Panel, days: slice, effort: AbstractEffortResponse
) -> Float[np.ndarray, "unit cohort"]:
    """n e of every cell, added up over the days."""
    reached = np.asarray(effort.reached(jnp.asarray(panel.effort[days])))
    return np.asarray((panel.size[days] * reached).sum(0))


def reference_rates(panel: Panel, days: slice) -> Float[np.ndarray, "cohort behavior"]:
    """v0: each cohort's behaviour rates, drawn to the overall rates by two arrivals' weight."""
    shown = panel.together.behavior_counts[days].sum(0).astype(np.float64)
    arrivals = panel.together.arrivals[days].sum(0).astype(np.float64)
    overall = (shown.sum(0) + 0.5) / (arrivals.sum() + 1.0)
    return np.asarray((shown + 2.0 * overall) / (arrivals + 2.0)[:, None])


def reference_size(panel: Panel, split: Split) -> Float[np.ndarray, " cohort"]:
    """n_ref: the largest size across units; without sizes mean arrivals, so that dose is near 1."""
    if panel.sized:
        return np.asarray(panel.size[split.train].max((0, 1)))
    return np.maximum(1.0, panel.together.arrivals[split.warmup].mean(0))


def start_from_warmup(
    panel: Panel, split: Split, effort: AbstractEffortResponse = PROPORTIONAL
) -> Start:
    """The paper's start: warm-up baselines, warm-up rates as intercepts, no dependence."""
    reference = measure(panel, split, split.warmup, effort)
    pairs = len(panel.behaviors) * (len(panel.behaviors) - 1) // 2
    intercept = logit(np.asarray(reference.rates))
    return Start(reference, intercept, np.zeros(pairs), effort)


def start_from_training(
    panel: Panel, split: Split, effort: AbstractEffortResponse = PROPORTIONAL
) -> Start:
    """Mean arrivals of the training days and a pooled autoregressive logistic fit."""
    reference = measure(panel, split, split.train, effort)
    warmup_rates = jnp.asarray(reference_rates(panel, split.warmup))
    reference = eqx.tree_at(lambda r: r.rates, reference, warmup_rates)
    counts = panel.together.patterns[split.train].sum(0).astype(np.float64)
    intercept, dependence = pooled_logistic(counts)
    below = np.tril_indices(len(panel.behaviors), -1)
    return Start(reference, intercept, dependence[below], effort)


def start_alike(panel: Panel, split: Split, effort: AbstractEffortResponse = PROPORTIONAL) -> Start:
    """One rate of arrivals per person and one response for all units and cohorts."""
    everyone, days = panel.together, split.train
    arrivals = everyone.arrivals[days].sum()
    people = people_reached(panel, days, effort)
    share = people.mean() if people.any() else panel.size[days].sum(0).mean()
    of_a_cell = (arrivals + 0.5) / (everyone.units * len(panel.cohorts) * share)
    counts = everyone.patterns[days].sum((0, 1)).astype(np.float64)
    intercept, dependence = pooled_logistic(counts[None])
    reference = Reference(
        log_baseline=jnp.full((len(panel.units), len(panel.cohorts)), np.log(of_a_cell)),
        rates=jnp.asarray(reference_rates(panel, split.warmup)),
        size=jnp.asarray(reference_size(panel, split)),
    )
    below = np.tril_indices(len(panel.behaviors), -1)
    same = np.repeat(intercept, len(panel.cohorts), 0)
    return Start(reference, same, dependence[below], effort)


STARTS: dict[str, Callable[[Panel, Split, AbstractEffortResponse], Start]] = {
    "warmup": start_from_warmup,
    "training": start_from_training,
    "alike": start_alike,
}
"""Starts by the name a setting gives them."""
