"""The joint patterns that the past alone expects: a pool of chains, then layers of tilts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.chains import CHAINS, Chain, Sums, chained, normalized, remembered_sums
from dgd.anchoring.layers import Layer, Movements
from dgd.anchoring.levels import Daily
from dgd.anchoring.seasons import cycle_length, places
from dgd.anchoring.weighing import blocks_of, scored_days, soft_weights
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
LEAST_PROBABILITY = 1e-12


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
        daily = _some_units(panel.patterns[: split.validation_stop])
        days = scored_days(split)
        blocks = blocks_of(days)
        sums = remembered_sums(daily)
        beyond = blocks[1:] or blocks  # what swings from one day to the next is for the tilts
        losses = np.zeros((1, len(CHAINS)))
        for number, chain in enumerate(CHAINS):
            said = chained(sums, chain)
            losses[0, number] = np.mean([_loss(daily, said, days, step) for step in beyond])
        shares = soft_weights(losses, softness, own, MOST_HEARD)[0]
        heard = np.flatnonzero(shares)
        chains, shares = tuple(CHAINS[number] for number in heard), shares[heard]
        pool = pooled_chains(sums, chains, shares)
        cycle = cycle_length(panel, split.train_stop)
        place = places(panel, np.arange(len(daily) + max(blocks)), cycle)
        layers: tuple[Layer, ...] = ()
        expected = dict.fromkeys(blocks, pool)
        for tilts in movements.candidates(len(panel.units), len(panel.cohorts), cycle):
            layer, expected = Layer.chosen(
                daily,
                expected,
                place,
                cycle,
                tilts,
                seen=slice(split.first, split.validation_stop),
                loss=lambda said, step: _loss(daily, said, days, step),
                weigh=partial(soft_weights, softness=softness, own=own, most=MOST_HEARD),
            )
            layers += (layer,)
        return PatternAnchor(cycle, blocks, chains, shares, layers)

    def predict(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin unit cohort pattern"]:
        """Joint probabilities of every step after each origin."""
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


def pooled_chains(
    sums: Sums, chains: Sequence[Chain], shares: Float[np.ndarray, " chain"]
) -> Daily:
    """What the weighed chains say together after every day."""
    said = shares[0] * chained(sums, chains[0])
    for chain, share in zip(chains[1:], shares[1:], strict=True):
        said += share * chained(sums, chain)
    return normalized(said)


def _loss(daily: Daily, said: Daily, days: Int[np.ndarray, " target"], step: int) -> float:
    """Joint NLL per arrival of what was said `step` days before each of the days."""
    targets = days[days >= step]
    counts = daily[targets]
    probable = np.log(np.maximum(said[targets - step], LEAST_PROBABILITY))
    return float(-(counts * probable).sum() / max(counts.sum(), 1.0))


def _some_units(patterns: np.ndarray) -> Daily:
    """All units, or evenly spaced ones where comparing on all would take too long."""
    stride = max(1, -(-patterns.size // MOST_CHOSEN_ON))
    return np.asarray(patterns[:, ::stride], np.float64)
