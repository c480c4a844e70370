r"""Who is there and who is seen: two ways to write the same model.

People who are reached often stand behind more of the recorded behaviour. With
exponential intensity that reweighting is again a Gaussian mixture,

.. math:: \tilde\mu_k = \mu_k + \Sigma_k\gamma, \qquad \tilde\pi_k \propto \pi_k
    \exp(\gamma^T\mu_k + \tfrac12\gamma^T\Sigma_k\gamma)

so an arrival-weighted model and a separated one with this population and the
intercept a + log Z - log Z~ say the same of every day. The map is exact while
no intensity is clipped.
"""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import numpy as np
import polars as pl

from dgd.diagnostics.scored_days import said_of, scored_days
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.model import Model
from dgd.model.population import AbstractPopulation
from dgd.model.readout import ArrivalWeighted, Separated
from dgd.runtime import computing

NODES = (7, 25, 61)


def who_is_seen(model: Model) -> AbstractPopulation:
    """The population behind recorded arrivals."""
    if isinstance(model.readout, Separated):
        return model.readout.population
    return model.population.tilted(model.arrival.loading)


def who_is_there(model: Model) -> AbstractPopulation:
    """The population that, weighted by arrivals, shows the recorded behaviour."""
    if isinstance(model.readout, Separated):
        return model.readout.population.tilted(-model.arrival.loading)
    return model.population


def separate(model: Model) -> Model:
    """An arrival-weighted model as the separated one that predicts the same."""
    if not isinstance(model.readout, ArrivalWeighted):
        raise InputError("this model's readout is separated already; join takes it back.")
    seen = who_is_seen(model)
    return replace(_with_arrivals_from(model, seen), readout=Separated(seen))


def join(model: Model) -> Model:
    """A separated model as the arrival-weighted one that predicts the same.

    The population becomes that of the behaviour before arrivals weighed it;
    arrivals keep their totals through their intercept.
    """
    if not isinstance(model.readout, Separated):
        raise InputError("this model's readout is weighted by arrivals already; separate it.")
    return replace(_with_arrivals_from(model, who_is_there(model)), readout=ArrivalWeighted())


def _with_arrivals_from(model: Model, population: AbstractPopulation) -> Model:
    """The same arrivals, integrated over another population."""
    loading = model.arrival.loading
    lost = model.population.log_moment(loading) - population.log_moment(loading)
    moved = eqx.tree_at(lambda m: m.arrival.intercept, model, model.arrival.intercept + lost[None])
    return replace(moved, population=population)


def separated(fit: Fit) -> Fit:
    """The fit with every seed's model separated; it forecasts and saves like any other."""
    with computing():
        return fit.with_models([separate(model) for model in fit.models], readout="separated")


def joined(fit: Fit) -> Fit:
    """The fit with every seed's separated model weighted by arrivals again."""
    with computing():
        return fit.with_models([join(model) for model in fit.models], readout="weighted")


def tilting_table(fit: Fit, nodes: Sequence[int] = NODES) -> pl.DataFrame:
    """One row per seed and number of nodes: how far the two ways of writing it differ."""
    days = scored_days(fit)
    other = joined(fit) if fit.settings.readout == "separated" else separated(fit)
    rows = []
    for count in nodes:
        one, two = (said_of(form.with_nodes(count), days) for form in (fit, other))
        expected = np.maximum(one.arrivals, 1e-12)
        moved = np.abs(two.arrivals - one.arrivals)
        for place, seed in enumerate(fit.seeds):
            rows.append(
                {
                    "seed": seed,
                    "nodes": count,
                    "NLL difference": float(abs(two.nll[place] - one.nll[place])),
                    "probability difference": float(
                        np.abs(two.patterns[place] - one.patterns[place]).max()
                    ),
                    "arrivals difference": float(
                        np.where(moved > 0, moved / expected, 0.0)[place].max()
                    ),
                }
            )
    return pl.DataFrame(rows)
