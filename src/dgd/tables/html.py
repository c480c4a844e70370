"""Tables and sentences as HTML, for notebooks, the report and the app.

Names of cohorts, behaviours and products come from other people's tables: everything is
escaped here, and nowhere else is HTML made of them.
"""

from collections.abc import Mapping, Sequence
from html import escape

import polars as pl

from dgd.tables.showing import one_line, shown_value

MOST_ROWS = 24


def escaped(text: object) -> str:
    """`text` as the content or a quoted attribute of an element."""
    return escape(one_line(text))


def html_table(table: pl.DataFrame, caption: str = "", most: int | None = MOST_ROWS) -> str:
    """A table element; of more than `most` rows the first ones, and how many are left out."""
    shown = table if most is None else table.head(most)
    numeric = [dtype.is_numeric() for dtype in table.dtypes]
    kinds = [' class="number"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{kind}>{escaped(name)}</th>'
        for name, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{escaped(shown_value(value))}</td>"
            for value, kind in zip(row, kinds, strict=True)
        )
        + "</tr>"
        for row in shown.iter_rows()
    )
    named = f"<caption>{escaped(caption)}</caption>" if caption else ""
    left = table.height - shown.height
    more = f"<p>... and {left:,} more rows</p>" if left else ""
    return f"<table>{named}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def html_summary(
    title: str, sentences: Sequence[str] = (), tables: Mapping[str, pl.DataFrame] | None = None
) -> str:
    """What a notebook shows of a result: its title, a few sentences, and tables by caption."""
    said = "".join(f"<p>{escaped(sentence)}</p>" for sentence in sentences)
    shown = "".join(html_table(table, caption) for caption, table in (tables or {}).items())
    return f'<div class="dgd"><p><strong>{escaped(title)}</strong></p>{said}{shown}</div>'
