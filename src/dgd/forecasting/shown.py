"""Forecasts as people read them: a date a row, and every range beside its number."""

from collections.abc import Sequence

import polars as pl

from dgd.tables.figures import ends_in_words, four_figures


def shown_totals(
    totals: pl.DataFrame, series: Sequence[str], levels: Sequence[float]
) -> pl.DataFrame:
    """One row per date, a column per series, of totals by date and behaviour; with the range at
    the first of `levels`."""
    date = totals.columns[0]
    columns = []
    for number, name in enumerate(series):
        of_series = totals.gather_every(len(series), number)
        expected = [text.strip() for text in four_figures(of_series["expected"])[0]]
        for level in levels[:1]:
            low, high = (of_series[f"{end}_{level:g}"] for end in ("low", "high"))
            ranges = ends_in_words(low, high)
            expected = [
                f"{text} ({ends})" if ends else text
                for text, ends in zip(expected, ranges, strict=True)
            ]
        columns.append(pl.Series(name, expected, pl.String))
    return totals.gather_every(len(series)).select(date).with_columns(columns)
