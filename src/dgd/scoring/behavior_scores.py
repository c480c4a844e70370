r"""Scores of behaviours and of their counts.

Every score compares recorded counts with one forecast for the same days.
Arrays have axes [day, unit, cohort, ...]; a cell c is a unit and a cohort.

- `counts`: C_ct(y), how many arrivals of cell c showed pattern y on day t.
- `patterns`: q_ct(y), the probabilities forecast for them.
- `arrivals`: N^_ct, the arrivals forecast.

N_ct = sum_y C_ct(y) and Y_cth = sum_y y_h C_ct(y) are the recorded arrivals and
behaviour counts, p_cth = sum_y y_h q_ct(y) the forecast probability of
behaviour h. Lower is better throughout. A day without arrivals stays in count
errors and leaves a rate only where that rate's own denominator is zero; a
score without any denominator at all is not a number.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import xlogy

from dgd.model.bits import behavior_bits

Counts = Float[np.ndarray, "day unit cohort pattern"]
Patterns = Float[np.ndarray, "day unit cohort pattern"]
Arrivals = Float[np.ndarray, "day unit cohort"]


def joint_nll(counts: Counts, patterns: Patterns) -> float:
    r"""Joint negative log-likelihood, every recorded event weighing the same.

    .. math:: NLL = -\frac{\sum_{c,t,y} C_{ct}(y) \log q_{ct}(y)}{\sum_{c,t} N_{ct}}

    Infinite where a pattern occurred that had probability zero.
    """
    return _ratio(-xlogy(counts, patterns).sum(), counts.sum())


def brier(counts: Counts, patterns: Patterns) -> Float[np.ndarray, " behavior"]:
    r"""Brier score of each behaviour.

    .. math:: Brier_h = \frac{\sum_{c,t} [Y_{cth} (1 - p_{cth})^2 + (N_{ct} - Y_{cth}) p_{cth}^2]}
        {\sum_{c,t} N_{ct}}
    """
    arrivals, shown, rates = counts.sum(-1)[..., None], _shown(counts), _shown(patterns)
    errors = shown * (1 - rates) ** 2 + (arrivals - shown) * rates**2
    return np.array([_ratio(of_behavior, counts.sum()) for of_behavior in errors.sum((0, 1, 2))])


def mean_brier(counts: Counts, patterns: Patterns) -> float:
    r"""Mean Brier score, behaviours weighing the same: :math:`H^{-1} \sum_h Brier_h`."""
    return float(brier(counts, patterns).mean())


def rate_mae(counts: Counts, patterns: Patterns) -> float:
    r"""Error of the day's overall behaviour rates, in percentage points.

    .. math:: mean_{h,\, t: N_t > 0}\; \frac{100\, |\hat Y^{cond}_{th} - Y_{th}|}{N_t}, \qquad
        \hat Y^{cond}_{th} = \sum_c N_{ct} p_{cth}

    Probabilities are weighed by recorded arrivals, so this scores responses only.
    """
    expected = (counts.sum(-1)[..., None] * _shown(patterns)).sum((1, 2))
    return _mean_rate_error(expected, _shown(counts).sum((1, 2)), counts.sum((1, 2, 3)))


def cohort_rate_mae(counts: Counts, patterns: Patterns) -> float:
    r"""Error of each cohort's behaviour rates, in percentage points, cohorts weighing the same.

    .. math:: mean_g\; mean_{h,\, t: N_{gt} > 0}\;
        \frac{100\, |\sum_j N_{jgt} p_{jgth} - Y_{gth}|}{N_{gt}}

    Units j are pooled within the cohort g first. A cohort without any arrivals
    has no rate and does not count.
    """
    expected = (counts.sum(-1)[..., None] * _shown(patterns)).sum(1)
    recorded, arrivals = _shown(counts).sum(1), counts.sum((1, 3))
    errors = [
        _mean_rate_error(expected[:, g], recorded[:, g], arrivals[:, g])
        for g in np.flatnonzero(arrivals.sum(0))
    ]
    return float(np.mean(errors)) if errors else float("nan")


def pair_mae(counts: Counts, patterns: Patterns) -> float:
    r"""Error of the day's co-occurrence rates, in percentage points, pairs weighing the same.

    .. math:: mean_{h<h'}\; mean_{t: N_t > 0}\;
        \frac{100}{N_t} \Big|\sum_{c,y} [N_{ct} q_{ct}(y) - C_{ct}(y)]\, y_h y_{h'}\Big|
    """
    errors = pair_errors(counts, patterns)
    return float(errors.mean()) if len(errors) else float("nan")


def pair_errors(counts: Counts, patterns: Patterns) -> Float[np.ndarray, " pair"]:
    """The same error of each pair by itself, in the order of `combinations`."""
    bits = behavior_bits(_behaviors(counts))
    arrivals = counts.sum((1, 2, 3))
    expected = (counts.sum(-1)[..., None] * patterns).sum((1, 2))
    errors = []
    for h, k in combinations(range(bits.shape[1]), 2):
        both = (bits[:, h] * bits[:, k])[:, None]
        errors.append(_mean_rate_error(expected @ both, counts.sum((1, 2)) @ both, arrivals))
    return np.array(errors)


def behavior_count_mae(counts: Counts, arrivals: Arrivals, patterns: Patterns) -> float:
    r"""Error of the day's behaviour counts, forecast with the forecast's own arrivals.

    .. math:: H^{-1} \sum_h mean_t |\hat Y_{th} - Y_{th}|, \qquad
        \hat Y_{th} = \sum_c \hat N_{ct} p_{cth}

    Days without arrivals count.
    """
    expected = (arrivals[..., None] * _shown(patterns)).sum((1, 2))
    return float(np.abs(expected - _shown(counts).sum((1, 2))).mean())


def _behaviors(patterns: Patterns) -> int:
    return int(patterns.shape[-1]).bit_length() - 1


def _shown(patterns: Patterns) -> Float[np.ndarray, "day unit cohort behavior"]:
    """Sum over y of y_h times what is given for y."""
    return patterns @ behavior_bits(_behaviors(patterns))


def _mean_rate_error(
    expected: Float[np.ndarray, "day kind"],
    recorded: Float[np.ndarray, "day kind"],
    arrivals: Float[np.ndarray, " day"],
) -> float:
    r"""Mean over kinds and the days with arrivals.

    .. math:: 100\, |expected - recorded| / arrivals
    """
    seen: Bool[np.ndarray, " day"] = arrivals > 0
    if not seen.any():
        return float("nan")
    return float((100 * np.abs(expected - recorded)[seen] / arrivals[seen, None]).mean())


def _ratio(total: float, weight: float) -> float:
    return float(total / weight) if weight > 0 else float("nan")
