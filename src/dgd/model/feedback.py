"""What the crowd carries from one day to the next.

Recorded outcomes (or, in a forecast, expected ones) become signals; signals
move memory, fatigue, the response shift and the arrival environment.
"""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

RATE_SMOOTHING = 2.0
"""How many arrivals at the reference rate are added when rates are taken."""


class Reference(eqx.Module):
    """What was measured before training and stays fixed."""

    log_baseline: Float[Array, "unit cohort"]
    """Baseline log-intensity per person."""
    rates: Float[Array, "cohort behavior"]
    """v0: reference behaviour rates."""
    size: Float[Array, " cohort"]
    """n_ref: the largest reference size of the cohort across units."""


class State(eqx.Module):
    """The crowd at the beginning of each date."""

    shift: Float[Array, "date cohort dim"]
    """delta: how far feedback has moved the cohort's propensities."""
    memory: Float[Array, "date cohort behavior"]
    """m: remembered behaviour rates, in [0, 1]."""
    fatigue: Float[Array, "date cohort"]
    """f: accumulated contact, in [0, 1]."""
    common: Float[Array, " date"]
    """z: the arrival environment all units share."""
    unit: Float[Array, "date unit"]
    """c: each unit's departure from it; sums to zero."""

    @staticmethod
    def zero(units: int, cohorts: int, behaviors: int, dim: int) -> "State":
        """The state before the first day."""
        return State(
            shift=jnp.zeros((1, cohorts, dim)),
            memory=jnp.zeros((1, cohorts, behaviors)),
            fatigue=jnp.zeros((1, cohorts)),
            common=jnp.zeros(1),
            unit=jnp.zeros((1, units)),
        )


class Signals(NamedTuple):
    """What a day's outcomes tell each cohort."""

    rates: Float[Array, "date cohort behavior"]
    """v: smoothed behaviour rates."""
    dose: Float[Array, "date cohort"]
    """o: contacts per reference person."""


class Innovation(NamedTuple):
    """How far arrivals departed from their prediction, in logs."""

    mean: Float[Array, " date"]
    departure: Float[Array, "date unit"]


def signals(
    arrivals: Float[Array, "date unit cohort"],
    behaviors: Float[Array, "date unit cohort behavior"],
    reference: Reference,
) -> Signals:
    r"""Rates and dose of each cohort, summed over units.

    .. math:: v = \frac{\sum_j Y + 2 v^0}{\sum_j N + 2}, \qquad
        o = \frac{\sum_j N}{\max(1, n_{ref})}
    """
    contacts = arrivals.sum(1)
    shown = behaviors.sum(1) + RATE_SMOOTHING * reference.rates[None]
    rates = shown / (contacts + RATE_SMOOTHING)[..., None]
    return Signals(rates, contacts / jnp.maximum(1.0, reference.size)[None])


def innovation(
    arrivals: Float[Array, "date unit"],
    expected: Float[Array, "date unit"],
    active: Float[Array, "date unit"],
) -> Innovation:
    r"""xi = log(1 + N) - log(1 + Nhat), its mean over active units, and departures from it."""
    log_ratio = jnp.log1p(arrivals) - jnp.log1p(expected)
    mean = (active * log_ratio).sum(-1) / jnp.maximum(1.0, active.sum(-1))
    return Innovation(mean, active * (log_ratio - mean[:, None]))


class AbstractFeedback(eqx.Module):
    """What every feedback can do: say how much each state keeps and what a day adds to it."""

    @property
    @abstractmethod
    def memory_retention(self) -> Float[Array, ""]:
        """rho_m."""

    @property
    @abstractmethod
    def fatigue_retention(self) -> Float[Array, ""]:
        """rho_f."""

    @property
    @abstractmethod
    def shift_retention(self) -> Float[Array, ""]:
        """rho_delta."""

    @abstractmethod
    def memory_input(self, signal: Signals) -> Float[Array, "date cohort behavior"]:
        """What a day adds to memory."""

    @abstractmethod
    def fatigue_input(self, signal: Signals) -> Float[Array, "date cohort"]:
        """What a day adds to fatigue."""

    @abstractmethod
    def shift_input(
        self, signal: Signals, fatigue: Float[Array, "date cohort"], reference: Reference
    ) -> Float[Array, "date cohort dim"]:
        """What a day adds to the shift; `fatigue` is already updated by the same signal."""

    @abstractmethod
    def next_environment(
        self, common: Float[Array, " date"], unit: Float[Array, "date unit"], surprise: Innovation
    ) -> tuple[Float[Array, " date"], Float[Array, "date unit"]]:
        """The arrival states z and c a day later."""

    @abstractmethod
    def strongest_push(self) -> Float[Array, ""]:
        """M_B: more than any day can add to a coordinate of the shift."""

    @abstractmethod
    def coefficients(self) -> list[Array]:
        """The coefficients that the regulariser holds."""

    def next_response(
        self, state: State, signal: Signals, reference: Reference
    ) -> tuple[Array, Array, Array]:
        r"""Shift, memory and fatigue a day later.

        .. math::
            m' = \rho_m m + (1-\rho_m) v, \quad f' = \rho_f f + (1-\rho_f)(1 - e^{-o}), \quad
            \delta' = \rho_\delta \delta + B^T (v - v^0) - f' b_f
        """
        memory = self.memory_retention * state.memory + self.memory_input(signal)
        fatigue = self.fatigue_retention * state.fatigue + self.fatigue_input(signal)
        shift = self.shift_retention * state.shift + self.shift_input(signal, fatigue, reference)
        return shift, memory, fatigue

    def advance(
        self,
        state: State,
        arrivals: Float[Array, "date unit cohort"],
        behaviors: Float[Array, "date unit cohort behavior"],
        expected_arrivals: Float[Array, "date unit cohort"],
        active: Float[Array, "date unit"],
        reference: Reference,
    ) -> State:
        """One day on: recorded counts give observed feedback, expected ones expected feedback."""
        signal = signals(arrivals, behaviors, reference)
        shift, memory, fatigue = self.next_response(state, signal, reference)
        surprise = innovation(arrivals.sum(-1), expected_arrivals.sum(-1), active)
        common, unit = self.next_environment(state.common, state.unit, surprise)
        return State(shift, memory, fatigue, common, unit)


class Feedback(AbstractFeedback):
    """Feedback with learned factors; every factor lies in (0, 1) through a sigmoid."""

    raw_memory_retention: Float[Array, ""]
    raw_fatigue_retention: Float[Array, ""]
    raw_shift_retention: Float[Array, ""]
    raw_environment_retention: Float[Array, ""]
    raw_common_gain: Float[Array, ""]
    raw_unit_gain: Float[Array, ""]
    rate_response: Float[Array, "behavior dim"]
    """B: shift per unit of behaviour rate above its reference."""
    fatigue_response: Float[Array, " dim"]
    """b_f: shift away per unit of fatigue."""

    @property
    def memory_retention(self) -> Float[Array, ""]:
        """rho_m."""
        return jax.nn.sigmoid(self.raw_memory_retention)

    @property
    def fatigue_retention(self) -> Float[Array, ""]:
        """rho_f."""
        return jax.nn.sigmoid(self.raw_fatigue_retention)

    @property
    def shift_retention(self) -> Float[Array, ""]:
        """rho_delta."""
        return jax.nn.sigmoid(self.raw_shift_retention)

    @property
    def environment_retention(self) -> Float[Array, ""]:
        """rho_z."""
        return jax.nn.sigmoid(self.raw_environment_retention)

    @property
    def common_gain(self) -> Float[Array, ""]:
        """kappa_z."""
        return jax.nn.sigmoid(self.raw_common_gain)

    @property
    def unit_gain(self) -> Float[Array, ""]:
        """kappa_c."""
        return jax.nn.sigmoid(self.raw_unit_gain)

    def memory_input(self, signal: Signals) -> Float[Array, "date cohort behavior"]:
        return (1.0 - self.memory_retention) * signal.rates

    def fatigue_input(self, signal: Signals) -> Float[Array, "date cohort"]:
        return (1.0 - self.fatigue_retention) * -jnp.expm1(-signal.dose)

    def shift_input(
        self, signal: Signals, fatigue: Float[Array, "date cohort"], reference: Reference
    ) -> Float[Array, "date cohort dim"]:
        """`fatigue` is the day's own, already updated by the same signal."""
        excess = signal.rates - reference.rates[None]
        return excess @ self.rate_response - fatigue[..., None] * self.fatigue_response[None, None]

    def next_environment(
        self, common: Float[Array, " date"], unit: Float[Array, "date unit"], surprise: Innovation
    ) -> tuple[Float[Array, " date"], Float[Array, "date unit"]]:
        r"""z' = rho_z z + kappa_z mean(xi);  c' = rho_z c + kappa_c (xi - mean), then centred."""
        common = self.environment_retention * common + self.common_gain * surprise.mean
        unit = self.environment_retention * unit + self.unit_gain * surprise.departure
        return common, unit - unit.mean(-1, keepdims=True)

    def strongest_push(self) -> Float[Array, ""]:
        r"""max_l sum_h |B_hl| + max |b_f|: rates depart by at most one, fatigue is at most one."""
        by_rates = jnp.abs(self.rate_response).sum(0).max()
        return by_rates + jnp.abs(self.fatigue_response).max()

    def coefficients(self) -> list[Array]:
        return [self.rate_response, self.fatigue_response]


class WithoutFeedback(AbstractFeedback):
    """Nothing is carried from day to day: every state stays at zero."""

    dim: int = eqx.field(static=True)

    @property
    def memory_retention(self) -> Float[Array, ""]:
        return jnp.asarray(0.5)

    @property
    def fatigue_retention(self) -> Float[Array, ""]:
        return jnp.asarray(0.5)

    @property
    def shift_retention(self) -> Float[Array, ""]:
        return jnp.asarray(0.5)

    def memory_input(self, signal: Signals) -> Float[Array, "date cohort behavior"]:
        return jnp.zeros_like(signal.rates)

    def fatigue_input(self, signal: Signals) -> Float[Array, "date cohort"]:
        return jnp.zeros_like(signal.dose)

    def shift_input(
        self, signal: Signals, _fatigue: Float[Array, "date cohort"], _reference: Reference
    ) -> Float[Array, "date cohort dim"]:
        return jnp.zeros((*signal.dose.shape, self.dim))

    def next_environment(
        self, common: Float[Array, " date"], unit: Float[Array, "date unit"], _surprise: Innovation
    ) -> tuple[Float[Array, " date"], Float[Array, "date unit"]]:
        return jnp.zeros_like(common), jnp.zeros_like(unit)

    def strongest_push(self) -> Float[Array, ""]:
        return jnp.asarray(0.0)

    def coefficients(self) -> list[Array]:
        return []
