"""The joint patterns that the past alone expects: a pool of chains, then layers of tilts.

Of a panel that holds some of many units, what units share is everyone's: histories of cohorts and
of all, and the movements that layers follow. Layers of units and cells are then left out: with a
few arrivals each they cost much and say little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.chains import (
    CHAINS,
    Chain,
    Sums,
    chained,
    chained_cohorts,
    normalized,
    remembered_sums,
)
from dgd.anchoring.everyones_histories import everyone_daily, sparse_loss, sums_at
from dgd.anchoring.layers import Layer, Movements
from dgd.anchoring.levels import LEAST_PROBABILITY, Daily
from dgd.anchoring.seasons import cycle_length, places
from dgd.anchoring.tilts import Followed
from dgd.anchoring.weighing import blocks_of, scored_days, soft_weights
from dgd.panel.everyone import Everyone
from dgd.panel.panel import Panel
from dgd.panel.split import Split

SOFTNESS = 0.002
"""Joint NLL per arrival below which two candidates are hardly told apart."""
OWN = 0.5
"""How much the loss of a step ahead counts for its own weights, beside the mean of all steps."""
MOST_HEARD = 16
"""Chains, and tilts, that are kept."""
MOST_CHOSEN_ON = 2_000_000
"""Days x cells x patterns that candidates are compared on; of more units, some stand for all."""


@dataclass(frozen=True, eq=False)
class PatternAnchor:
    """Weights of the candidates, found at past origins."""

    cycle: int
    """Places of the weekly (or daily) rhythm; 1 where too little is known of it."""
    blocks: tuple[int, ...]
    chains: tuple[Chain, ...]
    chain_shares: Float[np.ndarray, " chain"]
    layers: tuple[Layer, ...]
    """Tilts of the chains, tilts of these, and so on."""
    of_everyone: bool = False
    """Whether units were some of many, so that what they share is followed on the counts of all."""

    @staticmethod
    def chosen(
        panel: Panel,
        split: Split,
        movements: Movements,
        *,
        softness: float = SOFTNESS,
        own: float = OWN,
    ) -> "PatternAnchor":
        """Weigh the candidates by forecasts of training and validation days."""
        everyone = several = None
        if panel.everyone is None:
            daily = _some_units(panel.patterns[: split.validation_stop])
        else:
            daily = np.asarray(panel.patterns[: split.validation_stop], np.float64)
            everyone = everyone_daily(panel.everyone, split.validation_stop)
            several = panel.everyone.units > 1
        days = scored_days(split)
        blocks = blocks_of(days)
        sums = remembered_sums(daily, everyone)
        loss = partial(_loss, daily, days) if everyone is None else sparse_loss(daily, days)
        beyond = blocks[1:] or blocks  # what swings from one day to the next is for the tilts
        losses = np.zeros((1, len(CHAINS)))
        for number, chain in enumerate(CHAINS):
            said = chained(sums, chain, several)
            losses[0, number] = np.mean([loss(said, step) for step in beyond])
        shares = soft_weights(losses, softness, own, MOST_HEARD)[0]
        heard = np.flatnonzero(shares)
        chains, shares = tuple(CHAINS[number] for number in heard), shares[heard]
        pool = pooled_chains(sums, chains, shares, several)
        cycle = cycle_length(panel, split.train_stop)
        place = places(panel, np.arange(len(daily) + max(blocks)), cycle)
        layers: tuple[Layer, ...] = ()
        expected = dict.fromkeys(blocks, pool)
        units, of_all = len(panel.units), None
        if everyone is not None:  # layers that all units share
            units, of_all = 1, (everyone, pooled_cohorts(sums, chains, shares))
        for tilts in movements.candidates(units, len(panel.cohorts), cycle):
            layer, expected = Layer.chosen(
                daily,
                expected,
                place,
                cycle,
                tilts,
                seen=slice(split.first, split.validation_stop),
                loss=loss,
                weigh=partial(soft_weights, softness=softness, own=own, most=MOST_HEARD),
                everyone=of_all,
            )
            layers += (layer,)
        return PatternAnchor(cycle, blocks, chains, shares, layers, everyone is not None)

    def predict(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin unit cohort pattern"]:
        """Joint probabilities of every step after each origin."""
        if self.of_everyone:
            return self._among_all(panel, origins, horizon)
        daily = panel.patterns[: int(origins.max()) + 1].astype(np.float64)
        days = np.arange(len(daily))
        place = places(panel, np.arange(len(daily) + horizon), self.cycle)
        pool = pooled_chains(remembered_sums(daily), self.chains, self.chain_shares)
        one_ahead, followed = pool, []
        for layer in self.layers:
            followed.append(layer.followed(daily, one_ahead, place, self.cycle))
            if layer is not self.layers[-1]:
                one_ahead = layer.said(one_ahead, followed[-1], days, 1, place, self.blocks)
        steps = []
        for step in range(1, horizon + 1):
            said = pool[origins]
            for layer, beliefs in zip(self.layers, followed, strict=True):
                said = layer.said(said, beliefs, origins, step, place, self.blocks)
            steps.append(said)
        return np.stack(steps)

    def _among_all(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin unit cohort pattern"]:
        """The same for units among many, of whose histories the origins alone are looked at."""
        everyone = panel.together
        sums = sums_at(panel.counts, everyone, origins)
        said = pooled_chains(sums, self.chains, self.chain_shares, everyone.units > 1)
        last = int(origins.max())
        place = places(panel, np.arange(last + 1 + horizon), self.cycle)
        followed = self._followed(everyone, place[: last + 1])
        found = np.empty((horizon, *said.shape))
        for step in range(1, horizon + 1):
            found[step - 1] = said
            for layer, beliefs in zip(self.layers, followed, strict=True):
                found[step - 1] = layer.said_of_many(
                    found[step - 1], beliefs, origins, step, place, self.blocks
                )
        return found

    def _followed(self, everyone: Everyone, place: Int[np.ndarray, " day"]) -> tuple[Followed, ...]:
        """The movements of all units, the same for every block of them."""
        kept = self._followed_last.get("kept")
        if kept is None or kept[0] is not everyone or kept[1] != len(place):
            daily = everyone_daily(everyone, len(place))
            sums = remembered_sums(daily, daily)
            pool = pooled_cohorts(sums, self.chains, self.chain_shares)
            found = tuple(layer.followed(daily, pool, place, self.cycle) for layer in self.layers)
            self._followed_last["kept"] = kept = (everyone, len(place), found)
        return kept[2]

    @cached_property
    def _followed_last(self) -> dict[str, tuple[Everyone, int, tuple[Followed, ...]]]:
        return {}


def pooled_chains(
    sums: Sums,
    chains: Sequence[Chain],
    shares: Float[np.ndarray, " chain"],
    several: bool | None = None,
) -> Daily:
    """What the weighed chains say together after every day."""
    said = shares[0] * chained(sums, chains[0], several)
    for chain, share in zip(chains[1:], shares[1:], strict=True):
        said += share * chained(sums, chain, several)
    return normalized(said)


def pooled_cohorts(
    sums: Sums, chains: Sequence[Chain], shares: Float[np.ndarray, " chain"]
) -> Daily:
    """What they say of each cohort, all units together."""
    said = [s * chained_cohorts(sums, c) for c, s in zip(chains, shares, strict=True)]
    return normalized(np.sum(said, axis=0))


def _loss(daily: Daily, days: Int[np.ndarray, " target"], said: Daily, step: int) -> float:
    """Joint NLL per arrival of what was said `step` days before each of the days."""
    targets = days[days >= step]
    counts = daily[targets]
    probable = np.log(np.maximum(said[targets - step], LEAST_PROBABILITY))
    return float(-(counts * probable).sum() / max(counts.sum(), 1.0))


def _some_units(patterns: np.ndarray) -> Daily:
    """All units, or evenly spaced ones where comparing on all would take too long."""
    stride = max(1, -(-patterns.size // MOST_CHOSEN_ON))
    return np.asarray(patterns[:, ::stride], np.float64)
