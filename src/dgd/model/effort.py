"""Effort: how many people a day's work reaches.

Contact is tried with an effort: messages sent, places on a page, hours open. The paper lets
arrivals rise in proportion to it. Often they do not: twice the messages reach the same people
again, and at some point everybody has been reached. How arrivals answer is learned where effort
varied, and is an assumption where it never did.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree
from scipy.special import expit

from dgd.model.held import Held


class EffortCurve(NamedTuple):
    """The response of every cohort as plain numbers."""

    elasticity: Float[np.ndarray, " cohort"]
    """epsilon."""
    saturation: Float[np.ndarray, " cohort"]
    """kappa."""
    usual: Float[np.ndarray, " cohort"]
    """e_0: the effort that reaches as many as it is."""

    def relative(
        self, effort: Float[np.ndarray, "*axes cohort"]
    ) -> Float[np.ndarray, "*axes cohort"]:
        """Reached effort as a multiple of the usual one."""
        raised = np.where(effort > 0, (effort / self.usual) ** self.elasticity, 0.0)
        return np.asarray((1 + self.saturation) * raised / (1 + self.saturation * raised))

    def refuse_impossible(self) -> None:
        """Refuse numbers that no training leaves behind."""
        if not (np.all(self.usual > 0) and np.all(self.saturation >= 0)):
            raise ValueError("effort.usual is not above 0, or effort.saturation below it")

    @staticmethod
    def proportional(cohorts: int) -> "EffortCurve":
        """Reached effort is effort itself."""
        one = np.ones(cohorts)
        return EffortCurve(one, np.zeros(cohorts), one)

    @staticmethod
    def mean(curves: Sequence["EffortCurve"]) -> "EffortCurve":
        """The elasticities' mean over seeds; the rest was measured before any seed was trained."""
        elasticity = np.mean([curve.elasticity for curve in curves], axis=0)
        return curves[0]._replace(elasticity=elasticity)


class AbstractEffortResponse(eqx.Module):
    """What every response can do: say how much of an effort takes effect."""

    @abstractmethod
    def reached(self, effort: Float[Array, "date unit cohort"]) -> Float[Array, "date unit cohort"]:
        """The effort that proportional contact would need to reach as many."""

    @abstractmethod
    def curve(self, cohorts: int) -> EffortCurve:
        """The same as plain numbers of each of the `cohorts`."""

    @abstractmethod
    def learned(self, cohorts: int) -> Bool[np.ndarray, " cohort"]:
        """False where proportional contact is an assumption."""

    @abstractmethod
    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""

    @abstractmethod
    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""


class Proportional(AbstractEffortResponse):
    """Twice the effort reaches twice as many, as in the paper."""

    def reached(self, effort: Float[Array, "date unit cohort"]) -> Float[Array, "date unit cohort"]:
        return effort

    def curve(self, cohorts: int) -> EffortCurve:
        return EffortCurve.proportional(cohorts)

    def learned(self, cohorts: int) -> Bool[np.ndarray, " cohort"]:
        return np.zeros(cohorts, bool)

    def trainable(self) -> PyTree[bool]:
        return self

    def held(self) -> list[Held]:
        return []


class Elastic(AbstractEffortResponse):
    r"""Contact that rises less than effort does, and may saturate.

    .. math:: \mathrm{reached}(e) = e_0 \frac{(1 + \kappa) x^\epsilon}{1 + \kappa x^\epsilon},
        \qquad x = e / e_0, \quad \epsilon = \mathrm{sigmoid}(\mathtt{raw\_elasticity})

    The usual effort reaches itself, so baselines mean what they mean elsewhere; no effort
    reaches nobody. With epsilon 1 and kappa 0 contact is proportional. Elasticity is trained;
    saturation, usual effort, and where effort varied at all, were measured beforehand.
    """

    raw_elasticity: Float[Array, " cohort"]
    saturation: Float[Array, " cohort"]
    """kappa, 0 or more."""
    usual: Float[Array, " cohort"]
    """e_0: the mean positive effort of the training days."""
    varied: Bool[Array, " cohort"]
    """Where effort never varied nothing is learned: contact stays proportional."""

    @property
    def elasticity(self) -> Float[Array, " cohort"]:
        """epsilon, 1 where nothing is learned."""
        return jnp.where(self.varied, jax.nn.sigmoid(self.raw_elasticity), 1.0)

    def reached(self, effort: Float[Array, "date unit cohort"]) -> Float[Array, "date unit cohort"]:
        usual, saturation = self.usual[None, None], self.saturation[None, None]
        tried = effort > 0
        # the logarithm of nothing has no gradient: where nothing was tried it is never taken
        logarithm = jnp.log(jnp.where(tried, effort, usual) / usual)
        raised = jnp.exp(self.elasticity[None, None] * logarithm)
        found = usual * (1.0 + saturation) * raised / (1.0 + saturation * raised)
        return jnp.where(self.varied[None, None], jnp.where(tried, found, 0.0), effort)

    def curve(self, cohorts: int) -> EffortCurve:  # noqa: ARG002 (a part of what all are asked)
        elasticity = np.where(self.varied, expit(np.asarray(self.raw_elasticity)), 1.0)
        return EffortCurve(elasticity, np.asarray(self.saturation), np.asarray(self.usual))

    def learned(self, cohorts: int) -> Bool[np.ndarray, " cohort"]:  # noqa: ARG002
        return np.asarray(self.varied)

    def trainable(self) -> PyTree[bool]:
        nothing = jax.tree.map(lambda _: False, self)
        return eqx.tree_at(lambda part: part.raw_elasticity, nothing, replace=True)

    def held(self) -> list[Held]:
        return []
