"""The shell's backtest: a table of counts in, every model's scores out."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import dgd
from dgd.baselines import LastDayHistory
from support.shell import assert_refused, done, run
from support.small_counts import ENDS, panel_of

HISTORIES = "training-history,last-day,smoothed-history,slow-history,weekday-history"


@pytest.fixture
def call(tmp_path: Path) -> list[object]:
    file = tmp_path / "counts.csv"
    panel_of(28).to_frame("polars").write_csv(file)
    ends = ["--train-end", ENDS["train_end"], "--validation-end", ENDS["validation_end"]]
    return ["backtest", file, "--behaviors", "click,like", *ends, "--models", HISTORIES]


def test_a_table_is_printed_for_each_horizon(call: list[object], tmp_path: Path) -> None:
    written = tmp_path / "scores.csv"
    shown = done(*call, "--horizons", "1,3", "--output", written).stdout
    assert "1 ahead, 7 origins" in shown
    assert "3 ahead, 5 origins" in shown
    assert "weekday-history" in shown
    assert "Ranges of daily totals, 3 ahead" in shown
    assert "80% covers" in shown
    assert re.search(r"1 day ahead: \S+ has the lowest joint NLL, .* over 7 origins: ", shown)
    assert "3 days ahead: " in shown
    assert "5 origins are too few to tell it from chance, 9 are needed" in shown
    assert "the best of 4 others, picked with hindsight" in shown
    assert f"wrote {written}" in shown
    expected = dgd.backtest(panel_of(28), {"last-day": LastDayHistory()}, horizons=[1, 3], **ENDS)
    found = pl.read_csv(written).filter(model="last-day")
    assert found["mean"].to_list() == pytest.approx(expected.to_frame("polars")["mean"].to_list())


def test_everything_is_told_as_json(call: list[object], tmp_path: Path) -> None:
    daily = tmp_path / "daily.parquet"
    told = json.loads(done(*call, "--horizons", "7", "--json", "--daily", daily).stdout)
    assert {row["horizon"] for row in told["scores"]} == {7}
    assert {row["model"] for row in told["comparison"]} == {"training-history"}
    assert len(told["verdict"]) == 3 + 1
    assert {row["level"] for row in told["ranges"]} == {80, 95}
    assert told["settings"]["training-history"].keys() == {"tau"}
    assert len(told["daily"]) == pl.read_parquet(daily).height == 5 * 3


def test_charts_are_written_and_named(call: list[object], tmp_path: Path) -> None:
    folder = tmp_path / "charts"
    quick = ["--horizons", "1", "--paths", 20, "--charts", folder]
    told = json.loads(done(*call, *quick, "--json").stdout)
    files = [folder / f"backtest.{kind}" for kind in ("html", "png", "svg")]
    assert told["charts"] == [str(file) for file in files]
    assert all(file.stat().st_size > 5_000 for file in files)
    opponents = {row["opponent"] for row in told["opponents"]}
    assert len(opponents) == 4


def test_a_folder_that_cannot_be_is_refused_before_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    call = ["backtest", tmp_path / "absent.csv", "--behaviors", "click", "--train-end", "x"]
    refused = run(*call, "--validation-end", "y", "--charts", tmp_path / "file")
    assert_refused(refused, "is a file; name a folder")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--models", "dgd,crystal-ball"], ['model "crystal-ball" is not known', "last-day"]),
        (["--horizons", "one"], ['"one"', "whole numbers"]),
        (["--levels", "80,0"], ["levels holds 0", "from 1 to below 100"]),
        (["--paths", "-1"], ["paths is -1"]),
        (["--horizons", "8"], ["horizon 8", "7 test days"]),
        (["--output", "scores.txt"], ["scores.txt", "neither .csv nor"]),
        (["--test-start", "2024-01-20"], ["--test-start 2024-01-20", "not after"]),
    ],
)
def test_a_bad_call_is_refused(call: list[object], options: list[str], words: list[str]) -> None:
    assert_refused(run(*call, *options), *words)


def test_dgd_is_fitted_beside_its_opponents(drawn: dgd.Simulated, tmp_path: Path) -> None:
    """Shapes and settings are those of the shared fit, so that nothing is compiled twice."""
    panel = drawn.panel
    effort = pl.DataFrame({"date": panel.dates, "effort": panel.effort[:, 0, 0]})
    tables = {"counts": panel.to_frame("polars"), "sizes": drawn.sizes_to_frame(), "effort": effort}
    files = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.write_csv(files[name])
    ends = ["--train-end", panel.dates[27], "--validation-end", panel.dates[34]]
    known = ["--sizes", files["sizes"], "--effort", files["effort"]]
    result = done(
        "backtest", files["counts"], "--behaviors", "click,like,share", *ends, *known,
        "--horizons", 2, "--models", "dgd,weekday-history", "--epochs", 5, "--seeds", "1,2",
    )  # fmt: skip
    assert "2 ahead, 4 origins" in result.stdout
    assert "CRPS" in result.stdout
    assert "seed 2" in result.stderr
