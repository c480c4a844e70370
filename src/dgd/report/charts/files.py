"""Charts as files: HTML that opens offline, and pictures as PNG and SVG."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from dgd.errors import InputError
from dgd.files.atomic import check_target, write_atomically
from dgd.report.charts.drawable import drawable
from dgd.report.charts.page import page_of, vega_lite_version

ENDINGS = (".html", ".png", ".svg")
PAGE_AND_PICTURE = (".html", ".png")
PIXELS_PER_POINT = 2.0


def check_chart_target(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse before any work a file that no chart could be written to after it."""
    _refuse_other_endings(path)
    check_target(path, inputs)


def save_chart(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write `chart` as .html, with everything it needs inside, or as .png or .svg."""
    _refuse_other_endings(path)
    made = {".html": _page, ".png": _picture, ".svg": _drawing}[path.suffix]
    write_atomically(path, made(chart_spec(chart)))


def save_charts(charts: Mapping[str, alt.TopLevelMixin], folder: Path) -> list[str]:
    """Write every chart under its name, as a page and as a picture; returns the files' names."""
    files = [folder / f"{name}{ending}" for name in charts for ending in PAGE_AND_PICTURE]
    for file in files:
        save_chart(charts[file.stem], file)
    return [str(file) for file in files]


def _refuse_other_endings(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise InputError(
            f'chart file "{path}" is neither .html, .png nor .svg; choose one of these.'
        )


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
