"""What a practitioner should know before reading parameters as facts about people.

Forecasts can be good where single parameters are not determined by the counts.
Every warning names where it applies, what was found, and what to do.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl

from dgd.fit import Fit
from dgd.learning.crowd_tables import dynamics_table
from dgd.model.arrival import LOG_INTENSITY_RANGE
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.model.population.gaussian_mixture import SCALE_FLOOR
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing
from dgd.tables.frames import from_polars

CLOSE_MEANS = 0.1
"""Components whose means lie within this many of their standard deviations ..."""
CLOSE_SPREADS = 1.1
"""... and whose spreads differ by at most this factor, are one component."""
SMALL_SHARE = 0.01
NEAR_FLOOR = 1.2
"""A scale within this factor of its floor was stopped by it."""
EDGE = 0.01
ARRIVALS_PER_PARAMETER = 10
FEW_SHOWN = 20

SCHEMA = {
    "seed": pl.Int64,
    "warning": pl.String,
    "where": pl.String,
    "value": pl.Float64,
    "advice": pl.String,
}


def identifiability(fit: Fit, kind: str | None = None) -> Any:
    """One row per warning; an empty table means that nothing was found."""
    rows: list[tuple[int | None, str, str, float, str]] = []
    with computing():
        for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
            for found in (
                *_of_components(fit, crowd),
                *_of_retention(seed, crowd),
                *_of_clipping(fit, seed, crowd),
            ):
                rows.append((seed, *found))
    rows += [(None, *found) for found in _of_data(fit)]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return from_polars(table, kind or fit.panel.kind)


def _of_components(fit: Fit, crowd: Crowd) -> Iterator[tuple[str, str, float, str]]:
    """Types that coincide, have vanished, or were stopped by the floor of their scale."""
    share, mean, spread = (np.asarray(part) for part in crowd.who_is_there().types())
    fewer = "fit with fewer components"
    for index, cohort in enumerate(fit.panel.cohorts):
        for one, other in combinations(range(share.shape[1]), 2):
            scales = spread[index, [one, other]]
            if not (scales > 0).all():
                continue
            apart = np.abs(mean[index, one] - mean[index, other]) / scales.mean(0)
            alike = scales.max(0) / scales.min(0) <= CLOSE_SPREADS
            if (apart <= CLOSE_MEANS).all() and alike.all():
                where = f"cohort {cohort}, types {one + 1} and {other + 1}"
                yield "components coincide", where, float(apart.max()), fewer
        for component in range(share.shape[1]):
            where = f"cohort {cohort}, type {component + 1}"
            if share[index, component] < SMALL_SHARE:
                yield "weight vanished", where, float(share[index, component]), fewer
            scale = float(spread[index, component].min())
            if 0 < scale < NEAR_FLOOR * SCALE_FLOOR:
                advice = 'read the type as a point, or fit with population="discrete"'
                yield "scale at its floor", where, scale, advice


def _of_retention(seed: int, crowd: Crowd) -> Iterator[tuple[str, str, float, str]]:
    for factor, value in dynamics_table([crowd], [seed]).select("factor", "value").iter_rows():
        if not EDGE < value < 1 - EDGE:
            advice = "the counts do not tell how long this lasts; give more days"
            yield "factor at its edge", factor, value, advice


def _of_clipping(fit: Fit, seed: int, crowd: Crowd) -> Iterator[tuple[str, str, float, str]]:
    """How much of the population stood where log-intensity is clipped, on any day."""
    states = jax.tree.map(lambda x: x[:-1], fit.states[fit.seeds.index(seed)])
    days = recorded_days(
        fit.panel, fit.features, fit.split.first, fit.panel.days, fit.settings.dispersion
    )
    share = float(_clipped_share(crowd, states, days[0]))
    if share > 0:
        low, high = LOG_INTENSITY_RANGE
        where = f"log-intensity outside [{low:g}, {high:g}]"
        advice = "who is there and who is seen are not exact; give sizes nearer to a day's arrivals"
        yield "clipping in use", where, share, advice


@eqx.filter_jit
def _clipped_share(crowd: Crowd, states: State, inputs: Inputs) -> jax.Array:
    """The largest share of a cell's people whose log-intensity was clipped."""
    exponent = crowd.exponent(states, inputs)
    low, high = LOG_INTENSITY_RANGE
    clipped = (exponent < low) | (exponent > high)
    weights = jnp.exp(crowd.population.support().log_weights)[None, None]
    return jnp.where(clipped, weights, 0.0).sum(-1).max()


def _of_data(fit: Fit) -> Iterator[tuple[str, str, float, str]]:
    """Too few arrivals for the parameters, and behaviours hardly ever shown."""
    crowd, panel, train = fit.crowds[0], fit.panel, fit.split.train
    arrays = eqx.filter(crowd, eqx.is_array)
    sizes = jax.tree.map(lambda x, free: x.size * free, arrays, crowd.trainable())
    parameters = sum(jax.tree.leaves(sizes))
    arrivals = int(panel.arrivals[train].sum())
    if arrivals < ARRIVALS_PER_PARAMETER * parameters:
        where = f"{arrivals:,} arrivals in training for {parameters:,} parameters"
        advice = "pool units or cohorts, or give more days"
        yield "few arrivals", where, arrivals / parameters, advice
    shown = panel.behavior_counts[train].sum((0, 1, 2))
    for behavior, count in zip(panel.behaviors, shown, strict=True):
        if count < FEW_SHOWN:
            where = f"{behavior} in training"
            yield "behavior hardly shown", where, float(count), "merge it with another or drop it"
