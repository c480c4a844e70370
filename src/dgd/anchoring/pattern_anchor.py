"""The joint patterns that the past alone expects: a pool of chains, then a pool of tilts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.chains import CHAINS, Chain, Sums, chained, normalized, remembered_sums
from dgd.anchoring.levels import Daily, Level
from dgd.anchoring.seasons import cycle_length, places
from dgd.anchoring.tilts import Tilt, ahead, candidate_tilts, filtered, shock_variance, tilted
from dgd.anchoring.weighing import block_of, blocks_of, scored_days, soft_weights
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
    tilts: tuple[Tilt, ...]
    tilt_shares: Float[np.ndarray, "block tilt"]
    """The first column is the pool of chains without any tilt."""
    shocks: dict[Level, float]
    """How much a day moves the log-odds of behaviours beyond chance."""

    @staticmethod
    def chosen(
        panel: Panel,
        split: Split,
        *,
        swings: bool,
        weekdays: bool,
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
        candidates = candidate_tilts(
            len(panel.cohorts), swings=swings, weekdays=weekdays and cycle > 1
        )
        expected = _the_day_before(pool)
        levels: tuple[Level, ...] = ("all", "cohort")
        seen = slice(split.first, split.validation_stop)
        shocks = {name: shock_variance(daily[seen], expected[seen], name) for name in levels}
        known = np.arange(len(daily))
        tilt_losses = np.zeros((len(blocks), 1 + len(candidates)))
        tilt_losses[:, 0] = [_loss(daily, pool, days, step) for step in blocks]
        beliefs = filtered(daily, expected, places(panel, known, cycle), cycle, candidates, shocks)
        for number, tilt in enumerate(candidates, 1):
            for row, step in enumerate(blocks):
                added = ahead(beliefs[tilt], tilt, step, places(panel, known + step, cycle))
                tilt_losses[row, number] = _loss(daily, tilted(pool, added), days, step)
        return PatternAnchor(
            cycle,
            blocks,
            chains,
            shares,
            candidates,
            soft_weights(tilt_losses, softness, own, MOST_HEARD),
            shocks,
        )

    def predict(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Float[np.ndarray, "step origin unit cohort pattern"]:
        """Joint probabilities of every step after each origin."""
        daily = panel.patterns[: int(origins.max()) + 1].astype(np.float64)
        sums = remembered_sums(daily)
        pool = pooled_chains(sums, self.chains, self.chain_shares)
        expected = _the_day_before(pool)
        known = np.arange(len(daily))
        heard = [
            tilt
            for tilt, shares in zip(self.tilts, self.tilt_shares.T[1:], strict=True)
            if shares.any()
        ]
        beliefs = filtered(
            daily, expected, places(panel, known, self.cycle), self.cycle, heard, self.shocks
        )
        steps = []
        for step in range(1, horizon + 1):
            row = block_of(step, self.blocks)
            said = self.tilt_shares[row, 0] * pool[origins]
            target = places(panel, origins + step, self.cycle)
            for tilt, share in zip(self.tilts, self.tilt_shares[row, 1:], strict=True):
                if share:
                    added = ahead(beliefs[tilt][origins], tilt, step, target)
                    said = said + share * tilted(pool[origins], added)
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


def _the_day_before(said: Daily) -> Daily:
    """What was expected of each day on the day before; of the first, what the second expects."""
    return np.concatenate([said[:1], said[:-1]])


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
