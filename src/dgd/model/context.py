"""What is known of each event beside its cell, and the likelihood of what it showed.

Counts say how many arrivals of a cell showed each pattern; all of them share
the cell's features. Where events come with a context of their own (the hour,
the position on the page), those with equal context are grouped, and each group
is predicted by itself.
"""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.days import Outcomes
from dgd.model.held import Held
from dgd.model.multinomial import log_likelihood
from dgd.model.observation import AtNodes, integrate_groups
from dgd.model.shape import Shape


class AbstractContext(eqx.Module):
    """What every context can do: score recorded patterns, given what the nodes predict."""

    @abstractmethod
    def log_likelihood(
        self,
        patterns: Float[Array, "pattern date unit cohort"],
        nodes: AtNodes,
        dependence: Float[Array, "behavior behavior"],
        outcomes: Outcomes,
    ) -> Float[Array, "date unit cohort"]:
        """Of each cell's events; `patterns` are the probabilities of an event without context."""

    @abstractmethod
    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""


class SharedContext(AbstractContext):
    """All events of a cell are alike: counts say everything.

    .. math:: \\sum_y C(y) \\log q(y)
    """

    def log_likelihood(
        self,
        patterns: Float[Array, "pattern date unit cohort"],
        nodes: AtNodes,  # noqa: ARG002 (a part of what every context is given)
        dependence: Float[Array, "behavior behavior"],  # noqa: ARG002
        outcomes: Outcomes,
    ) -> Float[Array, "date unit cohort"]:
        return log_likelihood(patterns, outcomes.patterns)

    def held(self) -> list[Held]:
        return []


class EventContext(AbstractContext):
    r"""Every event carries its own context.

    .. math:: \sum_\nu \log q(y_\nu | x_\nu), \qquad
        \eta_h(x) = \eta_h + \beta_h^T x

    Contexts are centred on the training days, so a prediction for a whole
    cell is that of its average context.
    """

    effect: Float[Array, "context behavior"]
    """beta."""

    def log_likelihood(
        self,
        patterns: Float[Array, "pattern date unit cohort"],
        nodes: AtNodes,
        dependence: Float[Array, "behavior behavior"],
        outcomes: Outcomes,
    ) -> Float[Array, "date unit cohort"]:
        events = outcomes.events
        if events is None:
            raise TypeError("event-level training needs event groups, these outcomes have none.")
        of_context = events.context @ self.effect
        probabilities = integrate_groups(nodes, dependence, events.cell, of_context)
        of_group = log_likelihood(probabilities, events.patterns)
        cells = patterns.shape[1:]
        size = cells[0] * cells[1] * cells[2]
        return jax.ops.segment_sum(of_group, events.cell, size).reshape(cells)

    def held(self) -> list[Held]:
        return [Held("behavior", self.effect)]


CONTEXTS: dict[str, Callable[[Shape], AbstractContext]] = {
    "counts": lambda _shape: SharedContext(),
    "events": lambda shape: EventContext(jnp.asarray(np.zeros((shape.contexts, shape.behaviors)))),
}
"""Contexts by the name a setting gives their supervision, each where training starts."""
