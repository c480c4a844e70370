"""A panel's days as the arrays the model works on, past and ahead."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from dgd.errors import InputError
from dgd.model.days import CohortTotals, Everyone, Inputs, Outcomes
from dgd.panel.contexts import EventCounts
from dgd.panel.features import FeatureMaker, season_loadings
from dgd.panel.panel import Panel


def recorded_days(
    panel: Panel, maker: FeatureMaker, start: int, stop: int, dispersion: float
) -> tuple[Inputs, Outcomes]:
    """What was known before and recorded on the counted days from `start` up to `stop`."""
    days = slice(start, stop)
    known = maker.known(panel, panel.known_dates[days], panel.features[days])
    inputs = Inputs(
        calendar=jnp.asarray(known),
        summaries=jnp.asarray(maker.summaries(panel)[days]),
        size=jnp.asarray(panel.size[days]),
        effort=jnp.asarray(panel.effort[days]),
        season=jnp.asarray(season_loadings(panel, panel.known_dates[days])),
    )
    patterns = np.moveaxis(panel.patterns[days], -1, 0).astype(np.float64)
    outcomes = Outcomes.recorded(patterns, dispersion)
    if panel.everyone is None:
        return inputs, outcomes
    return inputs, replace(outcomes, everyone=_everyone(panel, days))


def _everyone(panel: Panel, days: slice) -> Everyone:
    """What all units counted, of which the panel holds some."""
    arrivals = panel.together.arrivals[days].astype(np.float64)
    behaviors = panel.together.behavior_counts[days].astype(np.float64)
    own, all_of = panel.arrivals[days].sum((0, 1)), arrivals.sum(0)
    alike = panel.together.units / len(panel.units)
    times = np.where(own > 0, all_of / np.maximum(own, 1), alike)
    totals = CohortTotals(jnp.asarray(arrivals), jnp.asarray(behaviors))
    return Everyone(totals, jnp.asarray(times))


def recorded_events(
    panel: Panel, maker: FeatureMaker, start: int, stop: int, dispersion: float
) -> tuple[Inputs, Outcomes]:
    """The same days, with every event's own context beside the counts.

    Without context columns all events of a cell are alike and form one group.
    """
    inputs, outcomes = recorded_days(panel, maker, start, stop, dispersion)
    if panel.events is None:
        events = EventCounts.of_cells(panel.patterns[start:stop])
    else:
        events = panel.events.between(start, stop)
    scaled = replace(events, context=maker.context_scaling.apply(events.context))
    groups = scaled.groups(stop - start, len(panel.units), len(panel.cohorts))
    return inputs, replace(outcomes, events=groups)


def days_ahead(
    panel: Panel, maker: FeatureMaker, origins: Int[np.ndarray, " origin"], horizon: int
) -> list[Inputs]:
    """Inputs of the 1st, 2nd, ... day after each origin, as known at the origin.

    Calendar, features and effort advance; summaries and sizes stay as they
    stood for the first day ahead. The first axis runs over origins.
    """
    last = int(origins.max()) + horizon
    dates = panel.period.range(panel.dates[0], last + 1)
    effort, features = known_until(panel, dates)
    known = maker.known(panel, dates, features)
    summaries = jnp.asarray(maker.summaries(panel)[origins + 1])
    size = jnp.asarray(panel.size[np.minimum(origins + 1, panel.days - 1)])
    season = season_loadings(panel, dates)
    return [
        Inputs(
            jnp.asarray(known[origins + step]),
            summaries,
            size,
            jnp.asarray(effort[origins + step]),
            jnp.asarray(season[origins + step]),
        )
        for step in range(1, horizon + 1)
    ]


def known_until(panel: Panel, dates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Effort and features on `dates`; effort is 1 beyond the panel where none was given."""
    beyond = len(dates) - len(panel.known_dates)
    if beyond <= 0:
        return panel.effort[: len(dates)], panel.features[: len(dates)]
    missing = [
        name
        for name, given in (("features", bool(panel.feature_names)), ("effort", panel.has_effort))
        if given
    ]
    if missing:
        raise InputError(
            f"{missing[0]} for {dates[len(panel.known_dates)]} and later are not known; give them "
            f"to forecast({missing[0]}=...) for every date up to {dates[-1]}."
        )
    shape = (beyond, len(panel.units), len(panel.cohorts))
    effort = np.concatenate([panel.effort, np.ones(shape)])
    return effort, np.concatenate([panel.features, np.zeros((*shape, 0))])
