"""A round through the shell: simulate, fit, forecast; tables in, tables and model files out."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dgd
from dgd.learning.runs import DIVERGED, REASONS
from support.shell import done, run
from support.shop import BEHAVIORS, Shop, read


def test_simulate_writes_the_drawn_world(shop: Shop, drawn: dgd.Simulated) -> None:
    facts = shop.simulated
    assert set(facts) == {"files", "days", "seed", "arrivals", "behaviors"}
    assert facts["days"] == 40
    assert facts["seed"] == 3
    assert facts["arrivals"] == drawn.panel.arrivals.sum()
    assert facts["behaviors"] == list(drawn.panel.behaviors)
    assert facts["files"] == {
        name: str(shop.table(name)) for name in ("counts", "sizes", "effort", "truth")
    }
    counts = read(shop.table("counts")).drop("date")
    assert counts.rows() == drawn.panel.to_frame().drop("date").rows()
    assert read(shop.table("truth"))["probability"].sum() == pytest.approx(40 * 2 * 3)


def test_fit_tells_every_seed(shop: Shop) -> None:
    assert shop.fitted["model"] == str(shop.model)
    (seed,) = shop.fitted["seeds"]
    keys = {"seed", "start", "epoch kept", "validation objective", "epochs run", "ended because"}
    keys |= {"rests on"}
    assert set(seed) == keys
    assert seed["seed"] == 1
    assert seed["epochs run"] == 6
    assert seed["ended because"] == "all epochs done"


def test_the_shell_fits_what_the_library_fits(shop: Shop, fit: dgd.Fit) -> None:
    """Cohorts come sorted from a table, so a seed's small differences fall on other cohorts."""
    expected = fit.summary("polars")["validation objective"][0]
    assert shop.fitted["seeds"][0]["validation objective"] == pytest.approx(expected, abs=0.05)


def test_forecast_writes_the_librarys_forecast(shop: Shop, tmp_path: Path) -> None:
    output = tmp_path / f"forecast.{shop.suffix}"
    origin = ["--horizon", 2, "--origin", "2022-02-06"]
    result = done("forecast", shop.model, *origin, "--output", output)
    assert str(output) in result.stdout
    expected = dgd.load(shop.model).forecast(2, origin="2022-02-06").to_frame("polars")
    assert read(output).columns == expected.columns
    assert_frame_equal(read(output).drop("date"), expected.drop("date"), rel_tol=1e-12)


def test_forecast_writes_a_data_set_of_every_unit_and_tells_of_some(
    shops: Callable[[str], Shop], tmp_path: Path
) -> None:
    shop = shops("csv")
    asked = ("--horizon", 2, "--origin", "2022-02-06")
    done("forecast", shop.model, *asked, "--output", tmp_path / "set", "--partitions", 2)
    keys = ["date", "unit", "cohort"]
    found = pl.read_parquet(tmp_path / "set" / "**" / "*.parquet", hive_partitioning=False)
    expected = dgd.load(shop.model).forecast(2, origin="2022-02-06").to_frame("polars")
    columns = expected.columns
    assert_frame_equal(found.select(columns).sort(keys), expected.sort(keys), abs_tol=1e-9)
    some = str(expected["unit"][0])
    rows = json.loads(done("forecast", shop.model, *asked, "--units", some, "--json").stdout)[
        "rows"
    ]
    assert {row["unit"] for row in rows} == {some}


def test_forecast_prints_its_rows_as_json(shop: Shop) -> None:
    result = done("forecast", shop.model, "--horizon", 2, "--origin", "2022-02-06", "--json")
    answer = json.loads(result.stdout)
    assert answer["origin"] == "2022-02-06"
    assert len(answer["rows"]) == 2 * 2 * 3
    keys = ["date", "horizon", "unit", "cohort", "arrivals", *BEHAVIORS.split(",")]
    assert list(answer["rows"][0]) == keys
    assert answer["rows"][0]["date"] == "2022-02-07"


def test_forecast_draws_its_chart(shops: Callable[[str], Shop], tmp_path: Path) -> None:
    options = ["--horizon", 2, "--origin", "2022-02-06", "--charts", tmp_path / "charts"]
    shown = done("forecast", shops("csv").model, *options).stdout
    for name in ("forecast.html", "forecast.png", "forecast.svg"):
        assert f"wrote {tmp_path / 'charts' / name}" in shown
        assert (tmp_path / "charts" / name).stat().st_size > 10_000


def test_forecast_gives_joint_patterns_that_sum_to_one(shop: Shop) -> None:
    options = ["--horizon", 1, "--origin", "2022-02-06", "--patterns", "--json"]
    rows = pl.DataFrame(json.loads(done("forecast", shop.model, *options).stdout)["rows"])
    totals = rows.group_by("unit", "cohort").agg(pl.col("probability").sum(), pl.len())
    assert totals["len"].to_list() == [8] * 6
    assert totals["probability"].to_list() == pytest.approx([1.0] * 6)


def test_forecast_reads_the_effort_of_days_to_come(shop: Shop, tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2022, 2, 12), pl.date(2022, 2, 14), eager=True).alias("date")
    sums = []
    for effort in (1.0, 3.0):
        path = tmp_path / "ahead.csv"
        pl.DataFrame([days, pl.Series("effort", [effort] * 3)]).write_csv(path)
        result = done("forecast", shop.model, "--horizon", 3, "--effort", path, "--json")
        rows = json.loads(result.stdout)["rows"]
        sums.append(sum(row["arrivals"] for row in rows if row["horizon"] == 1))
    assert sums[0] < sums[1] <= 3 * sums[0], "arrivals rise with effort, at most in proportion"


def test_a_diverged_fit_is_written_and_exits_with_3(
    csv_shop: Shop, tmp_path: Path, fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tuple(replace(run, reason=REASONS[DIVERGED]) for run in fit.runs)
    monkeypatch.setattr(dgd.DGD, "fit", lambda *_, **__: replace(fit, runs=runs))
    result = run(*csv_shop.fit("--output", tmp_path / "model.dgd", "--json"))
    assert result.exit_code == 3
    assert json.loads(result.stdout)["seeds"][0]["ended because"].startswith("diverged")
    assert dgd.load(tmp_path / "model.dgd").diverged == (1, 2)
