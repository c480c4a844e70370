"""Quality found from shares: exact, refused where there is none, and with exact slopes."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dgd.choice import ChoiceDemand, Markets, Offers
from dgd.choice.inversion import contraction
from dgd.choice.inversion.contraction import inverted
from dgd.choice.inversion.quality_slopes import quality_slopes
from dgd.choice.inversion.shares import ObservedShares
from dgd.errors import InputError
from dgd.runtime import computing
from support.endogenous_markets import endogenous_markets
from support.random_choice import make, random_demand


def shares_of(demand: ChoiceDemand, offers: Offers) -> ObservedShares:
    found = demand.shares(offers)
    return ObservedShares(found.products, found.outside)


def drawn_quality(markets: Markets, seed: int, scale: float) -> np.ndarray:
    drawn = scale * np.random.default_rng(seed).normal(size=markets.available.shape)
    return np.where(markets.available, drawn, 0.0)


def test_where_people_are_alike_quality_is_the_log_of_share_over_outside() -> None:
    markets, _ = endogenous_markets(3, 20, 0.5)
    with computing():
        demand = random_demand(1, "point", cohorts=1)
        # Nothing but quality has any value, and only a minute price sensitivity is left.
        demand = eqx.tree_at(
            lambda m: (m.utility.attribute_effect, m.utility.price_intercept),
            demand,
            (jnp.zeros(3), jnp.asarray(-60.0)),
        )
        demand = eqx.tree_at(
            lambda m: (m.utility.attribute_loading, m.utility.price_loading),
            demand,
            (jnp.zeros((3, 2)), jnp.zeros(2)),
        )
        found = inverted(demand, Offers.of(markets), ObservedShares.of(markets))
    share = markets.count / markets.size[:, None]
    closed = np.log(np.where(markets.available, share, 1.0)) - np.log(
        1.0 - share.sum(1, keepdims=True)
    )
    error = np.abs(np.asarray(found.quality) - closed)[markets.available]
    assert error.max() < 1e-12
    assert found.converged.all()
    assert int(found.steps) <= 1


@pytest.mark.parametrize("population", ["gaussian", "discrete"])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_quality_comes_back_from_the_shares_it_makes(population: str, scale: float) -> None:
    """With cohorts, markets of different widths, a product that is not available, and quality
    that counts half; where nearly everybody buys, shares say least about its level."""
    markets = make(sizes={"new": 2.0, "old": 5.0})
    truth = drawn_quality(markets, 5, scale)
    with computing():
        demand = random_demand(4, population)
        demand = eqx.tree_at(lambda m: m.utility.quality_effect, demand, jnp.asarray(0.5))
        offers = Offers.of(markets, truth)
        found = inverted(demand, offers, shares_of(demand, offers))
    assert found.converged.all()
    assert np.asarray(found.error).max() <= 1e-13
    assert np.abs(np.asarray(found.quality) - truth).max() < 1e-9


def test_the_long_steps_save_most_of_the_short_ones() -> None:
    """Where nearly everybody buys, twice as many plain steps are still far from the answer."""
    markets = make(sizes={"new": 2.0, "old": 5.0})
    with computing():
        demand = random_demand(4)
        offers = Offers.of(markets, drawn_quality(markets, 5, 0.5) + 3.0 * markets.available)
        observed = shares_of(demand, offers)
        assert float(observed.outside.max()) < 0.2
        found = inverted(demand, offers, observed)
        target = jnp.log(jnp.where(offers.available, observed.products, 1.0))

        @jax.jit
        def gap(quality: jnp.ndarray) -> jnp.ndarray:
            now = demand.shares(offers._replace(quality=quality)).products
            return jnp.where(offers.available, target - jnp.log(now), 0.0)

        quality = jnp.zeros_like(offers.quality)
        evaluations = 3 * int(found.steps)
        for _ in range(2 * evaluations):
            quality = quality + gap(quality)
        left = float(jnp.abs(gap(quality)).max())
    assert found.converged.all()
    assert left > 1e-10


def test_a_market_that_has_not_arrived_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "MOST_STEPS", 1)
    markets, _ = endogenous_markets(2, 7, 0.0)
    with computing():
        demand = random_demand(6, cohorts=1)
        offers = Offers.of(markets, drawn_quality(markets, 8, 2.0))
        found = inverted(demand, offers, shares_of(demand, offers))
    assert not found.converged.all()
    assert np.asarray(found.error).max() > 1e-13


def test_slopes_of_quality_are_those_of_finite_differences() -> None:
    markets = make(sizes={"new": 2.0, "old": 5.0})
    truth = drawn_quality(markets, 5, 0.5)
    with computing():
        demand = random_demand(4)
        offers = Offers.of(markets, truth)
        observed = shares_of(demand, offers)

        def at(theta: jnp.ndarray) -> ChoiceDemand:
            return eqx.tree_at(
                lambda m: (m.utility.price_intercept, m.utility.attribute_loading),
                demand,
                (theta[0], theta[1:].reshape(3, 2)),
            )

        here = jnp.concatenate(
            [demand.utility.price_intercept[None], demand.utility.attribute_loading.ravel()]
        )
        found = np.asarray(quality_slopes(at, here, offers))
        step = 1e-5
        for index, along in enumerate(step * np.eye(len(here))):
            up, down = (
                np.asarray(inverted(at(here + sign * along), offers, observed).quality)
                for sign in (1, -1)
            )
            assert np.abs((up - down) / (2 * step) - found[..., index]).max() < 1e-8
    assert np.abs(found).max() > 0.1


def test_a_share_of_zero_is_refused_with_its_market_and_product() -> None:
    markets, _ = endogenous_markets(3, 20, 0.5)
    count = markets.count.copy()
    count[4, 2] = 0.0
    with computing(), pytest.raises(InputError, match=r"market 'm4'.*'p2'.*leave the row out"):
        ObservedShares.of(replace(markets, count=count))


def test_a_market_in_which_everyone_bought_is_refused() -> None:
    markets, _ = endogenous_markets(3, 20, 0.5)
    size = markets.size.copy()
    size[5] = markets.count[5].sum()
    with computing(), pytest.raises(InputError, match=r"market 'm5'.*raise its market size"):
        ObservedShares.of(replace(markets, size=size))


def test_markets_without_an_outside_option_are_refused() -> None:
    markets, _ = endogenous_markets(3, 20, 0.5, market_size=None, outside=False)
    with computing(), pytest.raises(InputError, match=r"outside=False.*control function"):
        ObservedShares.of(markets)


def test_markets_without_sales_are_refused() -> None:
    markets, _ = endogenous_markets(3, 20, 0.5, count=None)
    with computing(), pytest.raises(InputError, match="name the column"):
        ObservedShares.of(markets)
