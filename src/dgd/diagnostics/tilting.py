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
from dgd.fit import Fit
from dgd.model.crowd import Crowd
from dgd.runtime import computing

NODES = (7, 25, 61)


def other_form(crowd: Crowd) -> Crowd:
    """The crowd with the other readout that predicts the same; doing it twice leads back.

    A crowd weighted by arrivals becomes a separated one and the other way round. Arrivals
    keep their totals through their intercept.
    """
    loading = crowd.arrival.loading
    population, readout = crowd.readout.other_form(crowd.population, loading)
    lost = crowd.population.log_moment(loading) - population.log_moment(loading)
    moved = eqx.tree_at(lambda c: c.arrival.intercept, crowd, crowd.arrival.intercept + lost[None])
    return replace(moved, population=population, readout=readout)


def in_other_form(fit: Fit) -> Fit:
    """The fit with every seed's crowd in its other form; it forecasts and saves like any other."""
    with computing():
        crowds = [other_form(crowd) for crowd in fit.crowds]
    return fit.with_crowds(crowds, readout=crowds[0].readout.name)


def tilting_table(fit: Fit, nodes: Sequence[int] = NODES) -> pl.DataFrame:
    """One row per seed and number of nodes: how far the two ways of writing it differ."""
    days = scored_days(fit)
    other = in_other_form(fit)
    rows = []
    for count in nodes:
        one, two = (said_of(form.with_nodes(count), days) for form in (fit, other))
        expected = np.maximum(one.arrivals, 1e-12)
        moved = np.abs(two.arrivals - one.arrivals)
        for number, seed in enumerate(fit.seeds):
            rows.append(
                {
                    "seed": seed,
                    "nodes": count,
                    "NLL difference": float(abs(two.nll[number] - one.nll[number])),
                    "probability difference": float(
                        np.abs(two.patterns[number] - one.patterns[number]).max()
                    ),
                    "arrivals difference": float(
                        np.where(moved > 0, moved / expected, 0.0)[number].max()
                    ),
                }
            )
    return pl.DataFrame(rows)
