"""Units are drawn to what all units are like, as strongly as they are alike."""

import numpy as np

from dgd.learning.unit_prior import STRONGEST, UnitPrior, UnitSums, unit_prior

RATES = np.array([[0.2, 0.6], [0.4, 0.5]])


def drawn(units: int, strength: float, seed: int = 0) -> tuple[UnitSums, UnitPrior]:
    """Units whose arrivals differ by a gamma law of that strength; people differ too."""
    rng = np.random.default_rng(seed)
    people = rng.uniform(20, 40, (units, 2))
    level = 1.0 if np.isinf(strength) else rng.gamma(strength, 1 / strength, units)[:, None]
    arrivals = rng.poisson(people * np.array([0.5, 1.5]) * level).astype(float)
    shown = sum(rng.binomial(arrivals[:, g].astype(int)[:, None], RATES[g]) for g in (0, 1))
    sums = UnitSums(arrivals, people, np.asarray(shown, float))
    return sums, unit_prior(sums, RATES)


def rates_at_start(prior: UnitPrior) -> np.ndarray:
    return np.exp(prior.log_mean + prior.arrival)


def test_the_law_of_units_is_found() -> None:
    """Rates are drawn to the mean as Bayes' rule for that gamma law has it."""
    sums, prior = drawn(4000, 3.0)
    expected = sums.people * (sums.arrivals.sum(0) / sums.people.sum(0))
    total, own = expected.sum(1), sums.arrivals.sum(1)
    drawn_to = expected * ((own + 3.0) / (total + 3.0))[:, None]
    np.testing.assert_allclose(np.exp(prior.log_mean) * sums.people, drawn_to, rtol=0.02)
    assert (prior.arrival_strength > 50).all()  # cells do what their unit does


def test_units_that_are_alike_are_held_together() -> None:
    _, prior = drawn(2000, np.inf)
    rates = rates_at_start(prior)
    assert np.ptp(rates[:, 0]) < 0.1 * rates[:, 0].mean()
    assert (prior.response_strength > 50).all()
    assert (prior.response_strength <= STRONGEST).all()


def test_few_arrivals_say_little_and_many_say_much() -> None:
    sums, _ = drawn(500, 3.0)
    sums.arrivals[0], sums.people[0] = (1.0, 2.0), (0.5, 0.5)
    sums.arrivals[1], sums.people[1] = (4000.0, 12000.0), (1000.0, 1000.0)
    prior = unit_prior(sums, RATES)
    mean = np.median(rates_at_start(prior), 0)
    few, many = rates_at_start(prior)[:2]
    assert (few < 2.5 * mean).all()  # its own counts would say four times as much
    np.testing.assert_allclose(many, [4.0, 12.0], rtol=0.05)


def test_a_unit_without_arrivals_has_a_rate() -> None:
    sums, _ = drawn(500, 3.0)
    sums.arrivals[0] = 0
    sums.behaviors[0] = 0
    prior = unit_prior(sums, RATES)
    assert (rates_at_start(prior)[0] > 0).all()
    np.testing.assert_array_equal(prior.response[0], 0)
