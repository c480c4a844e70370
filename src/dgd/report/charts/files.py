"""Charts as files: HTML that opens offline, and PNG."""

import io
from pathlib import Path

import altair as alt

from dgd.errors import InputError
from dgd.files.atomic import write_atomically


def save_chart(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write `chart` as .html, with everything it needs inside, or as .png."""
    if path.suffix == ".html":
        page = io.StringIO()
        chart.save(page, format="html", inline=True)
        write_atomically(path, page.getvalue().encode())
    elif path.suffix == ".png":
        picture = io.BytesIO()
        chart.save(picture, format="png", scale_factor=2)
        write_atomically(path, picture.getvalue())
    else:
        raise InputError(f'chart file "{path}" is neither .html nor .png; choose one of these.')
