"""Charts of demand: who minds prices how much, and what a price sells and earns."""

from collections.abc import Sequence
from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float
from scipy.stats import norm

from dgd.choice import ChoiceDemand, ChoiceFit, Markets
from dgd.choice.segments import SENSITIVITY
from dgd.errors import InputError
from dgd.runtime import computing
from dgd.tables.labels import Label

BANDS = 60
PRICES = 25
CURVES = 6
"""So many products are shown where none are named."""
REACH = 0.999
"""The bands end where this part of the people of every cohort is below."""
X_TITLE = f"{SENSITIVITY}: utility lost per unit of money"
SEED_COLOR = alt.Color("seed:N", title="seed")
TYPE_FACTS = ["seed:N", "type:N", "share of type:Q", f"{SENSITIVITY}:Q"]
MEASURES = ("count", "revenue", "revenue of all")


def sensitivity_table(fit: ChoiceFit) -> pl.DataFrame:
    """One row per seed, cohort and band of price sensitivity: the share of people in it.

    Sensitivity is softplus of a propensity that is Gaussian within a type, so that the shares
    are exact; the last band holds everyone above it.
    """
    runs = [_scores(model) for model in fit.models]
    top = max(_highest(*scores) for scores in runs)
    edges = np.linspace(0.0, top, BANDS + 1)
    cohorts = [str(cohort) for cohort in fit.markets.cohorts]
    parts = []
    for seed, scores in zip(fit.seeds, runs, strict=True):
        below = _part_below(edges, *scores)
        below[:, 0], below[:, -1] = 0.0, 1.0
        parts.append(
            pl.DataFrame(
                {
                    "seed": np.full(len(cohorts) * BANDS, seed),
                    "cohort": np.repeat(cohorts, BANDS),
                    "from": np.tile(edges[:-1], len(cohorts)),
                    "to": np.tile(edges[1:], len(cohorts)),
                    "share": np.diff(below).ravel(),
                }
            )
        )
    return pl.concat(parts)


def sensitivity_chart(fit: ChoiceFit) -> alt.FacetChart:
    """People by price sensitivity, one colour a seed, with a mark for every type.

    Types stand at their mean. In a discrete population they are all there is, and stand at
    the height of their share.
    """
    types = fit.segments("polars").select(
        "seed",
        pl.col("cohort").cast(pl.String),
        pl.col("type").cast(pl.String),
        pl.col("share").alias("share of type"),
        SENSITIVITY,
    )
    discrete = fit.settings.population in ("discrete", "point")
    shown = [types] if discrete else [sensitivity_table(fit), types]
    marks = _type_stems() if discrete else _bands_and_types()
    return (
        alt.layer(*marks, data=pl.concat(shown, how="diagonal"))
        .properties(width=max(200, 620 // len(fit.markets.cohorts)), height=200)
        .facet(column=alt.Column("cohort:N", title=None, header=_cohort_header(fit)))
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


def demand_curve_table(
    fit: ChoiceFit,
    products: Sequence[Label] | None = None,
    prices: Sequence[float] | np.ndarray | None = None,
    markets: Markets | None = None,
) -> pl.DataFrame:
    """One row per product, price and measure: its mean over seeds, and the seeds' extremes.

    Every product's price is moved alone, in all `markets` that list it, over `prices` or over
    the prices it was offered at. The measures are its count and revenue, and the revenue of
    all products. Without `products`, the few that sell most.
    """
    markets = markets or fit.markets
    parts = []
    for product in _sold_most(fit, markets) if products is None else products:
        asked = _offered(markets, product) if prices is None else np.asarray(prices, float)
        curves = pl.concat(
            replace(fit, runs=(run,)).demand_curve(product, asked, markets, "polars")
            for run in fit.runs
        )
        long = curves.unpivot(MEASURES, index="price", variable_name="measure")
        value = pl.col("value")
        spread = long.group_by("measure", "price", maintain_order=True).agg(
            value.mean(), value.min().alias("lowest"), value.max().alias("highest")
        )
        parts.append(spread.select(pl.lit(str(product)).alias("product"), pl.all()))
    return pl.concat(parts)


def demand_curve_chart(
    fit: ChoiceFit,
    products: Sequence[Label] | None = None,
    prices: Sequence[float] | np.ndarray | None = None,
    markets: Markets | None = None,
) -> alt.VConcatChart:
    """What each price sells and earns: a line per product, a band between the seeds' extremes."""
    table = demand_curve_table(fit, products, prices, markets)
    named = table["product"].unique(maintain_order=True).to_list()
    titles = {
        "count": "sold of the product",
        "revenue": "revenue of the product",
        "revenue of all": "revenue of all products",
    }
    x = alt.X("price:Q", title="price of the product", scale=alt.Scale(zero=False, nice=False))
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1.0, symbolStrokeWidth=3)
    color = alt.Color("product:N", title="product", sort=named, legend=legend)
    panels = []
    for measure, title in titles.items():
        base = alt.Chart(table.filter(pl.col("measure") == measure)).encode(x=x, color=color)
        y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=measure == "count"))
        line = base.mark_line(strokeWidth=2).encode(y=y)
        band = base.mark_area(opacity=0.2, line=False).encode(
            y=alt.Y("lowest:Q", title=title), y2="highest:Q"
        )
        panels.append(alt.layer(band, line).properties(width=560, height=150))
    return alt.vconcat(*panels).properties(
        title="Demand when one price moves: mean over seeds, and their range"
    )


def _sold_most(fit: ChoiceFit, markets: Markets) -> list[Label]:
    """The products expected to sell most, in the order of the table."""
    if len(markets.products) <= CURVES:
        return list(markets.products)
    columns = markets.columns
    sold = fit.predict(markets, "polars").drop_nulls(columns.price).group_by(columns.product)
    most = set(sold.agg(pl.col("count").sum()).top_k(CURVES, by="count")[columns.product])
    return [product for product in markets.products if str(product) in most]


def _offered(markets: Markets, product: Label) -> Float[np.ndarray, " price"]:
    """Prices between the lowest and highest at which `product` was offered."""
    if product not in markets.products:
        raise InputError(f"product {product!r} is not in the markets; correct the label.")
    place = markets.products.index(product)
    known = markets.price[(markets.product == place) & markets.available]
    if not len(known):
        raise InputError(f"product {product!r} is not available in any market; give prices to try.")
    if np.ptp(known) == 0:
        return known[0] * np.linspace(0.8, 1.2, PRICES)
    return np.linspace(known.min(), known.max(), PRICES)


def _scores(model: ChoiceDemand) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Share, mean and spread of a_C + v_C' u in every cohort and type, and the unit of money.

    Quadrature is exact for the first two moments.
    """
    with computing():
        points, log_weights = model.population.support()
        types = model.population.types().share.shape[1]
        score = np.asarray(points @ model.readout.price_loading + model.readout.price_intercept)
        weight, unit = np.exp(np.asarray(log_weights)), float(model.units.price)
    weight, score = (x.reshape(len(x), types, -1) for x in (weight, score))
    share = weight.sum(2)
    inside = weight / share[..., None]
    mean = (inside * score).sum(2)
    spread = np.sqrt((inside * (score - mean[..., None]) ** 2).sum(2))
    return share, mean, spread, unit


def _part_below(
    sensitivity: Float[np.ndarray, " edge"],
    share: np.ndarray,
    mean: np.ndarray,
    spread: np.ndarray,
    unit: float,
) -> Float[np.ndarray, "cohort edge"]:
    """The part of every cohort whose price sensitivity is below each edge."""
    scaled = np.maximum(sensitivity * unit, np.finfo(float).tiny)
    # log(e^x - 1) undoes softplus; this form does not overflow.
    score = scaled + np.log(-np.expm1(-scaled))
    # A spread of nothing makes the distribution function a step.
    narrow = np.maximum(spread, 1e-9)[..., None]
    return np.asarray((share[..., None] * norm.cdf((score - mean[..., None]) / narrow)).sum(1))


def _highest(share: np.ndarray, mean: np.ndarray, spread: np.ndarray, unit: float) -> float:
    """The sensitivity below which nearly everyone of every cohort is."""
    reach = mean.max() + 5 * spread.max()
    candidates = np.linspace(0.0, np.logaddexp(0.0, reach) / unit, 2001)[1:] * 1.02
    everyone = _part_below(candidates, share, mean, spread, unit).min(0)
    return float(candidates[np.argmax(everyone >= REACH)])


def _cohort_header(fit: ChoiceFit) -> alt.Header:
    """A cohort's name above its panel, where there is more than one."""
    return alt.Header(labels=len(fit.markets.cohorts) > 1)
