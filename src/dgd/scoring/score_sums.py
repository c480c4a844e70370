"""What scores are made of: sums over cells, so that units may be scored block by block.

Sums of several blocks, or of several processes, are added up before any score is taken; patterns
of cells are never brought together.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
from jaxtyping import Float
from scipy.special import xlogy

from dgd.model import negative_binomial
from dgd.model.bits import behavior_bits


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums over the cells of some units, for one forecast of some days."""

    log_loss: Float[np.ndarray, ""]
    """-sum of C(y) log q(y)."""
    brier: Float[np.ndarray, " behavior"]
    absolute: Float[np.ndarray, ""]
    """Of |N^ - N| over cells."""
    deviance: Float[np.ndarray, ""]
    crps: Float[np.ndarray, ""]
    """Both not a number where no distribution was forecast."""
    cells: Float[np.ndarray, ""]
    """How many there are, days counted apart."""
    counts: Float[np.ndarray, "day cohort pattern"]
    likely: Float[np.ndarray, "day cohort pattern"]
    """N q(y): probabilities weighed by recorded arrivals."""
    arrivals: Float[np.ndarray, " day"]
    """Forecast, of all cohorts."""
    behaviors: Float[np.ndarray, "day behavior"]
    """Forecast with the forecast's own arrivals."""

    @staticmethod
    def of(
        counts: Float[np.ndarray, "day unit cohort pattern"],
        arrivals: Float[np.ndarray, "day unit cohort"],
        patterns: Float[np.ndarray, "day unit cohort pattern"],
        dispersion: Float[np.ndarray, "day unit cohort"] | None,
    ) -> "ScoreSums":
        """The sums of recorded counts beside one forecast."""
        bits = behavior_bits(int(counts.shape[-1]).bit_length() - 1)
        recorded, shown, rates = counts.sum(-1), counts @ bits, patterns @ bits
        brier = shown * (1 - rates) ** 2 + (recorded[..., None] - shown) * rates**2
        deviance = crps = np.nan
        if dispersion is not None:
            law = (recorded, arrivals, dispersion)
            deviance = negative_binomial.deviance(*law).sum()
            crps = negative_binomial.crps(*law).sum()
        return ScoreSums(
            np.asarray(-xlogy(counts, patterns).sum()),
            brier.sum((0, 1, 2)),
            np.asarray(np.abs(arrivals - recorded).sum()),
            np.asarray(deviance),
            np.asarray(crps),
            np.asarray(float(recorded.size)),
            counts.sum(1),
            (recorded[..., None] * patterns).sum(1),
            arrivals.sum((1, 2)),
            (arrivals[..., None] * rates).sum((1, 2)),
        )

    def plus(self, other: "ScoreSums") -> "ScoreSums":
        """The sums of both."""
        names = [field.name for field in fields(self)]
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return ScoreSums(*(np.asarray(one + more) for one, more in pairs))

    def over(self, everywhere: Callable[[np.ndarray], np.ndarray]) -> "ScoreSums":
        """The sums of all processes, added up by `everywhere`."""
        return ScoreSums(*(everywhere(getattr(self, field.name)) for field in fields(self)))

    def scores(self, behaviors: tuple[str, ...]) -> dict[str, float]:
        """Every score by name, as `score_days` has them."""
        bits = behavior_bits(len(behaviors))
        events, by_day = float(self.counts.sum()), self.counts.sum((1, 2))
        brier = self.brier / events if events > 0 else np.full(len(behaviors), np.nan)
        shown, likely = self.counts @ bits, self.likely @ bits
        recorded = shown.sum(1)
        by_cohort = [
            _rate_error(likely[:, g], shown[:, g], self.counts[:, g].sum(-1))
            for g in np.flatnonzero(self.counts.sum((0, 2)))
        ]
        found = {
            "joint_nll": float(self.log_loss) / events if events > 0 else float("nan"),
            "mean_brier": float(brier.mean()),
            **{f"brier_{name}": float(brier[h]) for h, name in enumerate(behaviors)},
            "rate_mae": _rate_error(likely.sum(1), recorded, by_day),
            "cohort_rate_mae": float(np.mean(by_cohort)) if by_cohort else float("nan"),
            "behavior_count_mae": float(np.abs(self.behaviors - recorded).mean()),
            "arrival_mae": float(np.abs(self.arrivals - by_day).mean()),
            "cell_arrival_mae": float(self.absolute / self.cells),
        }
        if len(behaviors) > 1:
            found |= self._pairs(behaviors, bits, by_day)
        if not np.isnan(self.deviance):
            found["arrival_deviance"] = float(self.deviance / self.cells)
            found["arrival_crps"] = float(self.crps / self.cells)
        return found

    def _pairs(
        self, behaviors: tuple[str, ...], bits: np.ndarray, by_day: np.ndarray
    ) -> dict[str, float]:
        expected, recorded = self.likely.sum(1), self.counts.sum(1)
        errors = {}
        for h, k in combinations(range(len(behaviors)), 2):
            both = (bits[:, h] * bits[:, k])[:, None]
            error = _rate_error(expected @ both, recorded @ both, by_day)
            errors[f"pair_mae_{behaviors[h]}_{behaviors[k]}"] = error
        return {"pair_mae": float(np.mean(list(errors.values()))), **errors}


def _rate_error(expected: np.ndarray, recorded: np.ndarray, arrivals: np.ndarray) -> float:
    """Mean over kinds and the days with arrivals, in percentage points."""
    seen = arrivals > 0
    if not seen.any():
        return float("nan")
    return float((100 * np.abs(expected - recorded)[seen] / arrivals[seen, None]).mean())
