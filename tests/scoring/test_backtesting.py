"""Backtests: the same pairs for everyone, seeds scored one by one, any forecaster welcome."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner, Result

import dgd
from dgd.baselines import LastDayHistory, TrainingHistory, WeekdayHistory
from dgd.cli.backtest import backtest as command
from dgd.errors import InputError
from dgd.forecasting.protocol import Fitted
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.scoring.backtesting import Backtest, backtest, score_days

ENDS = {"train_end": "2024-01-14", "validation_end": "2024-01-21"}
DOCS = Path(__file__).parents[2] / "docs"


def panel_of(days: int, seed: int = 1) -> Panel:
    """Two units, two cohorts, two behaviours."""
    rng = np.random.default_rng(seed)
    dates = (np.datetime64("2024-01-01") + np.arange(days)).tolist()
    rows = [
        {"date": d, "unit": u, "cohort": c, "click": y & 1, "like": y >> 1, "count": n}
        for d in dates
        for u in ("north", "south")
        for c in ("new", "old")
        for y, n in enumerate(rng.poisson(3, 4).tolist())
    ]
    return Panel.from_counts(pl.DataFrame(rows), behaviors=["click", "like"])


@dataclass
class Guess:
    """Somebody's own model: `arrivals` per seed for every cell, all patterns alike."""

    arrivals: Sequence[float] = (12.0,)
    asked: list[tuple[list[int], int]] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)

    def fit(self, panel: Panel, *, train_end: Any, validation_end: Any, **options: Any) -> Any:
        self.told = options
        split = Split.of(panel, train_end, validation_end, options["warmup_end"])
        return FittedGuess(panel, split, self)


@dataclass
class FittedGuess:
    panel: Panel
    split: Split
    guess: Guess

    def predict(self, origins: np.ndarray, horizon: int) -> Any:
        self.guess.asked.append((origins.tolist(), horizon))
        levels = np.array(self.guess.arrivals)[:, None, None, None, None]
        arrivals = np.broadcast_to(levels, (len(levels), horizon, len(origins), 2, 2))
        return arrivals, np.full((*arrivals.shape, 4), 0.25)


def rows(result: Backtest, **wanted: Any) -> list[dict[str, Any]]:
    table = result.to_frame("polars")
    for column, value in wanted.items():
        table = table.filter(pl.col(column) == value)
    return table.to_dicts()


def test_seven_test_days_give_seven_one_day_and_five_three_day_endpoints() -> None:
    result = backtest(panel_of(28), {"guess": Guess()}, **ENDS)
    found = {row["horizon"]: row["origins"] for row in rows(result)}
    assert found == {1: 7, 3: 5, 7: 1}


def test_every_forecaster_is_asked_for_the_same_pairs() -> None:
    one, other = Guess(), Guess((1.0, 2.0))
    result = backtest(panel_of(28), {"a": one, "b": other, "c": LastDayHistory()}, **ENDS)
    assert one.asked == other.asked
    assert one.asked == [
        ([20, 21, 22, 23, 24, 25, 26], 1),
        ([20, 21, 22, 23, 24], 3),
        ([20], 7),
    ]
    daily = result.daily("polars").select("model", "horizon", "origin", "date", "series")
    pairs = [daily.filter(pl.col("model") == m).drop("model") for m in "abc"]
    assert pairs[0].equals(pairs[1])
    assert pairs[0].equals(pairs[2])


def test_a_users_own_forecaster_is_scored_at_its_endpoints() -> None:
    panel = panel_of(28)
    result = backtest(panel, {"guess": Guess()}, horizons=[3], **ENDS)
    ends = np.arange(23, 28)
    recorded = panel.arrivals[ends].sum((1, 2))
    (row,) = rows(result, metric="arrival_mae")
    assert row["mean"] == pytest.approx(np.abs(recorded - 48).mean())
    (row,) = rows(result, metric="joint_nll")
    assert row["mean"] == pytest.approx(math.log(4))
    assert result.settings == {"guess": {}}


def test_seeds_are_scored_one_by_one_and_then_averaged() -> None:
    """Guesses far above and far below cancel in the mean forecast but not in the mean score."""
    panel = panel_of(28)
    result = backtest(panel, {"two": Guess((0.0, 24.0))}, horizons=[1], **ENDS)
    recorded = panel.arrivals[21:].sum((1, 2))
    each = [np.abs(recorded - 4 * level).mean() for level in (0.0, 24.0)]
    (row,) = rows(result, metric="arrival_mae")
    assert row["mean"] == pytest.approx(np.mean(each))
    assert row["sd"] == pytest.approx(np.std(each, ddof=1))
    assert row["seeds"] == 2
    assert result.seeds_to_frame("polars").filter(metric="arrival_mae")["score"].to_list() == each
    total = result.daily("polars").filter(series="arrivals")
    assert total["forecast"].to_list() == [48.0] * 7
    assert total["observed"].to_list() == recorded.tolist()


def test_one_seed_has_no_deviation() -> None:
    result = backtest(panel_of(28), {"h": TrainingHistory()}, horizons=[1], **ENDS)
    assert {row["sd"] for row in rows(result)} == {None}


def test_the_table_is_tidy() -> None:
    models = {"training": TrainingHistory(), "weekday": WeekdayHistory()}
    result = backtest(panel_of(28), models, **ENDS)
    table = result.to_frame("polars")
    columns = ["model", "horizon", "metric", "mean", "sd", "seeds", "origins"]
    assert table.columns == columns
    metrics = {
        "joint_nll", "mean_brier", "brier_click", "brier_like", "rate_mae", "cohort_rate_mae",
        "pair_mae", "pair_mae_click_like", "behavior_count_mae", "arrival_mae", "cell_arrival_mae",
    }  # fmt: skip
    assert set(table["metric"]) == metrics
    assert table.height == 2 * 3 * len(metrics)
    assert result.to_frame("pandas").shape == table.shape
    assert result.settings["training"].keys() == {"tau"}
    assert result.settings["weekday"].keys() == {"weeks", "patterns", "tau"}
    assert "training, weekday; horizons 1, 3, 7" in repr(result)


@pytest.mark.parametrize("law", [50.0, lambda origins, horizon: np.full((1, horizon, 1, 1, 1), 50)])
def test_a_count_distribution_is_scored(law: Any) -> None:
    panel = panel_of(28)
    fitted = Guess().fit(panel, **ENDS, warmup_end=None)
    fitted.count_distribution = law
    result = backtest(panel, {"guess": fitted}, horizons=[3], **ENDS)
    days = np.arange(23, 28)
    twelve, uniform = np.full((5, 2, 2), 12.0), np.full((5, 2, 2, 4), 0.25)
    expected = score_days(panel, days, twelve, uniform, np.full((5, 2, 2), 50.0))
    for metric in ("arrival_crps", "arrival_deviance"):
        (row,) = rows(result, metric=metric)
        assert row["mean"] == pytest.approx(expected[metric])


def test_fitted_objects_enter_as_they_are() -> None:
    panel = panel_of(28)
    fitted = TrainingHistory().fit(panel, **ENDS)
    result = backtest(panel, {"old": fitted, "new": TrainingHistory()}, **ENDS)
    old, new = ([row["mean"] for row in rows(result, model=name)] for name in ("old", "new"))
    assert old == new
    assert result.fits["old"] is fitted


def test_test_start_leaves_earlier_days_out() -> None:
    guess = Guess()
    backtest(panel_of(28), {"g": guess}, horizons=[1], **ENDS, test_start="2024-01-25")
    assert guess.asked == [([23, 24, 25, 26], 1)]


def test_options_reach_the_forecaster_and_progress_names_it() -> None:
    guess, heard = Guess(), []
    backtest(
        panel_of(28),
        {"g": guess},
        horizons=[1],
        **ENDS,
        warmup_end="2024-01-03",
        seeds=(8, 9),
        progress=lambda *told: heard.append(told),
    )
    assert guess.told["warmup_end"] == "2024-01-03"
    assert guess.told["seeds"] == (8, 9)
    guess.told["progress"](8, 5, 0.5)
    assert heard == [("g", 8, 5, 0.5)]


def refusal(*arguments: Any, **options: Any) -> str:
    with pytest.raises(InputError) as refused:
        backtest(*arguments, **{**ENDS, **options})
    return str(refused.value)


def test_calls_that_cannot_be_right_are_refused() -> None:
    panel = panel_of(28)
    assert "horizon 8 is longer than the 7 test days" in refusal(
        panel, {"g": Guess()}, horizons=[8]
    )
    for horizons in ([0], [], [1, 1]):
        assert f"horizons is {horizons}" in refusal(panel, {"g": Guess()}, horizons=horizons)
    assert "forecasters is empty" in refusal(panel, {})
    early = refusal(panel, {"g": Guess()}, test_start="2024-01-21")
    assert "test_start 2024-01-21 is not after validation_end 2024-01-21" in early


def test_fits_that_saw_the_test_days_are_refused() -> None:
    panel = panel_of(28)
    late = TrainingHistory().fit(panel, train_end="2024-01-14", validation_end="2024-01-24")
    assert '"h" was fitted on days up to 2024-01-24' in refusal(panel, {"h": late})
    assert "another panel" in refusal(
        panel, {"h": TrainingHistory().fit(panel_of(28, seed=2), **ENDS)}
    )


def test_predictions_outside_the_protocol_are_refused() -> None:
    panel = panel_of(28)
    assert '"g" predicted -1.0 arrivals' in refusal(panel, {"g": Guess((-1.0,))})

    def with_predictions(arrivals: np.ndarray, patterns: np.ndarray) -> Fitted:
        fitted = TrainingHistory().fit(panel, **ENDS)
        own = FittedGuess(panel, fitted.split, Guess())
        own.predict = lambda origins, horizon: (arrivals, patterns)  # type: ignore[method-assign]
        return own

    fine, uniform = np.ones((1, 1, 7, 2, 2)), np.full((1, 1, 7, 2, 2, 4), 0.25)
    one_day = {"horizons": [1]}
    message = refusal(panel, {"g": with_predictions(fine[:, :, 1:], uniform)}, **one_day)
    assert "arrivals of shape (1, 1, 6, 2, 2)" in message
    message = refusal(panel, {"g": with_predictions(fine, uniform[..., :3])}, **one_day)
    assert "patterns of shape (1, 1, 7, 2, 2, 3)" in message
    message = refusal(panel, {"g": with_predictions(fine, 2 * uniform)}, **one_day)
    assert "add up to 2" in message
    odd = with_predictions(fine, uniform)
    odd.count_distribution = np.ones(5)  # type: ignore[attr-defined]
    assert "count_distribution of shape (5,)" in refusal(panel, {"g": odd}, **one_day)
    odd.count_distribution = 0.0  # type: ignore[attr-defined]
    assert "count_distribution of 0.0" in refusal(panel, {"g": odd}, **one_day)


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "forecasters.md").read_text(), re.DOTALL)
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "forecasters.md", "exec"), space)
    assert "median" in capsys.readouterr().out
    metrics = set(space["result"].to_frame()["metric"])
    assert "arrival_crps" in metrics


def shell(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(command)
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def counts(tmp_path: Path) -> list[object]:
    file = tmp_path / "counts.csv"
    panel_of(28).to_frame("polars").write_csv(file)
    ends = ["--train-end", "2024-01-14", "--validation-end", "2024-01-21"]
    histories = "training-history,last-day,smoothed-history,weekday-history"
    return [file, "--behaviors", "click,like", *ends, "--models", histories]


def test_the_shell_prints_a_table_for_each_horizon(counts: list[object], tmp_path: Path) -> None:
    written = tmp_path / "scores.csv"
    result = shell(*counts, "--horizons", "1,3", "--output", written)
    assert result.exit_code == 0, result.output
    assert "1 ahead, 7 origins" in result.stdout
    assert "3 ahead, 5 origins" in result.stdout
    assert "weekday-history" in result.stdout
    expected = backtest(panel_of(28), {"last-day": LastDayHistory()}, horizons=[1, 3], **ENDS)
    found = pl.read_csv(written).filter(model="last-day")
    assert found["mean"].to_list() == pytest.approx(expected.to_frame("polars")["mean"].to_list())


def test_the_shell_prints_json(counts: list[object], tmp_path: Path) -> None:
    result = shell(*counts, "--horizons", "7", "--json", "--daily", tmp_path / "daily.parquet")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {row["horizon"] for row in told["scores"]} == {7}
    assert told["settings"]["training-history"].keys() == {"tau"}
    assert len(told["daily"]) == pl.read_parquet(tmp_path / "daily.parquet").height == 4 * 3


def test_the_shell_refuses_unknown_models(counts: list[object]) -> None:
    unknown = shell(*counts, "--models", "dgd,crystal-ball").exception
    assert isinstance(unknown, InputError)
    assert 'model "crystal-ball" is not known' in str(unknown)
    assert "whole numbers" in str(shell(*counts, "--horizons", "one").exception)
    assert "neither .csv nor" in str(shell(*counts, "--output", "scores.txt").exception)


def test_the_shell_fits_dgd_beside_its_opponents(drawn: dgd.Simulated, tmp_path: Path) -> None:
    """Shapes and settings are those of the shared fit, so that nothing is compiled twice."""
    panel = drawn.panel
    effort = pl.DataFrame({"date": panel.dates, "effort": panel.effort[:, 0, 0]})
    tables = {"counts": panel.to_frame("polars"), "sizes": drawn.sizes_to_frame(), "effort": effort}
    files = {name: tmp_path / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.write_csv(files[name])
    ends = ["--train-end", panel.dates[27], "--validation-end", panel.dates[34]]
    known = ["--sizes", files["sizes"], "--effort", files["effort"]]
    result = shell(
        files["counts"], "--behaviors", "click,like,share", *ends, *known, "--horizons", 3,
        "--models", "dgd,weekday-history", "--epochs", 5, "--seeds", "1,2",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "3 ahead, 3 origins" in result.stdout
    assert "CRPS" in result.stdout
    assert "seed 2" in result.stderr
