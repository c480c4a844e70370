"""Where a future leaves what training has seen, and where its effect is an assumption."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool

from dgd.errors import few
from dgd.panel.panel import Panel
from dgd.scenarios.future import Future, Outlook
from dgd.scenarios.planned_fit import ExpectingFit

SLACK = 1e-9
"""Rounding that is no departure."""


def warnings_of(fit: ExpectingFit, outlook: Outlook, changed: Future) -> tuple[str, ...]:
    """A sentence for every cell in which a change goes beyond the values of the training days."""
    days = fit.split.train
    panel, planned = outlook.panel, outlook.planned
    found: list[str] = []
    for name in ("effort", "size"):
        told = (getattr(planned, name), getattr(changed, name), getattr(panel, name)[days])
        found += _beyond(panel, name, *told)
    for column, name in enumerate(panel.feature_names):
        # a feature has one effect everywhere, so what any cell has seen counts for all
        told = (planned.features, changed.features, panel.features[days])
        before, after, seen = (values[..., column] for values in told)
        ends = np.array([seen.min(), seen.max()])
        everywhere = np.broadcast_to(ends[:, None, None], (2, *seen.shape[1:]))
        found += _beyond(panel, name, before, after, everywhere)
    return tuple(found)


def _beyond(
    panel: Panel, name: str, before: np.ndarray, after: np.ndarray, seen: np.ndarray
) -> Iterator[str]:
    low, high = seen.min(0), seen.max(0)
    slack = SLACK * (1 + np.abs(high))
    outside = (before != after) & ((after < low - slack) | (after > high + slack))
    for unit, cohort in np.argwhere(outside.any(0)):
        values = after[outside[:, unit, cohort], unit, cohort]
        least, most = low[unit, cohort], high[unit, cohort]
        worst = values[np.argmax(np.maximum(least - values, values - most))]
        saw = f"always {least:g}" if least == most else f"{least:g} to {most:g}"
        yield (
            f"{name} of unit {panel.units[unit]}, cohort {panel.cohorts[cohort]} becomes "
            f"{worst:g}; the training days saw {saw}, so the answer goes beyond what was learned."
        )


def learned_effort(fit: ExpectingFit) -> Bool[np.ndarray, " cohort"]:
    """Whether the response to effort was learned, by every seed."""
    cohorts = len(fit.panel.cohorts)
    return np.all([crowd.effort.learned(cohorts) for crowd in fit.crowds], axis=0)


def assumption_notes(fit: ExpectingFit, changed: Bool[np.ndarray, "..."]) -> tuple[str, ...]:
    """The sentence that is due where effort changes but its effect was never seen; `changed` has
    cohorts on its last axis."""
    touched = changed.any(tuple(range(changed.ndim - 1)))
    unknown = touched & ~learned_effort(fit)
    if not unknown.any():
        return ()
    names = [label for label, own in zip(fit.panel.cohorts, unknown, strict=True) if own]
    return (
        f"the response of cohort {few(names)} to effort was not learned, because effort there "
        "never varied enough in training; that arrivals rise in proportion is an assumption.",
    )
