"""Who minds prices: people by price sensitivity."""

from typing import NamedTuple

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float
from scipy.stats import norm

from dgd.choice import ChoiceDemand, ChoiceFit
from dgd.choice.segments import SENSITIVITY
from dgd.report.charts.colors import LABELS
from dgd.runtime import computing

BANDS = 60
REACH = 0.999
"""The bands end where this part of the people of every cohort is below."""
X_TITLE = f"{SENSITIVITY}: utility lost per unit of money"
SEED_COLOR = alt.Color("seed:N", title="seed", scale=alt.Scale(range=list(LABELS)))
TYPE_FACTS = ["seed:N", "type:N", "share of type:Q", f"{SENSITIVITY}:Q"]


def sensitivity_table(fit: ChoiceFit) -> pl.DataFrame:
    """One row per seed, cohort and band of price sensitivity: the share of people in it.

    Sensitivity is softplus of a propensity that is Gaussian within a type, so that the shares
    are exact; the last band holds everyone above it.
    """
    runs = [_Scores.of(demand) for demand in fit.parameters]
    top = max(scores.highest() for scores in runs)
    edges = np.linspace(0.0, top, BANDS + 1)
    cohorts = [str(cohort) for cohort in fit.markets.cohorts]
    parts = []
    for seed, scores in zip(fit.seeds, runs, strict=True):
        below = scores.part_below(edges)
        below[:, 0], below[:, -1] = 0.0, 1.0
        parts.append(
            pl.DataFrame(
                {
                    "seed": np.full(len(cohorts) * BANDS, seed),
                    "cohort": [cohort for cohort in cohorts for _ in range(BANDS)],
                    "from": np.tile(edges[:-1], len(cohorts)),
                    "to": np.tile(edges[1:], len(cohorts)),
                    "share": np.diff(below).ravel(),
                }
            )
        )
    return pl.concat(parts)


def sensitivity_chart(fit: ChoiceFit) -> alt.FacetChart:
    """People by price sensitivity, one colour a seed, with a mark for every type.

    Types stand at their mean. In a population without a density they are all there is, and
    stand at the height of their share.
    """
    types = fit.segments("polars").select(
        "seed",
        pl.col("cohort").cast(pl.String),
        pl.col("type").cast(pl.String),
        pl.col("share").alias("share of type"),
        SENSITIVITY,
    )
    if fit.parameters[0].population.has_density:
        shown, marks = [sensitivity_table(fit), types], _bands_and_types()
    else:
        shown, marks = [types], _type_stems()
    named = alt.Header(labels=len(fit.markets.cohorts) > 1)
    return (
        alt.layer(*marks, data=pl.concat(shown, how="diagonal"))
        .properties(width=max(200, 620 // len(fit.markets.cohorts)), height=200)
        .facet(column=alt.Column("cohort:N", title=None, header=named))
        .properties(title="Who minds prices: people by price sensitivity")
    )


def _bands_and_types() -> list[alt.Chart]:
    bands = (
        alt.Chart()
        .transform_filter("isValid(datum.share)")
        .mark_line(interpolate="step-after", strokeWidth=1.5, opacity=0.85)
        .encode(x=alt.X("from:Q", title=X_TITLE), y=_people("share"), color=SEED_COLOR)
    )
    means = (
        alt.Chart()
        .transform_filter("isValid(datum['share of type'])")
        .mark_point(filled=True, opacity=0.75)
        .encode(
            x=f"{SENSITIVITY}:Q",
            y=alt.datum(0.0),
            size=alt.Size(
                "share of type:Q",
                title="types at their means",
                scale=alt.Scale(domain=[0, 1], range=[0, 300]),
                legend=alt.Legend(format="%", values=[0.25, 0.5, 0.75]),
            ),
            color=SEED_COLOR,
            tooltip=TYPE_FACTS,
        )
    )
    return [bands, means]


def _type_stems() -> list[alt.Chart]:
    x = alt.X(f"{SENSITIVITY}:Q", title=X_TITLE, scale=alt.Scale(zero=True))
    base = alt.Chart().encode(x=x, y=_people("share of type"), color=SEED_COLOR)
    stems = base.mark_rule(strokeWidth=1.5, opacity=0.85).encode(y2=alt.datum(0.0))
    return [stems, base.mark_point(filled=True, size=80).encode(tooltip=TYPE_FACTS)]


def _people(column: str) -> alt.Y:
    scale = alt.Scale(zero=True)
    return alt.Y(f"{column}:Q", title="share of people", axis=alt.Axis(format="%"), scale=scale)


class _Scores(NamedTuple):
    """Price sensitivity before softplus, a_C + v_C' u, which is Gaussian within a type."""

    share: Float[np.ndarray, "cohort type"]
    mean: Float[np.ndarray, "cohort type"]
    spread: Float[np.ndarray, "cohort type"]
    money: float
    """The price that counts as one on the scales of the model."""

    @staticmethod
    def of(model: ChoiceDemand) -> "_Scores":
        """Quadrature is exact for the first two moments."""
        with computing():
            points, log_weights = model.population.support()
            types = model.population.types().share.shape[1]
            score = np.asarray(points @ model.utility.price_loading + model.utility.price_intercept)
            weight, money = np.exp(np.asarray(log_weights)), float(model.scales.price)
        weight, score = (x.reshape(len(x), types, -1) for x in (weight, score))
        share = weight.sum(2)
        inside = weight / share[..., None]
        mean = (inside * score).sum(2)
        spread = np.sqrt((inside * (score - mean[..., None]) ** 2).sum(2))
        return _Scores(share, mean, spread, money)

    def part_below(
        self, sensitivity: Float[np.ndarray, " edge"]
    ) -> Float[np.ndarray, "cohort edge"]:
        """The part of every cohort whose price sensitivity is below each edge."""
        scaled = np.maximum(sensitivity * self.money, np.finfo(float).tiny)
        # log(e^x - 1) undoes softplus; this form does not overflow.
        score = scaled + np.log(-np.expm1(-scaled))
        # A spread of nothing makes the distribution function a step.
        narrow = np.maximum(self.spread, 1e-9)[..., None]
        below = norm.cdf((score - self.mean[..., None]) / narrow)
        return np.asarray((self.share[..., None] * below).sum(1))

    def highest(self) -> float:
        """The sensitivity below which nearly everyone of every cohort is."""
        reach = self.mean.max() + 5 * self.spread.max()
        candidates = np.linspace(0.0, np.logaddexp(0.0, reach) / self.money, 2001)[1:] * 1.02
        everyone = self.part_below(candidates).min(0)
        return float(candidates[np.argmax(everyone >= REACH)])
