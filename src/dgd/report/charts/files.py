"""Charts as files: HTML that opens offline, and PNG."""

from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from dgd.errors import InputError
from dgd.files.atomic import write_atomically
from dgd.report.charts.drawable import drawable
from dgd.report.charts.page import page_of, vega_lite_version

PIXELS_PER_POINT = 2.0


def save_chart(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write `chart` as .html, with everything it needs inside, or as .png."""
    if path.suffix == ".html":
        write_atomically(path, page_of(_spec(chart)).encode())
    elif path.suffix == ".png":
        write_atomically(path, _picture(_spec(chart)))
    else:
        raise InputError(f'chart file "{path}" is neither .html nor .png; choose one of these.')


def _spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart in Vega-Lite, all of its data inside."""
    with alt.data_transformers.enable("default", max_rows=None):
        return dict(drawable(chart.to_dict()))


def _picture(spec: dict[str, Any]) -> bytes:
    return bytes(
        vl_convert.vegalite_to_png(
            spec, vl_version=vega_lite_version(), scale=PIXELS_PER_POINT, allowed_base_urls=[]
        )
    )
