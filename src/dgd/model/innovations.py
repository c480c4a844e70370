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

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.days import Outcomes, Prediction
from dgd.model.shape import Shape

LEVELS = ("all", "unit", "cohort", "cell")
POOLED_AXES: tuple[tuple[int, ...], ...] = ((-3, -2), (-2,), (-3,), ())
"""Axes of (unit, cohort, node) that every level pools."""
SETTLING_DAYS = 7
"""First days whose counts set levels and are not scored, where there are three times as many."""
SLIVER = 1e-12
"""No behaviour is less likely than this, nor its absence."""
PATTERN_SCALE = 1.0
"""Prior standard deviation of the logs of the patterns' variances."""
LOG_COUNTS = (-20.0, 16.0)
NEWTON_STEPS = 2

LEADS = (0, 2, 6)
"""Days ahead, beside the next, for which the smoothers of arrivals are weighed ..."""
LEAD_STARTS = (0, 1, 4)
"""... and the days ahead, beside the next, from which on these weights are used."""
WEIGHT_RETENTION = 0.98
"""How much of its past errors a smoother is still judged by a day later."""
LARGEST_ERROR = 2.0
"""Errors count up to so many times the mean error: a closed day says little of a smoother."""
ERROR_FLOOR = 0.02
"""Of mean arrivals: smaller errors do not tell smoothers apart."""


class LevelState(eqx.Module):
    """Mean and variance of one level's parts of the patterns' logits; its own axes of unit and
    cohort have length one where it pools them."""

    slow: Float[Array, "date unit cohort node"]
    slow_variance: Float[Array, "date unit cohort node"]
    quick: Float[Array, "date unit cohort behavior"]
    quick_variance: Float[Array, "date unit cohort behavior"]
    season: Float[Array, "date place unit cohort behavior"]
    season_variance: Float[Array, "date place unit cohort behavior"]


class ArrivalState(eqx.Module):
    """What every smoother adds to log arrivals, and how much each is believed."""

    parts: tuple[Float[Array, "date smoother #unit #cohort part"], ...]
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

    prior: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (-1.0, -1.5, -1.5, -3.0),
        "walk": (-8.5, -8.5, -8.2, -8.2),
        "quick": (-3.7, -3.9, -3.9, -4.3),
        "retention": (0.0, 0.0, 0.3, 0.2),
        "season": (-4.8, -7.0, -7.0, -7.5),
        "shock": (-3.5,),
    }
    """Logs of the variances, and the logit of the retention, of every level."""

    @staticmethod
    def starting(levels: tuple[int, ...]) -> "PatternParts":
        """Every variance and retention at its prior value."""
        one = jnp.zeros(len(levels))
        return PatternParts(one, one, one, one, one, jnp.zeros(()), levels)

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
        self, units: int, cohorts: int, behaviors: int, places: int
    ) -> tuple[LevelState, ...]:
        """The state before the first day."""
        nodes = 2**behaviors - 1
        found = []
        names = ("first", "quick", "season")
        for n, level in enumerate(self.levels):
            cells = (1, *_own_axes(level, units, cohorts))
            first, quick, season = (self.variances(name)[n] for name in names)
            slow, fast = jnp.zeros((*cells, nodes)), jnp.zeros((*cells, behaviors))
            seasons = jnp.zeros((1, places, *cells[1:], behaviors))
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
            today = jnp.einsum("tp,tpucb->tucb", season, part.season)
            unsure = jnp.einsum("tp,tpucb->tucb", season**2, part.season_variance)
            mean = mean + part.slow + _of_nodes(part.quick + today)
            variance = variance + part.slow_variance + _of_nodes(part.quick_variance + unsure)
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

    def corrected(
        self,
        state: tuple[LevelState, ...],
        offset: Float[Array, "unit cohort node"],
        season: Float[Array, " place"],
        shown: Float[Array, "unit cohort node"],
        asked: Float[Array, "unit cohort node"],
    ) -> tuple[LevelState, ...]:
        """The state of one day after its counts are known: of those `asked` at a node, how many
        have `shown` its behaviour."""
        mean, rest = (x[0] for x in self.correction(state, season[None]))
        likely = jax.nn.sigmoid(offset + mean)
        information = asked * likely * (1 - likely)
        score = shown - asked * likely
        place = season[:, None, None, None]
        found = []
        for level, part in zip(self.levels, state, strict=True):
            slow, quick = part.slow_variance[0], part.quick_variance[0]
            seasonal = place * part.season_variance[0]
            fast = quick + (place * seasonal).sum(0)
            rest = rest - slow - _of_nodes(fast)
            heard = 1 / (1 + information * (self.shock_variance + rest))
            own_score = _pooled(score * heard, level)
            own_information = _pooled(information * heard, level)
            gain = 1 / (1 + own_information * slow)
            told = _of_behaviors(own_score * gain)
            known = _of_behaviors(own_information * gain)
            unit = told / (1 + fast * known)
            certain = known / (1 + fast * known)
            of_fast = _of_nodes(fast * unit)
            of_slow = slow * gain * (own_score - own_information * of_fast)
            found.append(
                LevelState(
                    part.slow + of_slow[None],
                    (slow * gain)[None],
                    part.quick + (quick * unit)[None],
                    (quick - quick**2 * certain)[None],
                    part.season + (seasonal * unit[None])[None],
                    part.season_variance - (seasonal**2 * certain[None])[None],
                )
            )
            score = score - information * (of_slow + of_fast)
        return tuple(found)

    def log_prior(self) -> Float[Array, ""]:
        """How likely departures from the prior values are."""
        named = (self.first, self.walk, self.quick, self.retention, self.season, self.shock)
        return -sum((((x / PATTERN_SCALE) ** 2).sum() for x in named), jnp.zeros(())) / 2


class Smoothers:
    r"""A few smoothers of log arrivals side by side, each believed as its past errors allow.

    One set of variances cannot follow a timetable that never errs and a shop that is closed every
    fourth Saturday alike, and on tables of weeks no gradient tells which it is. So five sets, the
    same for all tables, are filtered together, with the covariances of a level's parts; the
    forecast is their mean, weighed by what their forecasts of daily totals were worth so far,

    .. math:: w_k \propto \exp\Big(-\frac{E_k - \min E}{b}\Big)

    E the discounted sum of a smoother's absolute errors, b its mean over days for the best one.
    """

    variances: ClassVar[dict[str, tuple[float, ...]]] = {
        "first": (-0.54, -1.05, -1.84, -1.73),
        "walk": (-6.92, -7.74, -7.13, -7.68),
        "quick": (-2.59, -6.01, -6.0, -4.92),
        "retention": (-0.56, 0.47, 0.55, 0.48),
        "season": (0.81, -2.83, -2.7, -3.17),
    }
    """Logs of the variances, and the logit of the retention, of every level."""
    names: ClassVar[tuple[str, ...]] = ("steady", "restless", "even", "moving", "manifold")
    speed: ClassVar[tuple[float, ...]] = (-6.0, 0.0, 0.0, -3.0, 0.0)
    """Added to the logs of walk, quick and shock variance."""
    swing: ClassVar[tuple[float, ...]] = (0.0, 3.0, 0.0, 0.0, 0.0)
    """Added to the logs of quick variances, and minus two thirds of it to their retention."""
    profile: ClassVar[tuple[float, ...]] = (0.0, 0.0, -2.0, 0.0, 0.0)
    """Added to the logs of seasonal variances."""
    own_profiles: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 1.5)
    """The same for all levels but the first."""
    profile_walk: ClassVar[tuple[float, ...]] = (-9.0, -9.0, -9.0, -4.0, -9.0)
    """Log of the daily variance of seasonal effects beside their first one."""
    shock: ClassVar[tuple[float, ...]] = (-6.0, -6.0, -3.7, -6.0, -6.0)
    dispersion: ClassVar[tuple[float, ...]] = (6.0, 6.0, 2.3, 6.0, 6.0)
    """Logs of the variance of a day's shock, and of r."""

    def __init__(self, levels: tuple[int, ...], places: int) -> None:
        """Every number of every smoother, for the levels of a panel."""
        of = {name: np.asarray(x)[list(levels), None] for name, x in self.variances.items()}
        speed, swing = np.asarray(self.speed), np.asarray(self.swing)
        finer = (np.asarray(levels) > 0)[:, None]
        season = np.exp(of["season"] + self.profile + finer * np.asarray(self.own_profiles))
        quick = np.exp(of["quick"] + speed + swing)
        kept = 1 / (1 + np.exp(-of["retention"] + swing * 2 / 3))
        first = np.broadcast_to(np.exp(of["first"]), quick.shape)
        seasons = np.repeat(season[..., None], places, -1)
        self.levels = levels
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

    @property
    def number(self) -> int:
        return len(self.names)

    def parts_at_rest(self, units: int, cohorts: int) -> tuple[Array, ...]:
        """Means of all parts before the first day, of every level."""
        parts = self.first.shape[-1]
        return tuple(
            jnp.zeros((self.number, *_own_axes(level, units, cohorts), parts))
            for level in self.levels
        )

    def at_rest(self, units: int, cohorts: int) -> ArrivalState:
        """The state before the first day."""
        weights = jnp.full((1, len(LEADS), self.number), 1 / self.number)
        parts = tuple(x[None] for x in self.parts_at_rest(units, cohorts))
        return ArrivalState(parts, weights, jnp.zeros(1))

    def advance(self, state: ArrivalState) -> ArrivalState:
        """A day on, of which nothing is known."""
        faded = tuple(x * self.kept[n][None, :, None, None] for n, x in enumerate(state.parts))
        return ArrivalState(faded, state.weights, state.days_ahead + 1)

    def of_each(
        self, parts: tuple[Array, ...], season: Float[Array, "date place"]
    ) -> Float[Array, "date smoother unit cohort"]:
        """What every smoother adds to log arrivals."""
        loading = _loading(season)
        return sum(
            (jnp.einsum("tkucp,tp->tkuc", x, loading) for x in parts), jnp.zeros((1, 1, 1, 1))
        )

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
        first = self.parts_at_rest(*offset.shape[1:])
        covariances = tuple(
            jnp.broadcast_to(
                (self.first[n][:, None] * np.eye(self.first.shape[-1]))[:, None, None],
                (*x.shape, x.shape[-1]),
            )
            for n, x in enumerate(first)
        )

        def step(
            carry: tuple[tuple[Array, ...], tuple[Array, ...]], day: tuple[Array, ...]
        ) -> tuple[tuple[tuple[Array, ...], tuple[Array, ...]], tuple[Array, ...]]:
            return self._corrected(*carry, *day), carry[0]

        (last, _), path = jax.lax.scan(step, (first, covariances), (offset, season, arrivals))
        parts = tuple(jnp.concatenate([x, end[None]]) for x, end in zip(path, last, strict=True))
        weights = jnp.stack(
            [self._weights(parts, offset, season, arrivals, lead) for lead in LEADS], 1
        )
        return ArrivalState(parts, weights, jnp.zeros(len(weights)))

    def _corrected(
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
        shares = [x @ loading for x in covariances]
        own = [x @ loading for x in shares]
        eta = offset[None] + self.of_each(tuple(x[None] for x in means), season[None])[0]
        rest = sum(own, jnp.zeros((1, 1, 1)))
        moved, known = [], []
        for n, level in enumerate(self.levels):
            variance, kept = own[n], jnp.asarray(self.kept[n][:, None, None])
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
            walk = (self.walk[n][:, None] * np.eye(len(loading)))[:, None, None]
            known.append((covariances[n] - lost) * both + walk)
        return tuple(moved), tuple(known)

    def _weights(
        self,
        parts: tuple[Array, ...],
        offset: Float[Array, "date unit cohort"],
        season: Float[Array, "date place"],
        arrivals: Float[Array, "date unit cohort"],
        lead: int,
    ) -> Float[Array, "date_and_one smoother"]:
        """Of the smoothers on every date, for a day `lead` days after it."""
        days = len(offset)
        settled = min(SETTLING_DAYS, days // 3)
        equal = jnp.full((days + 1, self.number), 1 / self.number)
        scored = days - lead - settled
        if scored < 1:
            return equal
        faded = tuple(
            x[settled : days - lead] * (self.kept[n] ** lead)[None, :, None, None]
            for n, x in enumerate(parts)
        )
        eta = offset[settled + lead :, None] + self.of_each(faded, season[settled + lead :])
        total, found = jnp.exp(jnp.clip(eta, *LOG_COUNTS)).sum((2, 3)), arrivals.sum((1, 2))
        errors = jnp.abs(total - found[settled + lead :, None])
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
    places: int = eqx.field(static=True)
    """How many seasonal effects there are."""

    @staticmethod
    def starting(shape: Shape) -> "Innovations":
        """Every variance and retention at its prior value."""
        units, cohorts = shape.units > 1, shape.cohorts > 1
        told_apart = (True, units, cohorts, units and cohorts)
        levels = tuple(np.flatnonzero(told_apart).tolist())
        return Innovations(PatternParts.starting(levels), shape.places)

    @property
    def smoothers(self) -> Smoothers:
        return Smoothers(self.patterns.levels, self.places)

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
        known = season[:, : self.places]
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
        known = season[:, : self.places]
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
        known = season[:, : self.places]
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
            return self.patterns.advance(self.patterns.corrected(state, *day)), state

        offset = jnp.log(shown) - jnp.log(lacking)
        days = (offset, season, has_shown, has_shown + has_not)
        last, before = jax.lax.scan(step, first, days)
        whole: tuple[LevelState, ...] = jax.tree.map(
            lambda x, end: jnp.concatenate([x[:, 0], end]), before, last
        )
        return whole

    def log_prior(self) -> Float[Array, ""]:
        """How likely departures from the prior values are."""
        return self.patterns.log_prior()


def _season_of(state: LevelState) -> tuple[Array, Array]:
    return state.season, state.season_variance


def _own_axes(level: int, units: int, cohorts: int) -> tuple[int, int]:
    """Units and cohorts that a level tells apart."""
    pooled = POOLED_AXES[level]
    return (1 if -3 in pooled else units, 1 if -2 in pooled else cohorts)


def _pooled(x: Float[Array, "*lead unit cohort node"], level: int) -> Float[Array, "..."]:
    """Sums along the axes that a level pools."""
    return x.sum(POOLED_AXES[level], keepdims=True) if POOLED_AXES[level] else x


def _mode(counted: Array, expected: Array, variance: Array) -> tuple[Array, Array]:
    """Where a part of this variance moves, by counts where some were expected, and the
    information that counts have there."""
    known = variance * expected
    moved = known / (1 + known) * (jnp.log(counted + 0.5) - jnp.log(expected + 0.5))
    for _ in range(NEWTON_STEPS):
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


def _of_nodes(x: Float[Array, "*cell behavior"]) -> Float[Array, "*cell node"]:
    """The same number at every node of a behaviour."""
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
