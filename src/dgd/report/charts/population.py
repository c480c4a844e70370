"""Who is there and who is seen, for experts: learned densities, their components and nodes.

The population as it is, and the same weighted by contact, which is what recorded arrivals show.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np
import polars as pl
from scipy.stats import norm

from dgd.diagnostics.crowd_views import VIEWS
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.population.population import AbstractPopulation
from dgd.report.charts.colors import CHANGED, EXPECTED
from dgd.runtime import computing
from dgd.tables.labels import Label

POINTS = 200
REACH = 3.5
"""Standard deviations to either side that are drawn."""
COHORTS_IN_A_ROW = 4
WHOLE = "all"
"""The part that is the whole mixture; the others are its components."""
CALLED = {"there": "there", "seen": "seen (weighted by contact)"}


def density_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, view, cohort, part and propensity: the density of the first dimension.

    The view is who is "there" or who is "seen"; the parts are the whole mixture and each
    component times its share, so that components sum to the whole.
    """
    parts = []
    for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
        with computing():
            views = {view: of(crowd) for view, of in VIEWS.items()}
        grid = _grid(list(views.values()))
        for view, population in views.items():
            of_view = _density_of(population, fit.panel.cohorts, grid)
            parts.append(
                of_view.select(
                    pl.lit(seed, pl.Int64).alias("seed"), pl.lit(view).alias("people"), pl.all()
                )
            )
    return pl.concat(parts)


def _grid(populations: Sequence[AbstractPopulation]) -> np.ndarray:
    """Propensities that hold all of the populations."""
    if not all(population.has_density for population in populations):
        raise InputError("a discrete population has no density; ask for node_table instead.")
    with computing():
        types = [tuple(np.asarray(x) for x in population.types()) for population in populations]
    low = min((mean - REACH * spread)[..., 0].min() for _, mean, spread in types)
    high = max((mean + REACH * spread)[..., 0].max() for _, mean, spread in types)
    return np.linspace(low, high, POINTS)


def _density_of(
    population: AbstractPopulation, cohorts: Sequence[Label], grid: np.ndarray
) -> pl.DataFrame:
    with computing():
        share, mean, spread = (np.asarray(x) for x in population.types())
    each = share[..., None] * norm.pdf(grid, mean[..., :1], spread[..., :1])
    densities = np.concatenate([each.sum(1, keepdims=True), each], 1)
    names = [WHOLE, *(str(k + 1) for k in range(each.shape[1]))]
    cohort, part, point = (index.ravel() for index in np.indices(densities.shape))
    return pl.DataFrame(
        {
            "cohort": [str(cohorts[int(index)]) for index in cohort],
            "part": [names[index] for index in part],
            "propensity": grid[point],
            "density": densities.ravel(),
        }
    )


def node_table(fit: Fit) -> pl.DataFrame:
    """One row per seed, view, cohort and node: where it stands and how much it weighs."""
    parts = []
    for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
        for view, of in VIEWS.items():
            with computing():
                support = of(crowd).support()
                points, weight = np.asarray(support.points), np.exp(support.log_weights)
            cohort, node = (index.ravel() for index in np.indices(weight.shape))
            parts.append(
                pl.DataFrame(
                    {
                        "seed": np.full(weight.size, seed),
                        "people": [view] * weight.size,
                        "cohort": [str(fit.panel.cohorts[index]) for index in cohort],
                        "propensity": points[cohort, node, 0],
                        "weight": weight.ravel(),
                    }
                )
            )
    return pl.concat(parts)


def density_chart(fit: Fit) -> alt.FacetChart:
    """Both views of every cohort, of the seed that validates best: the mixture as a line, its
    components dashed, nodes below sized by weight; the mixtures of other seeds are faint.

    A discrete population is its nodes alone.
    """
    nodes = node_table(fit).filter(seed=fit.best_seed)
    smooth = fit.crowds[0].population.has_density
    layers = [*(_lines(fit.best_seed) if smooth else ()), _nodes(smooth)]
    data = pl.concat([density_table(fit), nodes], how="diagonal") if smooth else nodes
    columns = min(COHORTS_IN_A_ROW, len(fit.panel.cohorts))
    order = [str(cohort) for cohort in fit.panel.cohorts]
    told = "Line: all; dashed: each type; points: nodes by weight" if smooth else "Points by weight"
    faint = "; faint: the other seeds" if smooth and len(fit.seeds) > 1 else ""
    return (
        alt.layer(*layers, data=data.with_columns(pl.col("people").replace_strict(CALLED)))
        .properties(width=max(170, 640 // columns), height=180)
        .facet(alt.Facet("cohort:N", title=None, sort=order), columns=columns)
        .properties(
            title=alt.TitleParams(
                "Response propensities of those there and of those seen",
                subtitle=f"{told}{faint}.",
                subtitleColor="#555555",
            )
        )
    )


def _color() -> alt.Color:
    scale = alt.Scale(domain=list(CALLED.values()), range=[EXPECTED, CHANGED])
    legend = alt.Legend(orient="top", symbolType="stroke", symbolOpacity=1.0, labelLimit=300)
    return alt.Color("people:N", title="people", scale=scale, legend=legend)


def _lines(best: int) -> list[alt.Chart]:
    base = alt.Chart().encode(
        x=alt.X("propensity:Q", title="response propensity"),
        y=alt.Y("density:Q", title="density"),
        color=_color(),
        detail=["seed:N", "part:N"],
    )
    whole = f"isValid(datum.density) && datum.part == '{WHOLE}'"
    component = f"isValid(datum.density) && datum.part != '{WHOLE}'"
    return [
        base.transform_filter(f"{whole} && datum.seed != {best}").mark_line(
            strokeWidth=1, opacity=0.3
        ),
        base.transform_filter(f"{component} && datum.seed == {best}").mark_line(
            strokeWidth=1, strokeDash=[4, 3]
        ),
        base.transform_filter(f"{whole} && datum.seed == {best}").mark_line(strokeWidth=2),
    ]


def _nodes(smooth: bool) -> alt.Chart:
    """On the ground of densities, or by their weight where there is nothing else."""
    height = alt.datum(0.0) if smooth else alt.Y("weight:Q", title="share")
    legend = alt.Legend(orient="top", values=[0.05, 0.2, 0.5], format=".2f")
    return (
        alt.Chart()
        .transform_filter("isValid(datum.weight)")
        .mark_point(filled=True, opacity=0.6)
        .encode(
            x=alt.X("propensity:Q", title="response propensity"),
            y=height,
            size=alt.Size("weight:Q", title="weight of a node", legend=legend),
            color=_color(),
        )
    )
