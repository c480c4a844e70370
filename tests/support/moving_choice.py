"""Markets over time, random demand that moves, and its equations as a plain loop over periods."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from scipy.special import expit, softmax

from dgd.choice import Markets, Offers
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.dynamics.purchases import Usual
from dgd.model.feedback.fatigue import Fatigue
from dgd.model.feedback.memory import Memory
from dgd.model.feedback.shift import Shift
from support.compiled import support_of
from support.random_choice import ATTRIBUTES, SIZES, random_demand

PLACES = ("north", "south", "east")
PERIODS = (8, 9, 10, 11, 12)
MISSING = (("south", 10), ("east", 8))
"""Nothing was sold there then, and nobody knows why."""


def weekly_table(seed: int = 0) -> pl.DataFrame:
    """One market per place and period, two of `north` in period 9; the last periods come first."""
    rng = np.random.default_rng(seed)
    markets = [(place, period, "") for period in PERIODS[::-1] for place in PLACES]
    markets = [each for each in markets if each[:2] not in MISSING] + [("north", 9, " again")]
    rows = [
        (
            f"{place} {period}{more}",
            place,
            period,
            product,
            float(rng.uniform(0.5, 3.0)),
            int((place, period, product) != ("north", 10, "b")),
            *(float(x) for x in rng.normal(size=2)),
            int(rng.integers(5, 60)) * int((place, period, product) != ("north", 10, "b")),
            400 + 100 * (place == "south"),
        )
        for place, period, more in markets
        for product in ("abc" if place == "north" else "abcd")
    ]
    names = ["market", "city", "week", "product", "price", "available", *ATTRIBUTES]
    return pl.DataFrame(rows, schema=[*names, "count", "visitors"], orient="row")


def weekly(table: pl.DataFrame | None = None, **options: Any) -> Markets:
    given: dict[str, Any] = {
        "attributes": ATTRIBUTES,
        "available": "available",
        "market_size": "visitors",
        "sizes": SIZES,
        "period": "week",
        "place": "city",
    }
    return Markets.from_table(weekly_table() if table is None else table, **{**given, **options})


def random_moving(seed: int, places: int = len(PLACES)) -> MovingDemand:
    """Everything at random; inside `computing`."""
    rng = np.random.default_rng([seed, 7])

    def draw(*shape: int, scale: float = 0.8) -> jnp.ndarray:
        return jnp.asarray(scale * rng.normal(size=shape))

    still = random_demand(seed)
    carried = (
        Memory(draw(), draw(3, 3)),
        Fatigue(draw(), draw(3)),
        Shift(draw(), draw(3, 2), draw(2)),
    )
    usual = Usual(draw(places + 1, 3, scale=0.3), jnp.asarray(rng.uniform(size=places + 1)))
    return MovingDemand(still.population, still.utility, still.scales, carried, draw(3, 3), usual)


def with_history(markets: Markets, recorded: Markets | None = None, **options: Any) -> Offers:
    """Offers with the past that `recorded` knows, which are the markets themselves without it."""
    past = HistoryOf.by(markets if recorded is None else recorded).of(markets, **options)
    return Offers.of(markets)._replace(history=past)


def walked_by_hand(model: MovingDemand, markets: Markets, recorded: Markets) -> np.ndarray:
    """Shares of every slot and of nothing, period after period and place after place.

    `recorded` markets are counted; what others buy is expected.
    """
    numbers = jax.tree.map(np.asarray, (model.utility, model.scales, model.usual, model.carried))
    utility, scales, usual, (memory, fatigue, shift) = numbers
    support = jax.tree.map(np.asarray, support_of(model.population))
    cells, known = _cells(markets), _cells(recorded)
    periods = sorted({period for _, period in cells} | {period for _, period in known})
    labels = list(recorded.marks["city"].labels)
    found = np.zeros((len(markets.markets), markets.price.shape[1] + 1))
    v0, o0 = usual.rates[-1], usual.dose[-1]
    kept = {part.name: expit(part.raw_retention) for part in (memory, fatigue, shift)}
    tired = 1 - np.exp(-o0)
    rest = -tired * shift.fatigue_response / (1 - kept["shift"])
    for place in {place for place, _ in cells}:
        row = labels.index(place) if place in labels else -1
        rates, dose = usual.rates[row], usual.dose[row]
        m, f, d = v0, tired, rest
        for period in periods:
            here = [i for i, cell in enumerate(cells) if cell == (place, period)]
            taste = (m - v0) @ memory.effect + (f - tired) * fatigue.effect
            taste = taste + (rates - v0) @ np.asarray(model.place_effect)
            for i in here:
                found[i] = _shares(utility, scales, support, markets, i, taste, d - rest)
            v, o = rates, dose
            counted = [i for i, cell in enumerate(known) if cell == (place, period)]
            if counted:
                v, o = _bought(recorded, counted, recorded.count[counted], scales)
            elif here:
                v, o = _bought(markets, here, found[here, :-1] * markets.size[here, None], scales)
            m = kept["memory"] * m + (1 - kept["memory"]) * v
            f = kept["fatigue"] * f + (1 - kept["fatigue"]) * (1 - np.exp(-o))
            pushed = (v - v0) @ shift.rate_response - f * shift.fatigue_response
            d = kept["shift"] * d + pushed
    return found


def _cells(markets: Markets) -> list[tuple[Any, Any]]:
    city, week = markets.marks["city"], markets.marks["week"]
    codes = zip(city.of_market, week.of_market, strict=True)
    return [(city.labels[place], week.labels[period]) for place, period in codes]


def _bought(markets: Markets, at: list[int], count: np.ndarray, scales: Any) -> tuple[Any, Any]:
    """Rates and dose of some markets of one place and period."""
    content, size = np.zeros(len(scales.center)), markets.size[at].sum()
    for i, sold in zip(at, count, strict=True):
        for j in range(len(sold)):
            content += sold[j] * (markets.attributes[i, j] - scales.center) / scales.spread
    return content / size, count.sum() / size


def _shares(
    utility: Any, scales: Any, support: Any, markets: Markets, i: int, taste: Any, moved: Any
) -> np.ndarray:
    found = np.zeros(markets.price.shape[1] + 1)
    part = markets.cohort_size[i] / markets.cohort_size[i].sum()
    slots = np.flatnonzero(markets.available[i])
    for g, n in np.ndindex(support.log_weights.shape):
        u = support.points[g, n] + moved
        mind = np.log1p(np.exp(utility.price_intercept + utility.price_loading @ u))
        likes = utility.attribute_effect + taste + utility.attribute_loading @ u
        x = (markets.attributes[i, slots] - scales.center) / scales.spread
        chance = softmax(np.r_[0.0, x @ likes - markets.price[i, slots] / scales.price * mind])
        weight = part[g] * np.exp(support.log_weights[g, n])
        found[-1] += weight * chance[0]
        found[slots] += weight * chance[1:]
    return found
