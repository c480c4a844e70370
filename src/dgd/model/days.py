"""Days as the model sees them: known before, recorded after, predicted between."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model import negative_binomial
from dgd.model.bits import behavior_bits


class Inputs(eqx.Module):
    """What is known about each date before its outcomes."""

    calendar: Float[Array, "date unit cohort calendar"]
    """Features whose future is known: calendar and the user's own."""
    summaries: Float[Array, "date unit cohort summary"]
    """Features made from preceding counts; frozen at a forecast origin."""
    size: Float[Array, "date unit cohort"]
    effort: Float[Array, "date unit cohort"]
    season: Float[Array, "date place"] | None = None
    """Which seasonal effects each date meets, and how much of each, where they are learned."""

    def between(self, start: int, stop: int | None) -> "Inputs":
        """The dates from `start` up to, not including, `stop`."""
        cut: Inputs = jax.tree.map(lambda x: x[start:stop], self)
        return cut

    @property
    def of_season(self) -> Float[Array, "date place"]:
        """The same where seasonal effects are learned."""
        if self.season is None:
            raise ValueError("the days have no seasons, but the model learns seasonal effects")
        return self.season

    @property
    def features(self) -> Float[Array, "date unit cohort feature"]:
        return jnp.concatenate([self.calendar, self.summaries], axis=-1)

    @property
    def people(self) -> Float[Array, "date unit cohort"]:
        """n e: how many proportional contact could reach, counted as often as effort tries."""
        return self.size * self.effort

    @property
    def active(self) -> Float[Array, "date unit"]:
        """1 where a unit could have arrivals at all, else 0."""
        return jnp.where(self.people.sum(-1) > 0, 1.0, 0.0)


class Prediction(eqx.Module):
    """Expected arrivals and the joint pattern probabilities of an arrival."""

    arrivals: Float[Array, "date unit cohort"]
    patterns: Float[Array, "pattern date unit cohort"]

    def between(self, start: int, stop: int | None) -> "Prediction":
        """The dates from `start` up to, not including, `stop`."""
        return Prediction(self.arrivals[start:stop], self.patterns[:, start:stop])

    @property
    def rates(self) -> Float[Array, "date unit cohort behavior"]:
        """sum_y y_h q(y): how likely an arrival shows each behaviour."""
        return _behaviors_shown(self.patterns)

    @property
    def behaviors(self) -> Float[Array, "date unit cohort behavior"]:
        """Y_h = N sum_y y_h q(y): expected behaviour counts."""
        return self.arrivals[..., None] * self.rates


class CohortTotals(eqx.Module):
    """What all units of every cohort counted on each date."""

    arrivals: Float[Array, "date cohort"]
    behaviors: Float[Array, "date cohort behavior"]

    def between(self, start: int, stop: int | None) -> "CohortTotals":
        """The dates from `start` up to, not including, `stop`."""
        return CohortTotals(self.arrivals[start:stop], self.behaviors[start:stop])


class EventGroups(eqx.Module):
    """Events of one cell with equal context, counted together; groups are in order of date."""

    cell: Int[Array, " group"]
    """Place of the group's cell among all cells of these dates, cohorts running fastest."""
    context: Float[Array, "group context"]
    patterns: Float[Array, "pattern group"]
    """C(y) of the group."""
    starts: tuple[int, ...] = eqx.field(static=True)
    """How many groups lie before each date, and how many there are in all."""
    cells_per_date: int = eqx.field(static=True)

    def between(self, start: int, stop: int | None) -> "EventGroups":
        """The dates from `start` up to, not including, `stop`."""
        starts = self.starts[start : None if stop is None else stop + 1]
        groups = slice(starts[0], starts[-1])
        return EventGroups(
            self.cell[groups] - start * self.cells_per_date,
            self.context[groups],
            self.patterns[:, groups],
            tuple(at - starts[0] for at in starts),
            self.cells_per_date,
        )


class Everyone(eqx.Module):
    """What all units counted, where those at hand are some of them."""

    totals: CohortTotals
    times: Float[Array, " cohort"]
    """How many times as many arrivals that is."""

    def between(self, start: int, stop: int | None) -> "Everyone":
        """The dates from `start` up to, not including, `stop`."""
        return Everyone(self.totals.between(start, stop), self.times)


class Outcomes(eqx.Module):
    """What was recorded on each date."""

    patterns: Float[Array, "pattern date unit cohort"]
    """C(y)."""
    arrivals: Float[Array, "date unit cohort"]
    """N."""
    behaviors: Float[Array, "date unit cohort behavior"]
    """Y."""
    log_count_constant: Float[Array, "date unit cohort"]
    """The part of the negative-binomial log-probability that no parameter moves."""
    events: EventGroups | None = None
    """The same events by their own context, where a model is trained on it."""
    everyone: Everyone | None = None

    @property
    def totals(self) -> CohortTotals:
        """Everything that cohorts counted."""
        if self.everyone is not None:
            return self.everyone.totals
        return CohortTotals(self.arrivals.sum(1), self.behaviors.sum(1))

    @property
    def times(self) -> Float[Array, " cohort"]:
        """By what sums over the units at hand are multiplied to be those of all."""
        if self.everyone is not None:
            return self.everyone.times
        return jnp.ones(self.arrivals.shape[-1])

    def between(self, start: int, stop: int | None) -> "Outcomes":
        """The dates from `start` up to, not including, `stop`."""
        return Outcomes(
            self.patterns[:, start:stop],
            self.arrivals[start:stop],
            self.behaviors[start:stop],
            self.log_count_constant[start:stop],
            None if self.events is None else self.events.between(start, stop),
            None if self.everyone is None else self.everyone.between(start, stop),
        )

    @staticmethod
    def recorded(
        counts: Float[np.ndarray, "pattern date unit cohort"], dispersion: float
    ) -> "Outcomes":
        """Everything the loss needs of recorded pattern counts, computed once."""
        arrivals = counts.sum(0)
        bits = behavior_bits(int(np.log2(len(counts))))
        return Outcomes(
            patterns=jnp.asarray(counts),
            arrivals=jnp.asarray(arrivals),
            behaviors=jnp.asarray(np.moveaxis(np.tensordot(bits.T, counts, 1), 0, -1)),
            log_count_constant=jnp.asarray(negative_binomial.log_constant(arrivals, dispersion)),
        )


def _behaviors_shown(
    patterns: Float[Array, "pattern date unit cohort"],
) -> Float[Array, "date unit cohort behavior"]:
    bits = behavior_bits(int(np.log2(len(patterns))))
    return jnp.moveaxis(jnp.tensordot(bits.T, patterns, 1), 0, -1)
