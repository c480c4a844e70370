r"""How far what is carried moves arrivals and behaviours between its low and its high days.

Every state adds something to the logarithm of arrivals and to the log-odds of behaviours. Its
swing is the distance between the 5th and the 95th per cent of what it adds over the recorded
days, told in per cent, :math:`100 (e^s - 1)`, for the cohort or unit in which it is largest.
All states rest at zero before the first day; the days on which that can still be seen are
left out.
"""

from collections.abc import Iterator, Sequence

import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.learning.carried_days import ENVIRONMENT
from dgd.model.crowd import Crowd
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import Signals
from dgd.model.sweep import carry_over
from dgd.panel.grids import ARRIVALS

ENDS = (0.05, 0.95)
SETTLING = 3
"""Half-lives after which the start is forgotten."""


def moves_table(
    crowds: Sequence[Crowd],
    seeds: Sequence[int],
    states: Sequence[State],
    behaviors: Sequence[str],
) -> pl.DataFrame:
    """One row per seed, state and what it moves: its swing in per cent."""
    rows = [
        (seed, name, on, _percent(np.asarray(added)))
        for seed, crowd, state in zip(seeds, crowds, states, strict=True)
        for name, kept, parts in _effects(crowd, state, behaviors)
        for on, added in zip((ARRIVALS, *behaviors), _settled(parts, kept), strict=True)
    ]
    schema = {"seed": pl.Int64, "state": pl.String, "on": pl.String, "percent": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _effects(
    crowd: Crowd, state: State, behaviors: Sequence[str]
) -> Iterator[tuple[str, float, list[Float[np.ndarray, "date _"]]]]:
    """Every state's retention, and what it adds to arrivals and to each behaviour."""
    for number, part in enumerate(crowd.feedback.carried):
        yield part.name, float(part.retention), _of_state(number, crowd, state, len(behaviors))
    factors = crowd.feedback.environment.factors()
    if factors:
        common = crowd.feedback.environment.logit_effect(state.environment)
        exponent = np.asarray(state.environment.exponent)
        of_all = np.zeros((len(exponent), len(behaviors))) if common is None else np.asarray(common)
        moved = [exponent, *(of_all[:, h, None] for h in range(len(behaviors)))]
        yield ENVIRONMENT, float(factors[f"{ENVIRONMENT} retention"]), moved


def _of_state(
    number: int, crowd: Crowd, state: State, behaviors: int
) -> list[Float[np.ndarray, "date cohort"]]:
    """What a state adds by itself, and by way of those that it feeds: fatigue moves the shift."""
    part, *later = crowd.feedback.carried[number:]
    total = _added(part, crowd, state.carried[part.name], behaviors)
    for fed in later:
        through = _added(fed, crowd, _fed_by(part, fed, crowd, state), behaviors)
        total = [own + more for own, more in zip(total, through, strict=True)]
    return total


def _added(
    part: AbstractCarriedState,
    crowd: Crowd,
    carried: Float[Array, "date cohort ..."],
    behaviors: int,
) -> list[Float[np.ndarray, "date cohort"]]:
    """What a state of these values adds to arrivals and to each behaviour."""
    shape = carried.shape[:2]
    logits = part.logit_effect(carried)
    total = np.zeros((*shape, behaviors)) if logits is None else np.asarray(logits)
    arrivals = np.zeros(shape)
    moved = part.propensity_effect(carried)
    if moved is not None:
        arrivals = np.asarray(moved @ crowd.arrival.loading)
        total = total + np.asarray(moved @ crowd.response.loading.T)
    return [arrivals, *np.moveaxis(total, -1, 0)]


def _fed_by(
    part: AbstractCarriedState, fed: AbstractCarriedState, crowd: Crowd, state: State
) -> Float[Array, "date cohort ..."]:
    """The part of a later state that an earlier one has put into it, days carried over.

    What a day adds is linear in the states before it, so the difference to a day on which
    `part` stood at nothing is the same whatever else the day told.
    """
    reference = crowd.reference
    days = {name: path[1:] for name, path in state.carried.items()}
    nothing = {name: jnp.zeros_like(path) for name, path in days.items()}
    dates, cohorts = days[part.name].shape[:2]
    rates = jnp.broadcast_to(reference.rates, (dates, *reference.rates.shape))
    quiet = Signals(rates, jnp.zeros((dates, cohorts)))
    pushed = fed.input(quiet, {**nothing, part.name: days[part.name]}, reference)
    pushed = pushed - fed.input(quiet, nothing, reference)
    return carry_over(fed.retention, jnp.zeros_like(state.carried[fed.name][:1]), pushed)


def _settled(
    parts: list[Float[np.ndarray, "date _"]], kept: float
) -> Iterator[Float[np.ndarray, "later_date _"]]:
    """The days after the start is forgotten, half of all days at least."""
    days = len(parts[0])
    left = min(int(np.ceil(SETTLING * half_life(kept))), days // 2)
    return (part[left:] for part in parts)


def half_life(kept: float) -> float:
    """Days after which half of what was carried is left."""
    return float(np.log(0.5) / np.log(kept)) if 0 < kept < 1 else 0.0


def _percent(added: Float[np.ndarray, "date _"]) -> float:
    low, high = np.quantile(added, ENDS, axis=0)
    return float(100 * np.expm1((high - low).max()))
