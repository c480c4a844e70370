"""Charts as files: HTML that opens offline, and pictures as PNG and SVG."""

from collections.abc import Callable, Mapping
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
    """Write `chart` as .html, with everything it needs inside, or as .png or .svg."""
    if path.suffix not in MAKERS:
        raise InputError(
            f'chart file "{path}" is neither .html, .png nor .svg; choose one of these.'
        )
    write_atomically(path, MAKERS[path.suffix](chart_spec(chart)))


def save_charts(charts: Mapping[str, alt.TopLevelMixin], folder: Path) -> list[str]:
    """Write every chart under its name as .html, .png and .svg; returns the files' names."""
    files = []
    for name, chart in charts.items():
        spec = chart_spec(chart)
        for ending, made in MAKERS.items():
            file = folder / f"{name}{ending}"
            write_atomically(file, made(spec))
            files.append(str(file))
    return files


def chart_spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart in Vega-Lite, all of its data inside."""
    with alt.data_transformers.enable("default", max_rows=None):
        return dict(drawable(chart.to_dict()))


def _page(spec: dict[str, Any]) -> bytes:
    return page_of(spec).encode()


def _picture(spec: dict[str, Any]) -> bytes:
    return bytes(
        vl_convert.vegalite_to_png(
            spec, vl_version=vega_lite_version(), scale=PIXELS_PER_POINT, allowed_base_urls=[]
        )
    )


def _drawing(spec: dict[str, Any]) -> bytes:
    drawn: str = vl_convert.vegalite_to_svg(
        spec, vl_version=vega_lite_version(), allowed_base_urls=[]
    )
    return drawn.encode()


MAKERS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    ".html": _page,
    ".png": _picture,
    ".svg": _drawing,
}
"""What makes each kind of file."""
