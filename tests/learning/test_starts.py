"""Where training starts."""

import numpy as np
from scipy.special import expit, logit

from dgd.learning.pooled_logistic import pooled_logistic
from dgd.learning.starts import start_from_training
from dgd.model import behavior_bits
from dgd.panel.split import Split
from dgd.runtime import computing


def draw_counts(intercept, dependence, arrivals):
    """Expected pattern counts of an autoregressive logistic model, written out."""
    bits = behavior_bits(len(dependence))
    counts = np.zeros((len(intercept), len(bits)))
    for g, own in enumerate(intercept):
        eta = own + bits @ dependence.T
        counts[g] = arrivals * np.prod(np.where(bits == 1, expit(eta), expit(-eta)), axis=1)
    return counts


def test_pooled_fit_recovers_a_logistic_model():
    intercept = logit(np.array([[0.5, 0.2, 0.1], [0.3, 0.4, 0.05]]))
    dependence = np.array([[0, 0, 0], [1.5, 0, 0], [-0.5, 2.0, 0]], dtype=float)
    found = pooled_logistic(draw_counts(intercept, dependence, 1e7))
    np.testing.assert_allclose(found[0], intercept, atol=1e-3)
    np.testing.assert_allclose(found[1], dependence, atol=1e-3)


def test_pooled_fit_stays_finite_where_a_behavior_is_rare_or_decided():
    """Rare behaviours and exact dependence send plain Newton steps to infinity."""
    counts = np.zeros((9, 128))
    counts[:, 0], counts[:, 1], counts[:, 3] = 17_000, 5_000, 11_700
    counts[2, 8] = 1
    counts[:, 67] = 2
    intercept, dependence = pooled_logistic(counts)
    assert np.abs(intercept).max() < 30
    assert np.abs(dependence).max() < 30
    rates = expit(intercept[:, 0])
    shown = counts @ behavior_bits(7)[:, 0] / counts.sum(1)
    np.testing.assert_allclose(rates, shown, atol=0.01)


def test_effort_known_beyond_the_counts_does_not_move_the_start(drawn):
    panel = drawn.panel
    early, dates = panel.through(panel.dates[34]), panel.dates
    assert len(early.effort) > early.days
    ends = (dates[27], dates[34], None)
    with computing():
        ours = start_from_training(early, Split.of(early, *ends))
        theirs = start_from_training(panel, Split.of(panel, *ends))
    np.testing.assert_array_equal(ours.reference.log_baseline, theirs.reference.log_baseline)
