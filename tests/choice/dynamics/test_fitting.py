"""Training through time: known dynamics are found, and none where there are none."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from dgd.choice import ChoiceSettings, Markets, Offers, shares
from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.dynamics.fitting import WithAndWithout, fit_with_and_without
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.moving_worlds import moving_world, simulate_moving_markets
from dgd.choice.dynamics.starting_at_rest import first_moving_demand
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.simulate import SimulatedMarkets
from dgd.choice.starting import ChoiceStart
from dgd.errors import InputError
from dgd.learning.runs import Run
from dgd.runtime import computing

SMALL = ChoiceSettings(components=1, dim=2, nodes=3, starts=1, epochs=60)


def between(markets: Markets, first: int, last: int) -> Markets:
    """The markets of some periods, counted from 1."""
    marks = markets.marks["period"]
    week = np.array(marks.labels)[marks.of_market]
    return markets.select(
        [markets.markets[m] for m in np.flatnonzero((week >= first) & (week <= last))]
    )


def divergence(
    runs: tuple[Run, ...], drawn: SimulatedMarkets, first: int, recorded: Markets
) -> float:
    """Mean KL from the true shares of the periods from `first` on, seeds averaged."""
    asked = between(drawn.markets, first, 10**6)
    true = np.c_[drawn.products, drawn.outside][-len(asked.markets) :]
    with computing():
        offers = Offers.of(asked)._replace(history=HistoryOf.by(recorded).of(asked))
        parts = [shares(run.parameters, offers) for run in runs]
        found = np.mean([np.c_[part.products, part.outside] for part in parts], axis=0)
    return float((true * np.log(true / found)).sum(1).mean())


def fitted(
    drawn: SimulatedMarkets, last: int, settings: ChoiceSettings, seeds: list[int]
) -> WithAndWithout:
    return fit_with_and_without(settings, between(drawn.markets, 1, last), 0.25, seeds, False)


@pytest.fixture(scope="module")
def drawn() -> SimulatedMarkets:
    return simulate_moving_markets(moving_world(), 4, 24, seed=2)


@pytest.fixture(scope="module")
def both(drawn: SimulatedMarkets) -> WithAndWithout:
    return fitted(drawn, 18, SMALL, [1])


def test_feedback_is_found_where_there_is_some(drawn: SimulatedMarkets, both: WithAndWithout):
    static, moving = (
        divergence(runs, drawn, 19, drawn.markets) for runs in (both.static, both.moving)
    )
    assert both.gain > 0.01
    assert moving < 0.5 * static


def test_a_fit_with_feedback_never_validates_worse_than_without():
    still = simulate_moving_markets(moving_world(strength=0.0), 4, 24, seed=2)
    both = fitted(still, 18, SMALL, [1])
    static, moving = (
        divergence(runs, still, 19, still.markets) for runs in (both.static, both.moving)
    )
    assert both.gain >= 0
    assert moving < static + 1e-3


def test_a_run_fills_the_template_of_its_markets(drawn: SimulatedMarkets, both: WithAndWithout):
    (run,) = both.moving
    with computing():
        rng = np.random.default_rng(0)
        template = first_moving_demand(SMALL, ChoiceStart.blank(3), drawn.markets, rng)
        back = Run.restored(run.facts, run.tensors, template)
    alike = jax.tree.map(np.array_equal, run.parameters, back.parameters)
    assert all(jax.tree.leaves(alike))
    assert isinstance(back.parameters, ChoiceDemand)


def test_the_table_says_what_feedback_has_gained(both: WithAndWithout):
    table = both.to_polars()
    assert table.columns == ["seed", "with feedback", "without", "gain"]
    assert table["with feedback"].item() == both.moving[0].best_objective
    assert table["gain"].item() == both.gain


@pytest.mark.slow
def test_both_ways_to_train_give_the_same_runs_again():
    drawn = simulate_moving_markets(moving_world(), 2, 9, seed=2)
    for method in ("likelihood", "early stopping"):
        settings = ChoiceSettings(components=1, dim=1, nodes=3, starts=1, epochs=20, method=method)
        first, again = (
            fit_with_and_without(settings, drawn.markets, 0.3, [4], False).moving for _ in range(2)
        )
        assert first[0].best_objective == again[0].best_objective
        assert first[0].best_objective == min(first[0].validation_objective)
        alike = jax.tree.map(np.array_equal, first[0].parameters, again[0].parameters)
        assert all(jax.tree.leaves(alike))


@pytest.mark.slow
def test_absorbed_places_are_fitted_beside_what_they_carry():
    drawn = simulate_moving_markets(moving_world(), 2, 6, seed=2)
    table = drawn.markets.rows()
    markets = Markets.from_table(
        table.drop("available"),
        attributes=["quality", "style"],
        market_size=4000,
        period="period",
        place="place",
        absorb=["place"],
    )
    settings = ChoiceSettings(components=1, dim=1, nodes=3, starts=1, epochs=5)
    (run,) = fit_with_and_without(
        settings, markets, 0.3, [1], False, fitted=FittedOffers.plain(between(markets, 1, 4))
    ).moving
    assert run.parameters.utility.level_effect.shape == (1,)


def test_a_world_that_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="periods is 0; draw at least one"):
        simulate_moving_markets(moving_world(), 2, 0, seed=1)
    with pytest.raises(InputError, match="a retention is 1; it lies between 0 and 1"):
        moving_world(memory_retention=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "shift", "seed"), [(0.6, 0.85, 11), (0.9, 0.5, 12)])
def test_dynamics_are_recovered_from_market_counts(memory: float, shift: float, seed: int):
    world = moving_world(memory_retention=memory, shift_retention=shift)
    drawn = simulate_moving_markets(world, 6, 60, seed)
    both = fitted(drawn, 40, ChoiceSettings(nodes=5), [1, 2])
    static, moving = (
        divergence(runs, drawn, 41, drawn.markets) for runs in (both.static, both.moving)
    )
    assert moving < 0.05 * static
    assert divergence(both.moving, drawn, 41, between(drawn.markets, 1, 40)) < 0.1 * static
    for run in both.moving:
        remembered, _, shifted = (float(part.retention) for part in run.parameters.carried)
        assert abs(remembered - memory) < 0.05
        assert abs(shifted - shift) < 0.1


def places_unlike_each_other(seed: int) -> Markets:
    """Five places with tastes of their own, in which nothing moves."""
    rng = np.random.default_rng(seed)
    still = moving_world(strength=0.0)
    tables = []
    for place in range(5):
        with computing():
            own = jnp.asarray(0.6 * rng.normal(size=3))
            effect = still.model.utility.attribute_effect + own
            model = eqx.tree_at(lambda m: m.utility.attribute_effect, still.model, effect)
        drawn = simulate_moving_markets(replace(still, model=model), 1, 24, seed + place)
        names = [
            pl.lit(f"place {place}").alias("place"),
            pl.format(f"{place}, {{}}", "market").alias("market"),
        ]
        tables.append(drawn.markets.rows().with_columns(names).drop("available"))
    return Markets.from_table(
        pl.concat(tables),
        attributes=still.attributes,
        market_size=still.opportunities,
        period="period",
        place="place",
    )


@pytest.mark.slow
def test_places_that_differ_are_not_taken_for_places_that_move():
    settings = replace(SMALL, epochs=300)
    both = fit_with_and_without(settings, places_unlike_each_other(3), 0.25, [1], False)
    (static,) = both.static
    assert both.gain < 0.02 * (static.validation_objective[0] - static.best_objective)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_little_is_lost_where_nothing_moves(seed: int):
    drawn = simulate_moving_markets(moving_world(strength=0.0), 6, 60, seed)
    both = fitted(drawn, 40, ChoiceSettings(nodes=5), [1, 2])
    static, moving = (
        divergence(runs, drawn, 41, drawn.markets) for runs in (both.static, both.moving)
    )
    assert moving < static + 1e-4
