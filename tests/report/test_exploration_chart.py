"""The chart of an exploration draws the daily table, one row a series."""

from pathlib import Path

import numpy as np
import polars as pl
import vl_convert

from dgd.report import exploration_chart, exploration_table, save_chart
from support.counted_worlds import panel_of_counts
from support.small_panel import make


def test_the_table_is_the_daily_one() -> None:
    found = panel_of_counts(np.full((30, 2), 0.3), 40, 1).explore()
    assert exploration_table(found).equals(found.daily("polars"))


def test_every_series_has_a_row_of_its_own() -> None:
    chart = exploration_chart(make().explore()).to_dict()
    assert chart["facet"]["row"]["sort"] == ["arrivals", "click", "like"]
    svg = vl_convert.vegalite_to_svg(chart, allowed_base_urls=[])
    for series in ("arrivals", "click", "like"):
        assert f">{series}<" in svg


def test_days_without_arrivals_leave_a_gap(tmp_path: Path) -> None:
    found = make().explore()
    missing = exploration_table(found).filter(pl.col("observed").is_null())
    assert missing["series"].unique().sort().to_list() == ["click", "like"]
    save_chart(exploration_chart(found), tmp_path / "explore.svg")
    drawing = (tmp_path / "explore.svg").read_text()
    assert drawing.startswith("<svg")
    assert " 2022</text>" in drawing, "the axis has the year"
