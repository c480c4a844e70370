"""Who is there and who is seen: the population and the people behind recorded arrivals."""

import altair as alt
import polars as pl

from dgd.diagnostics.crowd_views import VIEWS, people
from dgd.fit import Fit
from dgd.report.charts.colors import label_scale
from dgd.report.charts.population import COHORTS_IN_A_ROW, cohort_facet, density_of
from dgd.runtime import computing


def people_density_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, view, cohort and propensity: the density of the first dimension."""
    parts = []
    for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
        for view, of in VIEWS.items():
            with computing():
                population = of(crowd)
            table = density_of(population, fit.panel.cohorts)
            parts.append(
                table.select(
                    pl.lit(seed, pl.Int64).alias("seed"), pl.lit(view).alias("people"), pl.all()
                )
            )
    return pl.concat(parts)


def people_chart(fit: Fit) -> alt.FacetChart:
    """Both views of every cohort: densities, or shares where the population is discrete."""
    panel_width = max(160, 620 // min(COHORTS_IN_A_ROW, len(fit.panel.cohorts)))
    color = alt.Color("people:N", title="people", scale=label_scale(list(VIEWS)))
    of_seed = alt.Detail("seed:N")
    if not fit.crowds[0].population.has_density:
        data = people(fit, "polars").with_columns(pl.col("cohort").cast(pl.String))
        mean = alt.X("mean:Q" if "mean" in data.columns else "mean 1:Q", title="propensity")
        marks = (
            alt.Chart(data)
            .mark_point(filled=True, size=60, opacity=0.7)
            .encode(x=mean, y="share:Q", color=color, detail=of_seed)
        )
    else:
        marks = (
            alt.Chart(people_density_table(fit))
            .mark_line(strokeWidth=1.5, opacity=0.8)
            .encode(
                x=alt.X("propensity:Q", title="response propensity"),
                y="density:Q",
                color=color,
                detail=of_seed,
            )
        )
    return (
        marks.properties(width=panel_width, height=180)
        .facet(cohort_facet(fit), columns=COHORTS_IN_A_ROW)
        .properties(title="Who is there, and who is seen")
    )
