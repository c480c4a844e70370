"""Worlds whose tastes are moved by what was bought, their parameters known, and markets of them."""

from collections.abc import Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np
import polars as pl
from scipy.special import logit

from dgd.choice.demand import shares
from dgd.choice.dynamics.history import HistoryOf, MarketHistory
from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.dynamics.purchases import Usual
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.simulate import SimulatedMarkets, simulate_markets
from dgd.choice.worlds import ChoiceWorld, gaussian_world
from dgd.errors import InputError
from dgd.learning.seeds import checked_seeds
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.fatigue import Fatigue
from dgd.model.feedback.memory import Memory
from dgd.model.feedback.shift import Shift
from dgd.runtime import computing

MEMORY = ((2.0, 0.0, 0.0), (0.0, 2.5, 0.0), (0.0, -1.0, 2.0))
"""Who has bought buys again; who has bought quality or style looks for it again."""
FATIGUE = (-1.0, 0.0, 0.0)
RATE_RESPONSE = ((0.0, 0.0), (0.4, 0.0), (0.0, 0.3))
FATIGUE_RESPONSE = (0.2, 0.0)
USUAL_MARKETS = 400
"""Markets whose mean purchases are called usual."""


def moving_world(
    *,
    strength: float = 1.0,
    memory_retention: float = 0.8,
    fatigue_retention: float = 0.6,
    shift_retention: float = 0.7,
    states: Sequence[str] = (Memory.name, Fatigue.name, Shift.name),
) -> ChoiceWorld:
    """The Gaussian world of choosers, in which what was bought moves what is chosen next.

    Args:
        strength: what all effects are multiplied by; with 0 every period starts afresh.
        memory_retention: how much of memory a period leaves.
        fatigue_retention: the same of fatigue.
        shift_retention: the same of the shift of propensities.
        states: which of "memory", "fatigue" and "shift" have an effect.
    """
    resting = gaussian_world()
    drawn = simulate_markets(resting, USUAL_MARKETS, seed=0)
    content = np.einsum("mj,mja->ma", drawn.products, drawn.markets.attributes).mean(0)

    def effect(name: str, values: Sequence[float] | Sequence[Sequence[float]]) -> jnp.ndarray:
        return jnp.asarray((strength if name in states else 0.0) * np.array(values))

    def kept(retention: float) -> jnp.ndarray:
        if not 0 < retention < 1:
            raise InputError(f"a retention is {retention:g}; it lies between 0 and 1.")
        return jnp.asarray(logit(retention))

    with computing():
        carried: tuple[AbstractCarriedState, ...] = (
            Memory(kept(memory_retention), effect(Memory.name, MEMORY)),
            Fatigue(kept(fatigue_retention), effect(Fatigue.name, FATIGUE)),
            Shift(
                kept(shift_retention),
                effect(Shift.name, RATE_RESPONSE),
                effect(Shift.name, FATIGUE_RESPONSE),
            ),
        )
        usual = Usual(jnp.asarray(content[None]), jnp.asarray([1.0 - drawn.outside.mean()]))
        model, alike = resting.model, jnp.zeros((len(content), len(content)))
        return ChoiceWorld(
            MovingDemand(model.population, model.utility, model.scales, carried, alike, usual)
        )


def simulate_moving_markets(
    world: ChoiceWorld, places: int, periods: int, seed: int
) -> SimulatedMarkets:
    """Draw one market for each of `places` in each of `periods`, period after period.

    The true shares are those that the counts drawn before have led to.
    """
    for name, number in (("places", places), ("periods", periods)):
        if number < 1:
            raise InputError(f"{name} is {number}; draw at least one.")
    checked_seeds([seed])
    if not isinstance(world.model, MovingDemand):
        raise InputError("nothing moves in this world; make one with moving_world().")
    rng = np.random.default_rng(seed)
    table = _offers(world, places, periods, rng)
    made = partial(Markets.from_table, attributes=world.attributes, period="period", place="place")
    offered = made(table, count=None)
    counts, truth = _walked(world, offered, places, periods, rng)
    counted = made(
        table.with_columns(pl.Series("count", counts.ravel())), market_size=world.opportunities
    )
    return SimulatedMarkets(world, counted, truth[:, :-1], truth[:, -1])


def _offers(
    world: ChoiceWorld, places: int, periods: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Random offers, periods one after the other and all places in each."""
    markets, products = places * periods, len(world.products)
    known = rng.normal(size=(markets * products, len(world.attributes)))
    period, place = np.divmod(np.repeat(np.arange(markets), products), places)
    return pl.DataFrame(
        {
            "market": np.repeat(np.arange(1, markets + 1), products),
            "period": period + 1,
            "place": [f"place {index + 1}" for index in place],
            "product": list(world.products) * markets,
            "price": rng.uniform(*world.prices, size=markets * products),
            **dict(zip(world.attributes, known.T, strict=True)),
        }
    )


def _walked(
    world: ChoiceWorld, markets: Markets, places: int, periods: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of every market and slot, and the true shares, those of nothing last."""
    shape = (periods, places)
    bought, content = np.zeros(shape), np.zeros((*shape, len(markets.attribute_names)))
    counts, truth = [], []
    with computing():
        offers = Offers.of(markets)
        when = HistoryOf((), ()).of(markets)
        for period in range(periods):
            known = np.full(shape, float(world.opportunities))
            past: MarketHistory = when._replace(
                opportunities=jnp.asarray(known),
                bought=jnp.asarray(bought),
                content=jnp.asarray(content),
                ahead=jnp.zeros((0, 0), int),
            )
            here = np.arange(places) + period * places
            found = shares(world.model, offers._replace(history=past).at(jnp.asarray(here)))
            chance = np.c_[found.products, found.outside]
            drawn = rng.multinomial(world.opportunities, chance / chance.sum(1, keepdims=True))
            truth.append(chance)
            counts.append(drawn[:, :-1])
            bought[period] = counts[-1].sum(1)
            content[period] = np.einsum("mj,mja->ma", counts[-1], markets.attributes[here])
    return np.concatenate(counts), np.concatenate(truth)
