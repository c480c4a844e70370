"""Which behaviours come together: counted, forecast a day ahead, and as chance alone would."""

import altair as alt
import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.fit import Fit
from dgd.model.bits import behavior_bits
from dgd.report.charts.colors import EXPECTED, OBSERVED, WORSE

CELL = 60
"""Pixels of a cell, which holds three lines of text."""
RATES_WIDTH, LABEL_LIMIT = 200, 220
MOST_BESIDE, RATES_IN_A_ROW = 4, 3
"""Behaviours up to which rates stand beside the map, one below the other."""
MOST_LIFT = 4.0
"""Lifts beyond this, and below one over it, have the darkest colours."""


def co_occurrence_table(fit: Fit) -> pl.DataFrame:
    """One row per pair of behaviours, and per behaviour with itself, which is its rate.

    `observed` is the share of arrivals that show both, `forecast` the same as it was forecast a
    day ahead, `independent` what both rates would give if one said nothing of the other, and
    `lift` how many times that is observed. Days are those after training, or where none was
    counted the training days.
    """
    counted, forecast = _shares_of_patterns(fit)
    shown, ahead = (_pairs(share.sum(0)) for share in (counted, forecast))
    rates, names = np.diagonal(shown), fit.panel.behaviors
    rows = []
    for first, second in zip(*np.tril_indices(len(names)), strict=True):
        alone = first == second
        chance = None if alone else float(rates[first] * rates[second])
        rows.append(
            {
                "first": names[second],
                "second": names[first],
                "observed": float(shown[first, second]),
                "forecast": float(ahead[first, second]),
                "independent": chance,
                "lift": float(shown[first, second] / chance) if chance else None,
            }
        )
    kinds = dict.fromkeys(("observed", "forecast", "independent", "lift"), pl.Float64)
    return pl.DataFrame(rows, schema={"first": pl.String, "second": pl.String, **kinds})


def behavior_rates_table(fit: Fit) -> pl.DataFrame:
    """One row per cohort and behaviour: its rate as counted and as forecast a day ahead, on the
    same days; nothing where nobody of the cohort arrived."""
    counted, forecast = _shares_of_patterns(fit)
    bits = behavior_bits(len(fit.panel.behaviors))
    arrived = counted.sum(1, keepdims=True)
    with np.errstate(invalid="ignore"):
        observed, expected = counted @ bits / arrived, forecast @ bits / arrived
    cohort, behavior = (index.ravel() for index in np.indices(observed.shape))
    return pl.DataFrame(
        {
            "cohort": [str(fit.panel.cohorts[index]) for index in cohort],
            "behavior": [fit.panel.behaviors[index] for index in behavior],
            "observed": observed.ravel(),
            "forecast": expected.ravel(),
        }
    ).with_columns(pl.col("observed", "forecast").fill_nan(None))


def _days(fit: Fit) -> Int[np.ndarray, " day"]:
    """The days after training with any arrivals among them, or else the training days."""
    later = np.arange(fit.split.train_stop, fit.panel.days)
    if fit.panel.arrivals[later].sum() > 0:
        return later
    return np.arange(fit.first_origin + 1, fit.split.train_stop)


def _shares_of_patterns(
    fit: Fit,
) -> tuple[Float[np.ndarray, "cohort pattern"], Float[np.ndarray, "cohort pattern"]]:
    """The share of all arrivals that each cohort and pattern has, counted and forecast.

    Forecasts are probabilities of an arrival's pattern, weighed by the arrivals counted.
    """
    days = _days(fit)
    q = fit.predict(days - 1, 1).averaged().patterns[0, 0]
    arrivals = fit.panel.arrivals[days]
    total = arrivals.sum()
    counted = fit.panel.patterns[days].sum((0, 1)) / total
    return counted, (arrivals[..., None] * q).sum((0, 1)) / total


def _pairs(share: Float[np.ndarray, " pattern"]) -> Float[np.ndarray, "behavior behavior"]:
    """sum_y y_h y_h' q(y)."""
    bits = behavior_bits(int(np.log2(len(share))))
    return np.asarray(bits.T @ (share[:, None] * bits))


def co_occurrence_chart(fit: Fit) -> alt.HConcatChart | alt.VConcatChart:
    """Pairs of behaviours as a map with numbers, and the rates of every cohort beside or below."""
    about = alt.TitleParams(
        "Behaviours, and which of them come together",
        subtitle=_explained(fit),
        subtitleColor="#555555",
    )
    behaviors = len(fit.panel.behaviors)
    parts = [_map(fit), _rates(fit)] if behaviors > 1 else [_rates(fit)]
    together = alt.hconcat if behaviors <= MOST_BESIDE else alt.vconcat
    chart = together(*parts, spacing=30).resolve_scale(color="independent")
    return chart.properties(title=about)


def _explained(fit: Fit) -> list[str]:
    days = _days(fit)
    first, last = (str(fit.panel.dates[day]) for day in (days[0], days[-1]))
    when = f"Arrivals from {first} to {last}."
    if len(fit.panel.behaviors) == 1:
        return [when]
    return [
        f"{when} On the diagonal: the share that shows the behaviour. Below it: the share that",
        "shows both, and how many times what chance would give. In brackets: forecast a day ahead.",
    ]


def _map(fit: Fit) -> alt.LayerChart:
    names = list(fit.panel.behaviors)
    table = co_occurrence_table(fit).with_columns(
        pl.col("lift").log(2).clip(-np.log2(MOST_LIFT), np.log2(MOST_LIFT)).alias("doublings")
    )
    axis = alt.Axis(labelAngle=-40, labelLimit=LABEL_LIMIT, domain=False, ticks=False)
    x = alt.X("first:N", title=None, sort=names, axis=axis)
    y = alt.Y(
        "second:N",
        title=None,
        sort=names,
        axis=alt.Axis(labelLimit=LABEL_LIMIT, domain=False, ticks=False),
    )
    side = CELL * len(names)
    base = alt.Chart(table).encode(x=x, y=y).properties(width=side, height=side)
    most = float(np.log2(MOST_LIFT))
    scale = alt.Scale(domain=[-most, 0.0, most], range=[WORSE, "#f2f2f2", EXPECTED])
    expression = "datum.value == 0 ? 'as chance' : format(pow(2, datum.value), '.3~g') + ' times'"
    legend = alt.Legend(
        orient="bottom", labelExpr=expression, values=[-most, -1, 0, 1, most], gradientLength=side
    )
    told = ["first:N", "second:N"] + [
        alt.Tooltip(f"{name}:Q", format=".1%") for name in ("observed", "forecast", "independent")
    ]
    pair = "isValid(datum.lift)"
    cells = (
        base.transform_filter(pair)
        .mark_rect(stroke="white")
        .encode(
            color=alt.Color(
                "doublings:Q", title="together, against chance", scale=scale, legend=legend
            ),
            tooltip=[*told, alt.Tooltip("lift:Q", format=".2f")],
        )
    )
    itself = base.transform_filter(f"!{pair}").mark_rect(color="#d9d9d9", stroke="white")
    texts = [
        _text(base, "format(datum.observed, '.1%')", -14, 13),
        _text(base.transform_filter(pair), "format(datum.lift, '.2~f') + ' x'", 2, 10),
        _text(base, "'(' + format(datum.forecast, '.1%') + ')'", 16, 10),
    ]
    return alt.LayerChart(layer=[cells, itself, *texts])


def _text(base: alt.Chart, expression: str, down: int, size: int) -> alt.Chart:
    return (
        base.transform_calculate(told=expression)
        .mark_text(dy=down, fontSize=size, color="black")
        .encode(text="told:N")
    )


def _rates(fit: Fit) -> alt.FacetChart:
    names = list(fit.panel.behaviors)
    cohorts = [str(cohort) for cohort in fit.panel.cohorts]
    x = alt.X("observed:Q", title=None, axis=alt.Axis(format="%", tickCount=5))
    y = alt.Y("cohort:N", title=None, sort=cohorts, axis=alt.Axis(labelLimit=LABEL_LIMIT))
    told = ["cohort:N", "behavior:N"] + [
        alt.Tooltip(f"{name}:Q", format=".1%") for name in ("observed", "forecast")
    ]
    base = alt.Chart().encode(y=y, tooltip=told)
    bars = base.mark_bar(color=OBSERVED, opacity=0.5).encode(x=x)
    ticks = base.mark_tick(color=EXPECTED, thickness=3).encode(x="forecast:Q")
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    return (
        alt.layer(bars, ticks, data=behavior_rates_table(fit))
        .properties(width=RATES_WIDTH, height=alt.Step(14))
        .facet(
            alt.Facet("behavior:N", title=None, sort=names, header=header),
            columns=1 if len(names) <= MOST_BESIDE else RATES_IN_A_ROW,
            spacing=8,
        )
        .properties(
            title=alt.TitleParams(
                "Rates by cohort: counted (bars), forecast (lines)", fontSize=12, anchor="start"
            )
        )
    )
