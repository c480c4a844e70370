r"""Innovations: levels, swings and seasons that correct what the rest of the model did not expect.

The paper corrects arrivals by their innovations. Here joint patterns are corrected in the same
way, and arrivals level by level. Whatever population, features, memory, fatigue, shift and effort
predict of a day is an offset: the logit of every node of the pattern tree, the log of expected
arrivals. To it are added, for all cells together, for units, for cohorts and for single cells,

- a slow part, a random walk of first variance P and daily variance q,
- a quick part, an AR(1) of retention rho and stationary variance F,
- a seasonal part, one number for each place in the week and for each kind of special day.

At the end of a day every part is corrected, coarse levels first, by the score R and the
information J that its cells hold together,

.. math:: P' = \frac{P}{1 + P J}, \qquad m' = m + P' R

where an observation of information I counts as :math:`I / (1 + I d)`: d is the variance of the
day's own shock and of all parts that are still to be corrected. So the parts share a surprise as
their variances do, and what is little known is corrected much. Ahead of an origin slow and
seasonal parts stay, quick ones fade, and all variances grow. With variances of zero nothing is
corrected.

A level is an array over units and cohorts that is constant along the axes it pools, so that all
levels are one scan over the same few operations.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from dgd.model.days import Outcomes, Prediction
from dgd.model.shape import Shape

LEVELS = ("all", "unit", "cohort", "cell")
POOLS_UNITS = np.array([True, False, True, False])
POOLS_COHORTS = np.array([True, True, False, False])
LARGEST_LOG_COUNT = 16.0
NEWTON_STEPS = 2
SLIVER = 1e-12
"""No behaviour is less likely than this, nor its absence."""
PATTERN_SCALE = 1.5
ARRIVAL_SCALE = 0.5
"""Prior standard deviation of the logs of variances."""


class PartState(eqx.Module):
    """Mean and variance of every part at the beginning of each date."""

    slow: Float[Array, "date level unit cohort node"]
    slow_variance: Float[Array, "date level unit cohort node"]
    quick: Float[Array, "date level unit cohort node"]
    quick_variance: Float[Array, "date level unit cohort node"]
    season: Float[Array, "date place level unit cohort node"]
    season_variance: Float[Array, "date place level unit cohort node"]


class InnovationState(eqx.Module):
    """What corrects arrivals and joint patterns at the beginning of each date."""

    arrivals: PartState
    patterns: PartState


class Correction(NamedTuple):
    """What is added to the offset, and its variance."""

    mean: Float[Array, "date unit cohort node"]
    variance: Float[Array, "date unit cohort node"]


class AbstractParts(eqx.Module):
    """The parts of one predicted quantity; every parameter is a departure from its prior value."""

    first: Float[Array, " level"]
    walk: Float[Array, " level"]
    quick: Float[Array, " level"]
    retention: Float[Array, " level"]
    season: Float[Array, " level"]
    shock: Float[Array, ""]
    levels: tuple[int, ...] = eqx.field(static=True)
    """Those of `LEVELS` that the panel tells apart."""

    prior: ClassVar[dict[str, tuple[float, ...]]]
    """Logs of the variances, and the logit of the retention, of every level."""

    @classmethod
    def starting(cls, units: int, cohorts: int) -> Any:
        """Every variance and retention at its prior value."""
        told_apart = (True, units > 1, cohorts > 1, units > 1 and cohorts > 1)
        levels = tuple(np.flatnonzero(told_apart).tolist())
        parameters = {
            name: jnp.zeros(() if len(prior) == 1 else len(levels))
            for name, prior in cls.prior.items()
        }
        return cls(levels=levels, **parameters)

    @abstractmethod
    def observed(
        self, eta: Float[Array, "unit cohort node"], counted: tuple[Array, ...]
    ) -> tuple[Float[Array, "unit cohort node"], Float[Array, "unit cohort node"]]:
        """Score and information of a day's counts at `eta`."""

    @abstractmethod
    def move(self, variance: Array, score: Array, information: Array) -> tuple[Array, Array]:
        """How far a part of this variance moves, and its variance after that."""

    def pooled_nodes(self, nodes: int) -> Float[Array, "node node"] | None:
        """Which nodes share quick and seasonal parts."""

    def variances(self, name: str) -> Float[Array, "1 level 1 1 1"]:
        of_level = jnp.asarray([self.prior[name][level] for level in self.levels])
        return jnp.exp(of_level + getattr(self, name))[None, :, None, None, None]

    @property
    def kept(self) -> Float[Array, "1 level 1 1 1"]:
        """rho."""
        of_level = jnp.asarray([self.prior["retention"][level] for level in self.levels])
        return jax.nn.sigmoid(of_level + self.retention)[None, :, None, None, None]

    @property
    def shock_variance(self) -> Float[Array, ""]:
        return jnp.exp(self.prior["shock"][0] + self.shock)

    def at_rest(self, places: int, cells: tuple[int, int, int]) -> PartState:
        """The state before the first day."""
        whole = (len(self.levels), *cells)
        nothing = jnp.zeros((1, *whole))
        seasons = jnp.zeros((1, places, *whole))
        return PartState(
            nothing,
            nothing + self.variances("first"),
            nothing,
            nothing + self.variances("quick"),
            seasons,
            seasons + self.variances("season")[:, None],
        )

    def correction(self, state: PartState, season: Float[Array, "date place"]) -> Correction:
        """The sum of all parts on days that meet `season`."""
        today = jnp.einsum("tp,tplucn->tucn", season, state.season)
        unsure = jnp.einsum("tp,tplucn->tucn", season**2, state.season_variance)
        return Correction(
            (state.slow + state.quick).sum(1) + today,
            (state.slow_variance + state.quick_variance).sum(1) + unsure,
        )

    def advance(self, state: PartState) -> PartState:
        """A day on, of which nothing is known."""
        kept, still = self.kept, self.variances("quick")
        return PartState(
            state.slow,
            state.slow_variance + self.variances("walk"),
            kept * state.quick,
            kept**2 * state.quick_variance + (1 - kept**2) * still,
            state.season,
            state.season_variance,
        )

    def corrected(
        self,
        state: PartState,
        offset: Float[Array, "unit cohort node"],
        season: Float[Array, " place"],
        counted: tuple[Array, ...],
    ) -> PartState:
        """The state of one day after its counts are known; arrays of `state` have one date."""
        row = (len(season) - 1) - jnp.argmax(season[::-1] > 0)
        known = state.season_variance[0, row]
        slow, quick = state.slow_variance[0], state.quick_variance[0]
        seasonal = known * (season[row] > 0)
        today = jnp.tensordot(season, state.season[0], 1)
        eta = offset + (state.slow[0] + state.quick[0] + today).sum(0)
        finer = (slow + quick + seasonal).sum(0)
        same = self.pooled_nodes(offset.shape[-1])
        pools = (jnp.asarray(x[list(self.levels)]) for x in (POOLS_UNITS, POOLS_COHORTS))

        def level(
            carry: tuple[Array, Array], parts: tuple[Array, ...]
        ) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
            eta, finer = carry
            slow, quick, seasonal, units, cohorts = parts
            finer = finer - slow - quick - seasonal

            def part(
                eta: Array, variance: Array, single: Array, common: Array, nodes: Array | None
            ) -> tuple[Array, Array, Array]:
                score, information = self.observed(eta, counted)
                heard = 1 / (1 + information * (self.shock_variance + single))
                score = _pooled(score * heard, units, cohorts, nodes)
                information = _pooled(information * heard, units, cohorts, nodes)
                shared = 1 / (1 + information * common)
                moved, after = self.move(variance, score * shared, information * shared)
                return eta + moved, moved, after

            eta, of_season, seasonal = part(eta, seasonal, finer + slow, quick, same)
            eta, of_quick, quick = part(eta, quick, finer + slow, jnp.zeros(()), same)
            eta, of_slow, slow = part(eta, slow, finer, jnp.zeros(()), None)
            return (eta, finer), (of_slow, slow, of_quick, quick, of_season, seasonal)

        _, moved = jax.lax.scan(level, (eta, finer), (slow, quick, seasonal, *pools))
        of_slow, slow, of_quick, quick, of_season, seasonal = moved
        after = jnp.where(season[row] > 0, seasonal, known)
        return PartState(
            state.slow + of_slow[None],
            slow[None],
            state.quick + of_quick[None],
            quick[None],
            state.season.at[0, row].add(of_season),
            state.season_variance.at[0, row].set(after),
        )

    def departures(self) -> Float[Array, " parameter"]:
        """How far every parameter stands from its prior value."""
        named = (self.first, self.walk, self.quick, self.retention, self.season)
        return jnp.concatenate([*named, self.shock[None]])


class PatternParts(AbstractParts):
    """Parts of the logits of the pattern tree; quick and seasonal ones are a behaviour's own."""

    prior: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (1.0, -1.5, -1.5, -2.5),
        "walk": (-7.0, -7.0, -7.0, -7.0),
        "quick": (-4.0, -4.0, -4.0, -4.0),
        "retention": (1.0, 1.0, 1.0, 1.0),
        "season": (-4.0, -np.inf, -np.inf, -np.inf),
        "shock": (-4.0,),
    }

    def observed(
        self, eta: Float[Array, "unit cohort node"], counted: tuple[Array, ...]
    ) -> tuple[Float[Array, "unit cohort node"], Float[Array, "unit cohort node"]]:
        shown, reached = counted
        likely = jax.nn.sigmoid(eta)
        return shown - reached * likely, reached * likely * (1 - likely)

    def move(self, variance: Array, score: Array, information: Array) -> tuple[Array, Array]:
        after = variance / (1 + variance * information)
        return after * score, after

    def pooled_nodes(self, nodes: int) -> Float[Array, "node node"]:
        behaviors = np.arange((nodes + 1).bit_length() - 1)
        behavior = np.repeat(behaviors, 2**behaviors)
        return jnp.asarray(behavior[:, None] == behavior[None], jnp.float64)


class ArrivalParts(AbstractParts):
    r"""Parts of the log of expected arrivals, which scatter as a negative binomial.

    A day without any arrivals lies far from a linear correction: a part moves to the mode of
    :math:`S x - M e^x - x^2 / 2 P`, S arrivals where M were expected.
    """

    dispersion: Float[Array, ""]

    prior: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (0.0, -1.0, -1.0, -1.0),
        "walk": (-5.5, -7.0, -7.0, -7.0),
        "quick": (-4.0, -6.0, -6.0, -5.0),
        "retention": (0.5, 0.5, 0.5, 0.5),
        "season": (0.5, -2.5, -2.5, -3.5),
        "shock": (-4.0,),
        "dispersion": (2.5,),
    }

    @property
    def inverse_dispersion(self) -> Float[Array, ""]:
        """1 / r."""
        return jnp.exp(-self.prior["dispersion"][0] - self.dispersion)

    def observed(
        self, eta: Float[Array, "unit cohort node"], counted: tuple[Array, ...]
    ) -> tuple[Float[Array, "unit cohort node"], Float[Array, "unit cohort node"]]:
        (arrivals,) = counted
        mean = jnp.exp(jnp.minimum(eta, LARGEST_LOG_COUNT))
        weight = 1 / (1 + mean * self.inverse_dispersion)
        return (arrivals - mean) * weight, mean * weight

    def move(self, variance: Array, score: Array, information: Array) -> tuple[Array, Array]:
        counted = score + information
        known = variance * information
        moved = known / (1 + known) * (jnp.log(counted + 0.5) - jnp.log(information + 0.5))
        for _ in range(NEWTON_STEPS):
            expected = information * jnp.exp(moved)
            moved = moved - (moved + variance * (expected - counted)) / (1 + variance * expected)
        return moved, variance / (1 + variance * information * jnp.exp(moved))

    def departures(self) -> Float[Array, " parameter"]:
        return jnp.concatenate([super().departures(), self.dispersion[None]])


def _pooled(
    x: Float[Array, "unit cohort node"],
    units: Bool[Array, ""],
    cohorts: Bool[Array, ""],
    nodes: Float[Array, "node node"] | None,
) -> Float[Array, "unit cohort node"]:
    """Sums along the axes that a level pools, at every cell of them."""
    x = jnp.where(units, jnp.broadcast_to(x.sum(0, keepdims=True), x.shape), x)
    x = jnp.where(cohorts, jnp.broadcast_to(x.sum(1, keepdims=True), x.shape), x)
    return x if nodes is None else x @ nodes


class TwoDays(NamedTuple):
    """What is added on every date, and on the date after it, as known before the date's counts."""

    today: "Corrections"
    tomorrow: "Corrections"


class Corrections(NamedTuple):
    """What is added to log arrivals and to the logits of the pattern tree."""

    arrivals: Correction
    patterns: Correction

    def applied(self, expected: Prediction) -> Prediction:
        r"""What is `expected` without innovations, corrected; logits are averaged over what is
        not known of them by :math:`\sigma(\eta / \sqrt{1 + \pi v / 8})`."""
        shown, lacking = of_tree(expected.patterns)
        eta = jnp.log(shown) - jnp.log(lacking) + self.patterns.mean
        likely = jax.nn.sigmoid(eta / jnp.sqrt(1 + jnp.pi * self.patterns.variance / 8))
        arrivals = expected.arrivals * jnp.exp(self.arrivals.mean[..., 0])
        return Prediction(arrivals, joint(jnp.clip(likely, SLIVER, 1 - SLIVER)))


class Innovations(eqx.Module):
    """The parts that correct arrivals and joint patterns."""

    arrivals: ArrivalParts
    patterns: PatternParts
    places: int = eqx.field(static=True)
    """How many seasonal effects there are."""

    @staticmethod
    def starting(shape: Shape) -> "Innovations":
        """Every variance and retention at its prior value."""
        cells = (shape.units, shape.cohorts)
        return Innovations(
            ArrivalParts.starting(*cells), PatternParts.starting(*cells), shape.places
        )

    def at_rest(self, units: int, cohorts: int, behaviors: int) -> InnovationState:
        """The state before the first day."""
        return InnovationState(
            self.arrivals.at_rest(self.places, (units, cohorts, 1)),
            self.patterns.at_rest(self.places, (units, cohorts, 2**behaviors - 1)),
        )

    def corrections(
        self, state: InnovationState, season: Float[Array, "date place_or_new"]
    ) -> Corrections:
        """What is added on days that meet `season`; special days of a kind that was not known
        when the model was fitted are ordinary ones."""
        known = season[:, : self.places]
        return Corrections(
            self.arrivals.correction(state.arrivals, known),
            self.patterns.correction(state.patterns, known),
        )

    def advance(self, state: InnovationState) -> InnovationState:
        """A day on, of which nothing is known but what was expected."""
        return InnovationState(
            self.arrivals.advance(state.arrivals), self.patterns.advance(state.patterns)
        )

    def observe(
        self,
        expected: Prediction,
        season: Float[Array, "date place_or_new"],
        outcomes: Outcomes,
        initial: InnovationState,
    ) -> tuple[TwoDays, InnovationState]:
        """Corrections of every date by the counts before it, and the state after the last."""
        following = jnp.concatenate([season[1:], season[-1:]])

        def ahead(state: InnovationState, day: Array, next_day: Array) -> TwoDays:
            tomorrow = self.corrections(self.advance(state), next_day[None])
            return TwoDays(self.corrections(state, day[None]), tomorrow)

        last, found = self._walked(expected, season, outcomes, initial, (season, following), ahead)
        return jax.tree.map(lambda x: x[:, 0], found), last

    def states(
        self,
        expected: Prediction,
        season: Float[Array, "date place_or_new"],
        outcomes: Outcomes,
        initial: InnovationState,
    ) -> InnovationState:
        """The state at the beginning of every date, and of the day after the last."""
        last, path = self._walked(expected, season, outcomes, initial, (), lambda state: state)
        return jax.tree.map(lambda x, end: jnp.concatenate([x[:, 0], end]), path, last)

    def _walked(
        self,
        expected: Prediction,
        season: Float[Array, "date place_or_new"],
        outcomes: Outcomes,
        initial: InnovationState,
        known: tuple[Array, ...],
        kept: Callable[..., PyTree],
    ) -> tuple[InnovationState, PyTree]:
        """Walk through recorded days and keep something of the state before each."""
        shown, lacking = of_tree(expected.patterns)
        has_shown, has_not = of_tree(outcomes.patterns)
        possible = jnp.maximum(expected.arrivals, SLIVER)[..., None]
        offsets = (jnp.log(possible), jnp.log(shown) - jnp.log(lacking))
        counted = (outcomes.arrivals[..., None], has_shown, has_shown + has_not)

        def step(state: InnovationState, day: tuple[Array, ...]) -> tuple[InnovationState, PyTree]:
            of_arrivals, of_patterns, season, arrivals, *tree = day[:6]
            season = season[: self.places]
            corrected = InnovationState(
                self.arrivals.corrected(state.arrivals, of_arrivals, season, (arrivals,)),
                self.patterns.corrected(state.patterns, of_patterns, season, tuple(tree)),
            )
            return self.advance(corrected), kept(state, *day[6:])

        return jax.lax.scan(step, initial, (*offsets, season, *counted, *known))

    def penalty(self, events: Array, cells: int, count_weight: float) -> Float[Array, ""]:
        """How unlikely departures from the prior values are, on the scale of the objective."""
        of_patterns = (self.patterns.departures() ** 2).sum() / (2 * PATTERN_SCALE**2 * events)
        of_arrivals = (self.arrivals.departures() ** 2).sum() / (2 * ARRIVAL_SCALE**2 * cells)
        return of_patterns + count_weight * of_arrivals


def of_tree(
    patterns: Float[Array, "pattern date unit cohort"],
) -> tuple[Float[Array, "date unit cohort node"], Float[Array, "date unit cohort node"]]:
    """What shows a node's behaviour, and what does not, of all that comes to the node."""
    behaviors = len(patterns).bit_length() - 1
    shown, lacking = [], []
    for behavior in range(behaviors):
        split = patterns.reshape(-1, 2, 2**behavior, *patterns.shape[1:]).sum(0)
        lacking.append(split[0])
        shown.append(split[1])
    return (
        jnp.moveaxis(jnp.concatenate(shown), 0, -1),
        jnp.moveaxis(jnp.concatenate(lacking), 0, -1),
    )


def joint(
    likely: Float[Array, "date unit cohort node"],
) -> Float[Array, "pattern date unit cohort"]:
    """Joint probabilities of patterns from those of every node's behaviour."""
    likely = jnp.moveaxis(likely, -1, 0)
    behaviors = (len(likely) + 1).bit_length() - 1
    patterns = jnp.ones((1, *likely.shape[1:]))
    for behavior in range(behaviors):
        here = likely[2**behavior - 1 : 2 ** (behavior + 1) - 1]
        patterns = jnp.concatenate([patterns * (1 - here), patterns * here])
    return patterns
