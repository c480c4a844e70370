"""What is expected of the days ahead, for whatever unit, cohort and series a reader chooses."""

from collections.abc import Sequence

import altair as alt
import polars as pl

from dgd.report.charts.colors import EXPECTED, OBSERVED, range_shade
from dgd.report.charts.days_ahead import date_axis, part_color
from dgd.report.page.choices import ALL, before
from dgd.report.page.figures import figure, folded, scrolled
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, paragraphs, selector
from dgd.report.page.words import counted, day, more_or_fewer
from dgd.tables.html import escaped
from dgd.tables.labels import Label

ROWS, TOTALS = "forecast", "totals"


def forecast_section(found: Findings) -> Section:
    """Choices, a sentence for the chosen one, the chart, and the numbers of everything together."""
    own = day_table(found)
    words = (
        "Counted before the origin and expected after it, with ranges; the choices above say of "
        "whom."
    )
    body = (
        _controls(found)
        + f'<p aria-live="polite" data-told="{TOTALS}">{escaped(_first_words(found))}</p>'
        + figure("forecast-chart", forecast_figure(found), words, own, rows=ROWS)
        + paragraphs(found.notes, "note")
        + paragraphs(_left_out(found), "soft")
        + _receipts(found)
    )
    return Section("forecast", "What is coming", body)


def forecast_rows(found: Findings) -> dict[str, pl.DataFrame]:
    """The blocks of rows that the section is answered from."""
    return {ROWS: found.choices.days, TOTALS: told_totals(found)}


def told_totals(found: Findings) -> pl.DataFrame:
    """One row per choice: its sentence."""
    words = [_words(found, row) for row in found.choices.totals.iter_rows(named=True)]
    return found.choices.totals.select("unit", "cohort", "series", pl.Series("words", words))


def day_table(found: Findings) -> pl.DataFrame:
    """The forecast of all units and cohorts together, as people read it."""
    panel = found.fit.panel
    table: pl.DataFrame = found.forecast.totals(kind="polars")
    return table.drop("horizon").rename({panel.columns.date: "date"}, strict=False)


def forecast_figure(found: Findings) -> alt.LayerChart:
    """One series of one choice; the page hands over its rows."""
    levels = () if found.forecast.ranges is None else found.forecast.ranges.levels
    parts = {"observed": OBSERVED, "expected": EXPECTED}
    parts |= {f"{level:g} % range": range_shade(at, len(levels)) for at, level in enumerate(levels)}
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=date_axis(found.choices.days["date"]),
        color=part_color(parts),
        tooltip=["date:T", *(f"{name}:Q" for name in found.choices.days.columns[4:])],
    )

    def part(name: str) -> alt.Chart:
        return base.transform_calculate(part=f"'{name}'")

    def y(column: str) -> alt.Y:
        return alt.Y(f"{column}:Q", title=None, scale=alt.Scale(zero=False))

    bands = [
        part(f"{level:g} % range").mark_area().encode(y=y(f"low_{level:g}"), y2=f"high_{level:g}:Q")
        for level in reversed(levels)
    ]
    dots = alt.OverlayMarkDef(size=16)
    lines = [part(one).mark_line(point=dots).encode(y=y(one)) for one in ("observed", "expected")]
    return alt.LayerChart(layer=[*bands, *lines], width="container", height=300)


def _controls(found: Findings) -> str:
    panel = found.fit.panel
    own = [selector("series", "What", [(name, name) for name in panel.series])]
    if len(panel.units) > 1:
        own.append(labels_selector("unit", "Unit", "all units", found.choices.units))
    if len(panel.cohorts) > 1:
        own.append(labels_selector("cohort", "Cohort", "all cohorts", panel.cohorts))
    shown = "".join(own)
    return f'<div class="controls" role="group" aria-label="What is shown">{shown}</div>'


def labels_selector(name: str, label: str, everybody: str, labels: Sequence[Label]) -> str:
    """A choice of one label or of all."""
    return selector(name, label, [(ALL, everybody), *((str(x), str(x)) for x in labels)])


def _first_words(found: Findings) -> str:
    return str(told_totals(found)["words"][0])


def _words(found: Findings, row: dict[str, object]) -> str:
    """One choice in a sentence."""
    panel, forecast = found.fit.panel, found.forecast
    names = [
        f"{key} {row[key]}" if row[key] != ALL else f"all {key}s"
        for key in ("unit", "cohort")
        if len(getattr(panel, f"{key}s")) > 1
    ]
    of = f" of {', '.join(names)}" if names else ""
    first, last = (day(moment, panel.period) for moment in forecast.dates[[0, -1]])
    expected, earlier = float(row["expected"]), float(row["before"])  # type: ignore[arg-type]
    low, high = row.get(f"low_{found.level:g}"), row.get(f"high_{found.level:g}")
    range_words = ""
    if low is not None and high is not None:
        range_words = f" ({found.level:g} % range {counted(low)} to {counted(high)})"  # type: ignore[arg-type]
    said = f"{counted(expected)} {row['series']} expected{of} from {first} to {last}{range_words}"
    days = before(forecast)
    if days.stop - days.start == len(forecast.dates) and earlier > 0:
        return (
            f"{said}, {more_or_fewer(expected, earlier)} the {counted(earlier)} of the "
            f"{len(forecast.dates)} {found.days} before."
        )
    return f"{said}."


def _left_out(found: Findings) -> list[str]:
    left = found.choices.left_out
    if not left:
        return []
    return [
        f"{left:,} units with fewer arrivals cannot be chosen here, to keep the page small; "
        "dgd forecast --by date,unit,behavior has them all."
    ]


def _receipts(found: Findings) -> str:
    """How far ranges can be trusted: a sentence per level, and the receipts themselves."""
    if found.forecast.ranges is None:
        return ""
    table: pl.DataFrame = found.forecast.receipts(kind="polars")
    measured = table.drop_nulls("coverage")
    said = [
        f"{level:g} % ranges held {least:.0f} to {most:.0f} % of the time at past origins, "
        "depending on what is forecast and how far ahead."
        for level, least, most in measured.group_by("level", maintain_order=True)
        .agg(pl.col("coverage").min().alias("least"), pl.col("coverage").max().alias("most"))
        .iter_rows()
    ]
    heading = "<h3>What the ranges rest on</h3>"
    return heading + paragraphs(said) + folded("Every range and its record", table)


def kpi_table(found: Findings) -> str:
    """The figures that matter: the last days, the next ones, and their range."""
    totals = found.choices.totals.filter((pl.col("unit") == ALL) & (pl.col("cohort") == ALL))
    days = before(found.forecast)
    ahead = len(found.forecast.dates)
    columns = [
        pl.col("series").alias("what"),
        _shown("before").alias(f"last {days.stop - days.start} {found.days}"),
        _shown("expected").alias(f"next {ahead} {found.days}"),
    ]
    level = found.level
    if f"low_{level:g}" in totals.columns and totals[f"low_{level:g}"].null_count() < len(totals):
        ends = pl.concat_str(
            [_shown(f"low_{level:g}"), _shown(f"high_{level:g}")], separator=" to "
        )
        columns.append(ends.alias(f"{level:g} % range"))
    return scrolled(totals.select(columns), "The figures that matter")


def _shown(column: str) -> pl.Expr:
    return pl.col(column).map_elements(counted, return_dtype=pl.String)
