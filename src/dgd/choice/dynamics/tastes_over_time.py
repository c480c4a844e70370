"""Where experience has led tastes: the people of every market, as their past has moved them."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.segments import SENSITIVITY, taste
from dgd.runtime import computing


def tastes_over_time(
    parameters: Sequence[MovingDemand], markets: Markets, offers: Offers
) -> pl.DataFrame:
    """One row per market, with its place and period: mean price sensitivity and tastes of its
    people at that time, averaged over seeds, in the user's units."""
    with computing():
        means = np.mean([_means(one, offers) for one in parameters], axis=0)
    columns = markets.columns
    where = [name for name in (columns.place, columns.period) if name is not None]
    labels = {
        name: [markets.marks[name].labels[code] for code in markets.marks[name].of_market]
        for name in where
    }
    names = [SENSITIVITY, *(taste(name) for name in markets.attribute_names)]
    return pl.DataFrame(
        {
            columns.market: list(markets.markets),
            **labels,
            **{name: means[:, index] for index, name in enumerate(names)},
        }
    )


def _means(demand: MovingDemand, offers: Offers) -> Float[np.ndarray, "market figure"]:
    points, weight = demand.weighted_nodes(offers)
    moved = demand.moved(offers)
    there = points[None] + moved.propensity[:, None, None]
    tastes = demand.utility.tastes(there) + moved.tastes[:, None, None]
    sensitivity = demand.utility.price_sensitivity(there) / demand.scales.price
    values = np.concatenate(
        [np.asarray(sensitivity)[..., None], np.asarray(demand.scales.tastes(tastes))], -1
    )
    return np.asarray(np.einsum("mgi,mgia->ma", np.asarray(weight), values))


def retention_table(parameters: Sequence[MovingDemand], seeds: Sequence[int]) -> pl.DataFrame:
    """One row per seed and state: how much of it a period leaves to the next."""
    with computing():
        rows = [
            (seed, part.name, float(part.retention))
            for seed, demand in zip(seeds, parameters, strict=True)
            for part in demand.carried
        ]
    return pl.DataFrame(rows, schema=["seed", "state", "retention"], orient="row")
