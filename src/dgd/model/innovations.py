r"""Innovations: levels, swings and seasons that correct what the rest of the model did not expect.

The paper corrects arrivals by their innovations. Here joint patterns are corrected in the same
way, and arrivals level by level. Whatever population, features, memory, fatigue, shift and effort
predict of a day is an offset: the logit of every node of the pattern tree, the log of expected
arrivals. To it are added, for all cells together, for units, for cohorts and for single cells,

- a slow part, a random walk of first variance P and daily variance q,
- a quick part, an AR(1) of retention rho and stationary variance F,
- a seasonal part, one number for each place in the week and for each kind of special day.

At the end of a day the parts are corrected, coarse levels first, by the score R and the
information J of the cells that share them. With V the variance of the level's parts together,

.. math:: m_i' = m_i + \frac{P_i R}{1 + V J}, \qquad P_i' = P_i - \frac{P_i^2 J}{1 + V J}

where an observation of information I counts as :math:`I / (1 + I d)`: d is the variance of the
day's own shock and of all parts that are still to be corrected. So the parts share a surprise as
their variances do, and what is little known is corrected much. Ahead of an origin slow and
seasonal parts stay, quick ones fade. With variances of zero nothing is corrected.

A level is an array over units and cohorts with a single entry along the axes it pools.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model.days import Outcomes, Prediction
from dgd.model.shape import Shape

LEVELS = ("all", "cohort", "unit", "cell")
POOLED_AXES: tuple[tuple[int, ...], ...] = ((-3, -2), (-3,), (-2,), ())
"""Axes of (unit, cohort, node) that every level pools; those that pool units come first."""
SETTLING_DAYS = 7
"""First days whose counts set levels and are not scored, where there are three times as many."""
SMALLEST = 1e-300
SLIVER = 1e-12
"""No behaviour is less likely than this, nor its absence."""
PATTERN_SCALE = 0.5
"""Prior standard deviation of the logs of the patterns' variances."""
LOG_COUNTS = (-20.0, 16.0)
NEWTON_STEPS = 3
LEAST_LOG = -600.0
"""Below it an exponential would be no number of 64 bits."""
MOST_APART = 20_000
"""Levels of more cells have no seasons of their own and a slow part for every behaviour instead of
every node: single cells of so many are counted too rarely to tell more."""
UNITS = "units"
"""The axis of processes that units may be spread over."""

LEADS = (0, 2, 6)
"""Days ahead, beside the next, for which the smoothers of arrivals are weighed ..."""
LEAD_STARTS = (0, 1, 4)
"""... and the days ahead, beside the next, from which on these weights are used."""
WEIGHT_RETENTION = 0.96
"""How much of its past errors a smoother is still judged by a day later."""
LARGEST_ERROR = 2.0
"""Errors count up to so many times the mean error: a closed day says little of a smoother."""
ERROR_FLOOR = 0.02
"""Of mean arrivals: smaller errors do not tell smoothers apart."""


def settling(days: int) -> int:
    """How many of the first days set levels and are not scored."""
    return min(SETTLING_DAYS, days // 3)


class LevelState(eqx.Module):
    """Mean and variance of one level's parts of the patterns' logits; its own axes of unit and
    cohort have length one where it pools them."""

    slow: Float[Array, "date unit cohort node_or_behavior"]
    slow_variance: Float[Array, "date unit cohort node_or_behavior"]
    quick: Float[Array, "date unit cohort behavior"]
    quick_variance: Float[Array, "date unit cohort behavior"]
    season: Float[Array, "date place unit cohort behavior"]
    season_variance: Float[Array, "date place unit cohort behavior"]


class ArrivalState(eqx.Module):
    """What every smoother adds to log arrivals, and how much each is believed."""

    parts: tuple[Float[Array, "date smoother #unit #cohort _"], ...]
    """Of every level: slow, quick, then the seasonal effects."""
    weights: Float[Array, "date lead smoother"]
    days_ahead: Float[Array, " date"]
    """How many days without counts lie between the last counted day and this one."""


class InnovationState(eqx.Module):
    """What corrects arrivals and joint patterns at the beginning of each date."""

    arrivals: ArrivalState
    patterns: tuple[LevelState, ...]


class Corrections(NamedTuple):
    """What is added to log arrivals and to the logits of the pattern tree."""

    arrivals: Float[Array, "date unit cohort"]
    patterns: Float[Array, "date unit cohort node"]
    variance: Float[Array, "date unit cohort node"]
    """Of the logits: what is not known of the parts."""

    def applied(self, expected: Prediction) -> Prediction:
        r"""What is `expected` without innovations, corrected; logits are averaged over what is
        not known of them by :math:`\sigma(\eta / \sqrt{1 + \pi v / 8})`."""
        shown, lacking = of_tree(expected.patterns)
        eta = jnp.log(shown) - jnp.log(lacking) + self.patterns
        likely = jax.nn.sigmoid(eta / jnp.sqrt(1 + jnp.pi * self.variance / 8))
        arrivals = expected.arrivals * jnp.exp(self.arrivals)
        return Prediction(arrivals, joint(jnp.clip(likely, SLIVER, 1 - SLIVER)))


class Told(NamedTuple):
    """What a day's counts say of a level, each cell heard as its own scatter allows."""

    score: Float[Array, "unit cohort node"]
    """R, from where all parts stood at the beginning of the day."""
    information: Float[Array, "unit cohort node"]
    """J."""
    shown: Float[Array, "unit cohort node"]
    asked: Float[Array, "unit cohort node"]

    def after(
        self, moved: Float[Array, "#unit #cohort #node"]
    ) -> "tuple[Float[Array, 'unit cohort node'], Float[Array, 'unit cohort node']]":
        """R and J once coarser levels have `moved` the logits.

        Where a behaviour was next to impossible, a step by the slope there would lead beyond any
        rate that was seen. J is at least so large that no step leads more than one further.
        """
        score = self.score - self.information * moved
        expected = jnp.clip(self.shown - score, 0.0, self.asked)
        furthest = 1 + jnp.abs(self._logit(self.shown) - self._logit(expected))
        return score, jnp.maximum(self.information, jnp.abs(score) / furthest)

    def _logit(self, shown: Float[Array, "unit cohort node"]) -> Float[Array, "unit cohort node"]:
        return jnp.log(shown + 0.5) - jnp.log(self.asked - shown + 0.5)


class _Surprise(NamedTuple):
    """How far a day's counts lie from what was expected of them, cell by cell."""

    score: Float[Array, "unit cohort node"]
    information: Float[Array, "unit cohort node"]
    shown: Float[Array, "unit cohort node"]
    asked: Float[Array, "unit cohort node"]
    scatter: tuple[Float[Array, "unit cohort node"], ...]
    """Variance of the day's own shock and of all levels finer than each."""

    @staticmethod
    def of(
        parts: "PatternParts",
        state: tuple[LevelState, ...],
        offset: Float[Array, "#unit cohort node"],
        season: Float[Array, " place"],
        shown: Float[Array, "unit cohort node"],
        asked: Float[Array, "unit cohort node"],
    ) -> "_Surprise":
        mean, _ = parts.correction(state, season[None])
        likely = jax.nn.sigmoid(offset + mean[0])
        information = asked * likely * (1 - likely)
        scatter, finer = [], jnp.asarray(parts.shock_variance)
        for level in state[::-1]:
            scatter.append(finer)
            finer = finer + parts.correction((level,), season[None])[1][0]
        return _Surprise(shown - asked * likely, information, shown, asked, tuple(scatter[::-1]))

    def of_coarse(self, levels: tuple[int, ...]) -> tuple[Told, ...]:
        """What is said of the levels that pool units, before any has moved."""
        nothing = jnp.zeros((1, 1, 1))
        coarse = [level for level in levels if -3 in POOLED_AXES[level]]
        return tuple(self.told(n, level, nothing) for n, level in enumerate(coarse))

    def told(self, n: int, level: int, moved: Float[Array, "#unit #cohort node"]) -> Told:
        """What is said of the n-th level after coarser ones have moved expectations."""
        heard = 1 / (1 + self.information * self.scatter[n])
        score = self.score - self.information * moved
        said = (score, self.information, self.shown, self.asked)
        return Told(*(_pooled(x * heard, level) for x in said))


class PatternParts(eqx.Module):
    """Parts of the logits of the pattern tree; quick and seasonal ones are a behaviour's own.

    Every parameter is a departure from its prior value, which is the same for all tables.
    """

    first: Float[Array, " level"]
    walk: Float[Array, " level"]
    quick: Float[Array, " level"]
    retention: Float[Array, " level"]
    season: Float[Array, " level"]
    shock: Float[Array, ""]
    levels: tuple[int, ...] = eqx.field(static=True)
    """Those of `LEVELS` that the panel tells apart."""
    by_node: tuple[bool, ...] = eqx.field(static=True)
    """Whether the slow part of each level has a number for every node, or for every behaviour."""

    prior: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (-1.0, -1.5, -1.5, -3.0),
        "walk": (-8.5, -8.2, -8.5, -8.2),
        "quick": (-3.7, -3.9, -3.9, -4.3),
        "retention": (0.0, 0.3, 0.0, 0.2),
        "season": (-4.8, -7.0, -7.0, -7.5),
        "shock": (-3.5,),
    }
    """Logs of the variances, and the logit of the retention, of every level."""

    @staticmethod
    def starting(levels: tuple[int, ...], by_node: tuple[bool, ...]) -> "PatternParts":
        """Every variance and retention at its prior value."""
        one = jnp.zeros(len(levels))
        return PatternParts(one, one, one, one, one, jnp.zeros(()), levels, by_node)

    def variances(self, name: str) -> Float[Array, " level"]:
        of_level = np.asarray(self.prior[name])[list(self.levels)]
        return jnp.exp(of_level + getattr(self, name))

    @property
    def kept(self) -> Float[Array, " level"]:
        """rho."""
        of_level = np.asarray(self.prior["retention"])[list(self.levels)]
        return jax.nn.sigmoid(of_level + self.retention)

    @property
    def shock_variance(self) -> Float[Array, ""]:
        return jnp.exp(self.prior["shock"][0] + self.shock)

    def at_rest(
        self, units: int, cohorts: int, behaviors: int, places: tuple[int, ...]
    ) -> tuple[LevelState, ...]:
        """The state before the first day; every level has so many seasonal effects."""
        found = []
        names = ("first", "quick", "season")
        for n, level in enumerate(self.levels):
            cells = (1, *_own_axes(level, units, cohorts))
            first, quick, season = (self.variances(name)[n] for name in names)
            nodes = 2**behaviors - 1 if self.by_node[n] else behaviors
            slow, fast = jnp.zeros((*cells, nodes)), jnp.zeros((*cells, behaviors))
            seasons = jnp.zeros((1, places[n], *cells[1:], behaviors))
            found.append(
                LevelState(slow, slow + first, fast, fast + quick, seasons, seasons + season)
            )
        return tuple(found)

    def correction(
        self, state: tuple[LevelState, ...], season: Float[Array, "date place"]
    ) -> tuple[Float[Array, "date unit cohort node"], Float[Array, "date unit cohort node"]]:
        """The sum of all parts on days that meet `season`, and its variance."""
        mean = variance = jnp.zeros((1, 1, 1, 1))
        for part in state:
            met = season[:, : part.season.shape[1]]
            today = jnp.einsum("tp,tpucb->tucb", met, part.season)
            unsure = jnp.einsum("tp,tpucb->tucb", met**2, part.season_variance)
            nodes = 2 ** part.quick.shape[-1] - 1
            mean = mean + _of_nodes(part.slow, nodes) + _of_nodes(part.quick + today, nodes)
            fast = part.quick_variance + unsure
            variance = variance + _of_nodes(part.slow_variance, nodes) + _of_nodes(fast, nodes)
        return mean, variance

    def advance(self, state: tuple[LevelState, ...]) -> tuple[LevelState, ...]:
        """A day on, of which nothing is known."""
        walk, still, kept = self.variances("walk"), self.variances("quick"), self.kept
        return tuple(
            LevelState(
                part.slow,
                part.slow_variance + walk[n],
                kept[n] * part.quick,
                kept[n] ** 2 * part.quick_variance + (1 - kept[n] ** 2) * still[n],
                part.season,
                part.season_variance,
            )
            for n, part in enumerate(state)
        )

    def told(
        self,
        state: tuple[LevelState, ...],
        offset: Float[Array, "#unit cohort node"],
        season: Float[Array, " place"],
        shown: Float[Array, "unit cohort node"],
        asked: Float[Array, "unit cohort node"],
    ) -> "tuple[Told, ...]":
        """What the counts of a day say of the levels that pool units; sums over blocks of units
        add up."""
        return _Surprise.of(self, state, offset, season, shown, asked).of_coarse(self.levels)

    def corrected(
        self,
        state: tuple[LevelState, ...],
        offset: Float[Array, "#unit cohort node"],
        season: Float[Array, " place"],
        shown: Float[Array, "unit cohort node"],
        asked: Float[Array, "unit cohort node"],
        told: "tuple[Told, ...] | None" = None,
    ) -> tuple[LevelState, ...]:
        """The state of one day after its counts are known: of those `asked` at a node, how many
        have `shown` its behaviour. What other units say of the levels that pool them is `told`."""
        surprise = _Surprise.of(self, state, offset, season, shown, asked)
        told = surprise.of_coarse(self.levels) if told is None else told
        found, moved = [], jnp.zeros((1, 1, 1))
        for n, (level, part) in enumerate(zip(self.levels, state, strict=True)):
            if n < len(told):
                own = told[n].after(moved)
            else:
                own = surprise.told(n, level, moved).after(jnp.zeros((1, 1, 1)))
            following, step = _level_moved(part, season, *own)
            found.append(following)
            moved = moved + step
        return tuple(found)

    def log_prior(self) -> Float[Array, ""]:
        """How likely departures from the prior values are."""
        named = (self.first, self.walk, self.quick, self.retention, self.season, self.shock)
        return -sum((((x / PATTERN_SCALE) ** 2).sum() for x in named), jnp.zeros(())) / 2


class Smoothers:
    r"""A few smoothers of log arrivals side by side, each believed as its past errors allow.

    One set of variances cannot follow a timetable that never errs and a shop that is closed every
    fourth Saturday alike, and on tables of weeks no gradient tells which it is. So six sets, the
    same for all tables, are filtered together, with the covariances of a level's parts; the
    forecast is their mean, weighed by what their forecasts of daily totals were worth so far,

    .. math:: w_k \propto \exp\Big(-\frac{E_k - \min E}{b}\Big)

    E the discounted sum of a smoother's absolute errors, b its mean over days for the best one.
    """

    variances: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (-0.54, 2.2, 1.0, 0.5),
        "walk": (-6.92, -7.13, -7.74, -7.68),
        "quick": (-2.59, -6.0, -6.01, -4.92),
        "retention": (-0.56, 0.55, 0.47, 0.48),
        "season": (0.81, -2.7, -2.83, -3.17),
    }
    """Logs of the variances, and the logit of the retention, of every level. Finer levels start
    wide: the offset may be one rate for all cells, whose sizes differ by factors."""
    names: ClassVar[tuple[str, ...]] = (
        "steady",
        "restless",
        "even",
        "moving",
        "manifold",
        "plain",
    )
    speed: ClassVar[tuple[float, ...]] = (-6.0, 0.0, 0.0, -3.0, 0.0, 0.0)
    """Added to the logs of walk, quick and shock variance."""
    swing: ClassVar[tuple[float, ...]] = (0.0, 3.0, 0.0, 0.0, 0.0, 2.0)
    """Added to the logs of quick variances, and minus two thirds of it to their retention."""
    profile: ClassVar[tuple[float, ...]] = (0.0, 0.0, -2.0, 0.0, 0.0, -9.0)
    """Added to the logs of seasonal variances; not every table has a week."""
    own_profiles: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 1.5, 0.0)
    """The same for all levels but the first."""
    profile_walk: ClassVar[tuple[float, ...]] = (-9.0, -9.0, -9.0, -4.0, -9.0, -9.0)
    """Log of the daily variance of seasonal effects beside their first one."""
    shock: ClassVar[tuple[float, ...]] = (-6.0, -6.0, -3.7, -6.0, -6.0, -3.7)
    dispersion: ClassVar[tuple[float, ...]] = (6.0, 6.0, 2.3, 6.0, 6.0, 2.3)
    """Logs of the variance of a day's shock, and of r."""

    def __init__(
        self,
        levels: tuple[int, ...],
        places: tuple[int, ...],
        followed: Float[Array, " level"] | None = None,
    ) -> None:
        """Every number of every smoother, for the levels of a panel; one that is not `followed`
        (0 instead of 1) never moves."""
        of = {name: np.asarray(x)[list(levels), None] for name, x in self.variances.items()}
        speed, swing = np.asarray(self.speed), np.asarray(self.swing)
        finer = (np.asarray(levels) > 0)[:, None]
        season = np.exp(of["season"] + self.profile + finer * np.asarray(self.own_profiles))
        quick = np.exp(of["quick"] + speed + swing)
        kept = 1 / (1 + np.exp(-of["retention"] + swing * 2 / 3))
        first = np.broadcast_to(np.exp(of["first"]), quick.shape)
        seasons = np.repeat(season[..., None], max(places), -1)
        self.levels = levels
        self.places = places
        self.first = np.concatenate([first[..., None], quick[..., None], seasons], -1)
        """Variances before the first day, axes level, smoother, part."""
        self.kept = np.concatenate(
            [np.ones((*kept.shape, 1)), kept[..., None], seasons * 0 + 1], -1
        )
        walk = np.exp(of["walk"] + speed)[..., None]
        moved = seasons * np.exp(self.profile_walk)[:, None]
        self.walk = np.concatenate([walk, ((1 - kept**2) * quick)[..., None], moved], -1)
        self.shocks = np.exp(self.shock + speed)[:, None, None]
        self.inverse_dispersion = np.exp(-np.asarray(self.dispersion))[:, None, None]
        if followed is not None:
            self.first, self.walk = (x * followed[:, None, None] for x in (self.first, self.walk))

    @property
    def number(self) -> int:
        return len(self.names)

    def parts_at_rest(self, units: int, cohorts: int) -> tuple[Array, ...]:
        """Means of all parts before the first day, of every level."""
        return tuple(
            jnp.zeros((self.number, *_own_axes(level, units, cohorts), 2 + places))
            for level, places in zip(self.levels, self.places, strict=True)
        )

    def at_rest(self, units: int, cohorts: int) -> ArrivalState:
        """The state before the first day."""
        weights = jnp.full((1, len(LEADS), self.number), 1 / self.number)
        parts = tuple(x[None] for x in self.parts_at_rest(units, cohorts))
        return ArrivalState(parts, weights, jnp.zeros(1))

    def advance(self, state: ArrivalState) -> ArrivalState:
        """A day on, of which nothing is known."""
        return ArrivalState(self._faded(state.parts, 1), state.weights, state.days_ahead + 1)

    def _faded(self, parts: tuple[Array, ...], days: int) -> tuple[Array, ...]:
        """The parts of every level so many days on."""
        return tuple(
            x * (self.kept[n][:, : x.shape[-1]] ** days)[None, :, None, None]
            for n, x in enumerate(parts)
        )

    def of_each(
        self, parts: tuple[Array, ...], season: Float[Array, "date place"]
    ) -> Float[Array, "date smoother unit cohort"]:
        """What every smoother adds to log arrivals."""
        loading = _loading(season)
        own = (jnp.einsum("tkucp,tp->tkuc", x, loading[:, : x.shape[-1]]) for x in parts)
        return sum(own, jnp.zeros((1, 1, 1, 1)))

    def correction(
        self, state: ArrivalState, season: Float[Array, "date place"]
    ) -> Float[Array, "date unit cohort"]:
        """The log of the weighed mean of what the smoothers multiply arrivals by."""
        lead = (state.days_ahead[:, None] >= jnp.asarray(LEAD_STARTS)[None]).sum(-1) - 1
        chosen = jax.nn.one_hot(lead, len(LEADS))
        weights = jnp.einsum("tl,tlk->tk", chosen, state.weights)[..., None, None]
        of_each = jnp.clip(self.of_each(state.parts, season), -LOG_COUNTS[1], LOG_COUNTS[1])
        return jnp.log((weights * jnp.exp(of_each)).sum(1))

    def path(
        self,
        offset: Float[Array, "date unit cohort"],
        season: Float[Array, "date place"],
        arrivals: Float[Array, "date unit cohort"],
    ) -> ArrivalState:
        """The state at the beginning of every date, and of the day after the last."""
        first = self.at_first(*offset.shape[1:])

        def step(
            carry: tuple[tuple[Array, ...], tuple[Array, ...]], day: tuple[Array, ...]
        ) -> tuple[tuple[tuple[Array, ...], tuple[Array, ...]], tuple[Array, ...]]:
            return self.corrected(*carry, *day), carry[0]

        (last, _), path = jax.lax.scan(step, first, (offset, season, arrivals))
        parts = tuple(jnp.concatenate([x, end[None]]) for x, end in zip(path, last, strict=True))
        totals = [
            self.totals(
                tuple(x[: max(len(offset) - lead, 0)] for x in path),
                offset[lead:],
                season[lead:],
                lead,
            )
            for lead in LEADS
        ]
        weights = self.weights(totals, arrivals.sum((1, 2)))
        return ArrivalState(parts, weights, jnp.zeros(len(weights)))

    def at_first(self, units: int, cohorts: int) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Means and covariances before the first day, of every level."""
        first = self.parts_at_rest(units, cohorts)
        covariances = []
        for n, x in enumerate(first):
            parts = x.shape[-1]
            own = self.first[n][:, None, :parts] * np.eye(parts)[None]
            covariances.append(jnp.broadcast_to(own[:, None, None], (*x.shape, parts)))
        return first, tuple(covariances)

    def totals(
        self,
        parts: tuple[Array, ...],
        offset: Float[Array, "date unit cohort"],
        season: Float[Array, "date place"],
        lead: int,
    ) -> Float[Array, "date smoother"]:
        """What every smoother expects of all units, from where it stood `lead` days before."""
        eta = offset[:, None] + self.of_each(self._faded(parts, lead), season)
        return _over_processes(jnp.exp(jnp.clip(eta, *LOG_COUNTS)).sum((2, 3)))

    def weights(
        self,
        totals: Sequence[Float[Array, "_ smoother"]],
        found: Float[Array, " date"],
    ) -> Float[Array, "date_and_one lead smoother"]:
        """Of the smoothers on every date, by their totals at each of `LEADS` and those found."""
        pairs = zip(LEADS, totals, strict=True)
        return jnp.stack([self._weights(total, found, lead) for lead, total in pairs], 1)

    def corrected(
        self,
        means: tuple[Array, ...],
        covariances: tuple[Array, ...],
        offset: Float[Array, "unit cohort"],
        season: Float[Array, " place"],
        arrivals: Float[Array, "unit cohort"],
    ) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Means and covariances a day on, after the counts of the day.

        A day without any arrivals lies far from a linear correction: the parts move to the mode
        of :math:`S x - M e^x - x^2 / 2 V`, S arrivals where M were expected.
        """
        loading = _loading(season[None])[0]
        met = [loading[: x.shape[-1]] for x in covariances]
        shares = [x @ of_level for x, of_level in zip(covariances, met, strict=True)]
        own = [x @ of_level for x, of_level in zip(shares, met, strict=True)]
        eta = offset[None] + self.of_each(tuple(x[None] for x in means), season[None])[0]
        rest = sum(own, jnp.zeros((1, 1, 1)))
        moved, known = [], []
        for n, level in enumerate(self.levels):
            variance, parts = jnp.maximum(own[n], SMALLEST), len(met[n])
            kept = jnp.asarray(self.kept[n][:, None, None, :parts])
            rest = rest - variance
            mean = jnp.exp(jnp.clip(eta, *LOG_COUNTS))
            weight = 1 / (1 + mean * self.inverse_dispersion)
            weight = weight / (1 + mean * weight * (self.shocks + rest))
            counted = _pooled((arrivals[None] * weight)[..., None], level)[..., 0]
            expected = _pooled((mean * weight)[..., None], level)[..., 0]
            step, information = _mode(counted, expected, variance)
            eta = eta + step
            moved.append((means[n] + shares[n] * (step / variance)[..., None]) * kept)
            certain = information / (1 + variance * information)
            lost = shares[n][..., :, None] * shares[n][..., None, :] * certain[..., None, None]
            both = kept[..., :, None] * kept[..., None, :]
            walk = (self.walk[n][:, None, :parts] * np.eye(parts)[None])[:, None, None]
            known.append((covariances[n] - lost) * both + walk)
        return tuple(moved), tuple(known)

    def _weights(
        self,
        totals: Float[Array, "date_known_ahead smoother"],
        found: Float[Array, " date"],
        lead: int,
    ) -> Float[Array, "date_and_one smoother"]:
        """For a day `lead` days after each date."""
        days = len(found)
        settled = settling(days)
        equal = jnp.full((days + 1, self.number), 1 / self.number)
        scored = days - lead - settled
        if scored < 1:
            return equal
        errors = jnp.abs(totals[settled:] - found[settled + lead :, None])
        usual = jnp.cumsum(errors.mean(1)) / jnp.arange(1, scored + 1)
        capped = jnp.minimum(errors, LARGEST_ERROR * usual[:, None])

        def step(carry: tuple[Array, Array], error: Array) -> tuple[tuple[Array, Array], Array]:
            sums, number = carry
            sums, number = WEIGHT_RETENTION * sums + error[:-1], WEIGHT_RETENTION * number + 1
            floor = ERROR_FLOOR * error[-1]
            scale = (sums.min() + floor) / (number + 1)
            likely = jnp.exp(-(sums - sums.min()) / jnp.maximum(scale, SLIVER))
            return (sums, number), likely / likely.sum()

        busy = jnp.cumsum(found)[settled + lead :] / jnp.arange(settled + lead + 1, days + 1)
        inputs = jnp.concatenate([capped, busy[:, None]], 1)
        _, weights = jax.lax.scan(step, (jnp.zeros(self.number), jnp.zeros(())), inputs)
        return jnp.concatenate([equal[: settled + lead + 1], weights])


class Innovations(eqx.Module):
    """The parts that correct arrivals and joint patterns."""

    patterns: PatternParts
    places: tuple[int, ...] = eqx.field(static=True)
    """How many seasonal effects every level has."""
    followed: Float[Array, " level"]
    """1 for every level of arrivals; `evidence` sets one to 0 to see what it is worth."""

    @staticmethod
    def starting(shape: Shape) -> "Innovations":
        """Every variance and retention at its prior value."""
        units, cohorts = shape.all_units > 1, shape.cohorts > 1
        told_apart = (True, cohorts, units, units and cohorts)
        levels = tuple(np.flatnonzero(told_apart).tolist())
        cells = (1, shape.cohorts, shape.all_units, shape.all_units * shape.cohorts)
        few = tuple(cells[n] <= MOST_APART for n in levels)
        places = tuple(shape.places if is_few else 0 for is_few in few)
        return Innovations(PatternParts.starting(levels, few), places, jnp.ones(len(levels)))

    @property
    def smoothers(self) -> Smoothers:
        return Smoothers(self.patterns.levels, self.places, self.followed)

    def at_rest(self, units: int, cohorts: int, behaviors: int) -> InnovationState:
        """The state before the first day."""
        return InnovationState(
            self.smoothers.at_rest(units, cohorts),
            self.patterns.at_rest(units, cohorts, behaviors, self.places),
        )

    def corrections(
        self, state: InnovationState, season: Float[Array, "date place_or_new"]
    ) -> Corrections:
        """What is added on days that meet `season`; special days of a kind that was not known
        when the model was fitted are ordinary ones."""
        known = season[:, : max(self.places)]
        of_arrivals = self.smoothers.correction(state.arrivals, known)
        return Corrections(of_arrivals, *self.patterns.correction(state.patterns, known))

    def advance(self, state: InnovationState) -> InnovationState:
        """A day on, of which nothing is known but what was expected.

        Of the patterns what is not known stays as it is at the origin: a rate that hardly moves
        would else be drawn to a half by days that nobody has seen.
        """
        following = self.patterns.advance(state.patterns)
        same = tuple(
            LevelState(new.slow, old.slow_variance, new.quick, old.quick_variance, *_season_of(new))
            for new, old in zip(following, state.patterns, strict=True)
        )
        return InnovationState(self.smoothers.advance(state.arrivals), same)

    def path(
        self,
        expected: Prediction,
        season: Float[Array, "date place_or_new"],
        outcomes: Outcomes,
    ) -> InnovationState:
        """The state at the beginning of every date, and of the day after the last."""
        known = season[:, : max(self.places)]
        log_arrivals = jnp.log(jnp.maximum(expected.arrivals, SLIVER))
        return InnovationState(
            self.smoothers.path(log_arrivals, known, outcomes.arrivals),
            self._pattern_path(expected, known, outcomes),
        )

    def pattern_log_likelihood(
        self,
        expected: Prediction,
        season: Float[Array, "date place_or_new"],
        outcomes: Outcomes,
    ) -> Float[Array, " date"]:
        """log p of every day's patterns given the days before it."""
        known = season[:, : max(self.places)]
        path = self._pattern_path(expected, known, outcomes)
        before = jax.tree.map(lambda x: x[:-1], path)
        nothing = jnp.zeros(expected.arrivals.shape)
        corrections = Corrections(nothing, *self.patterns.correction(before, known))
        patterns = corrections.applied(expected).patterns
        return (outcomes.patterns * jnp.log(patterns)).sum((0, 2, 3))

    def _pattern_path(
        self, expected: Prediction, season: Float[Array, "date place"], outcomes: Outcomes
    ) -> tuple[LevelState, ...]:
        shown, lacking = of_tree(expected.patterns)
        has_shown, has_not = of_tree(outcomes.patterns)
        behaviors = outcomes.behaviors.shape[-1]
        _, units, cohorts = expected.arrivals.shape
        first = self.patterns.at_rest(units, cohorts, behaviors, self.places)

        def step(
            state: tuple[LevelState, ...], day: tuple[Array, ...]
        ) -> tuple[tuple[LevelState, ...], tuple[LevelState, ...]]:
            offset, season, shown, asked = day
            corrected = self.patterns.corrected(state, offset, season, shown, asked)
            return self.patterns.advance(corrected), state

        offset = jnp.log(shown) - jnp.log(lacking)
        days = (offset, season, has_shown, has_shown + has_not)
        last, before = jax.lax.scan(step, first, days)
        whole: tuple[LevelState, ...] = jax.tree.map(
            lambda x, end: jnp.concatenate([x[:, 0], end]), before, last
        )
        return whole

    def of_units(self, state: InnovationState, units: Int[np.ndarray, " some"]) -> InnovationState:
        """What corrects some of the units."""
        apart = [-3 not in POOLED_AXES[level] for level in self.patterns.levels]

        def some(x: Array) -> Array:
            return jnp.take(x, jnp.asarray(units), -3)

        def of_level(level: Any, apart: bool) -> Any:
            return jax.tree.map(some, level) if apart else level

        levels = tuple(map(of_level, state.patterns, apart))
        parts = tuple(map(of_level, state.arrivals.parts, apart))
        return InnovationState(replace(state.arrivals, parts=parts), levels)

    def log_prior(self) -> Float[Array, ""]:
        """How likely departures from the prior values are."""
        return self.patterns.log_prior()


def _season_of(state: LevelState) -> tuple[Array, Array]:
    return state.season, state.season_variance


def _level_moved(
    part: LevelState,
    season: Float[Array, " place"],
    score: Float[Array, "unit cohort node"],
    information: Float[Array, "unit cohort node"],
) -> tuple[LevelState, Float[Array, "unit cohort node"]]:
    """The state of a level after a day, and how far its logits have moved."""
    nodes = score.shape[-1]
    quick, slow = part.quick_variance[0], part.slow_variance[0]
    of_node = slow.shape[-1] == nodes
    met = season[: part.season.shape[1], None, None, None]
    seasonal = met * part.season_variance[0]
    fast = quick + (met * seasonal).sum(0)
    gain = 1 / (1 + information * slow) if of_node else jnp.ones_like(score)
    fast = fast if of_node else fast + slow
    said = _of_behaviors(score * gain)
    known = _of_behaviors(information * gain)
    unit, certain = said / (1 + fast * known), known / (1 + fast * known)
    of_fast = _of_nodes(fast * unit, nodes)
    if of_node:
        of_slow = slow * gain * (score - information * of_fast)
        left, step = slow * gain, of_slow + of_fast
    else:
        of_slow, left, step = slow * unit, slow - slow**2 * certain, of_fast
    following = LevelState(
        part.slow + of_slow[None],
        left[None],
        part.quick + (quick * unit)[None],
        (quick - quick**2 * certain)[None],
        part.season + (seasonal * unit[None])[None],
        part.season_variance - (seasonal**2 * certain[None])[None],
    )
    return following, step


def _own_axes(level: int, units: int, cohorts: int) -> tuple[int, int]:
    """Units and cohorts that a level tells apart."""
    pooled = POOLED_AXES[level]
    return (1 if -3 in pooled else units, 1 if -2 in pooled else cohorts)


def _pooled(x: Float[Array, "*lead unit cohort node"], level: int) -> Float[Array, "..."]:
    """Sums along the axes that a level pools."""
    if not POOLED_AXES[level]:
        return x
    here = x.sum(POOLED_AXES[level], keepdims=True)
    return _over_processes(here) if -3 in POOLED_AXES[level] else here


def _over_processes(here: Float[Array, "*total"]) -> Float[Array, "*total"]:
    """The sum of what every process has summed over its own units, where units are spread."""
    try:
        jax.lax.axis_size(UNITS)
    except NameError:
        return here
    everywhere: Array = jax.lax.psum(here, UNITS)  # type: ignore[no-untyped-call]
    return everywhere


def _mode(counted: Array, expected: Array, variance: Array) -> tuple[Array, Array]:
    r"""Where a part of variance V moves by S counts where M were expected, the x of
    :math:`x = V (S - M e^x)`, and the information that counts have there.

    :math:`w = V M e^x` solves :math:`w + \log w = \log V M + V S`, which a few of Newton's steps
    find however far S is from M.
    """
    most = variance * counted
    z = jnp.maximum(jnp.log(variance * expected) + most, LEAST_LOG)
    w = jax.nn.softplus(z)
    for _ in range(NEWTON_STEPS):
        w = w * (1 + z - jnp.log(w)) / (1 + w)
    moved = most - w
    mean = expected * jnp.exp(moved)
    moved = moved - (moved + variance * (mean - counted)) / (1 + variance * mean)
    return moved, expected * jnp.exp(moved)


def _loading(season: Float[Array, "date place"]) -> Float[Array, "date part"]:
    """How much of slow, quick and seasonal parts each date meets."""
    return jnp.concatenate([jnp.ones((len(season), 2)), season], 1)


def _of_behaviors(x: Float[Array, "*cell node"]) -> Float[Array, "*cell behavior"]:
    """Sums over the nodes of every behaviour."""
    behaviors = (x.shape[-1] + 1).bit_length() - 1
    parts = [x[..., 2**h - 1 : 2 ** (h + 1) - 1].sum(-1) for h in range(behaviors)]
    return jnp.stack(parts, -1)


def _of_nodes(x: Float[Array, "*cell node_or_behavior"], nodes: int) -> Float[Array, "*cell node"]:
    """The same number at every node of a behaviour; what every node has of its own stays."""
    if x.shape[-1] == nodes:
        return x
    behaviors = np.arange(x.shape[-1])
    return x[..., np.repeat(behaviors, 2**behaviors)]


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
