"""Who is out there: the densities a fit has learned, with their quadrature nodes."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl
from scipy.stats import norm

from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.population.population import AbstractPopulation
from dgd.report.charts.colors import label_scale
from dgd.runtime import computing
from dgd.tables.labels import Label

POINTS = 200
COHORTS_IN_A_ROW = 4


def density_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, cohort and propensity: the density of the first dimension."""
    return pl.concat(
        density_of(run.parameters.population, fit.panel.cohorts).with_columns(
            pl.lit(run.seed, pl.Int64).alias("seed")
        )
        for run in fit.runs
    ).select("seed", "cohort", "propensity", "density")


def density_of(population: AbstractPopulation, cohorts: Sequence[Label]) -> pl.DataFrame:
    """One row per cohort and propensity; all cohorts share their propensities."""
    with computing():
        share, mean, spread = (np.asarray(x) for x in population.types())
    mean, scale = mean[..., 0], spread[..., 0]
    if not population.has_density:
        raise InputError("a discrete population has no density; ask for node_table instead.")
    grid = np.linspace((mean - 3.5 * scale).min(), (mean + 3.5 * scale).max(), POINTS)
    density = (share[..., None] * norm.pdf(grid, mean[..., None], scale[..., None])).sum(1)
    return pl.DataFrame(
        {
            "cohort": [str(cohort) for cohort in cohorts for _ in range(POINTS)],
            "propensity": np.tile(grid, len(cohorts)),
            "density": density.ravel(),
        }
    )


def node_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, cohort and node: where it stands and how much it weighs."""
    parts = []
    for run in fit.runs:
        with computing():
            support = run.parameters.population.support()
            points, weights = np.asarray(support.points), np.exp(support.log_weights)
        for index, cohort in enumerate(fit.panel.cohorts):
            parts.append(
                pl.DataFrame(
                    {
                        "seed": np.full(len(weights[index]), run.seed),
                        "cohort": [str(cohort)] * len(weights[index]),
                        "propensity": points[index, :, 0],
                        "weight": weights[index],
                    }
                )
            )
    return pl.concat(parts)


def cohort_facet(fit: Fit) -> alt.Facet:
    """A panel for every cohort, in the order of the data."""
    order = [str(cohort) for cohort in fit.panel.cohorts]
    return alt.Facet("cohort:N", title=None, sort=order)


def population_chart(fit: Fit) -> alt.FacetChart:
    """Densities of every cohort, one line a seed, nodes below sized by weight."""
    panel_width = max(160, 620 // min(COHORTS_IN_A_ROW, len(fit.panel.cohorts)))
    color = alt.Color("seed:N", title="seed", scale=label_scale(fit.seeds))
    x = alt.X("propensity:Q", title="response propensity")
    lines = (
        alt.Chart()
        .transform_filter("isValid(datum.density)")
        .mark_line(strokeWidth=1.5)
        .encode(x=x, y=alt.Y("density:Q"), color=color)
    )
    nodes = (
        alt.Chart()
        .transform_filter("isValid(datum.weight)")
        .mark_point(filled=True, opacity=0.6)
        .encode(x=x, y=alt.datum(0.0), size=alt.Size("weight:Q", title="weight"), color=color)
    )
    data = pl.concat([density_table(fit), node_table(fit)], how="diagonal")
    return (
        alt.layer(lines, nodes, data=data)
        .properties(width=panel_width, height=180)
        .facet(cohort_facet(fit), columns=COHORTS_IN_A_ROW)
        .properties(title="Who is out there: learned densities and their nodes")
    )
