"""Backtests: the same pairs for everyone, seeds scored one by one, any forecaster welcome."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dgd import Backtest, Fitted, InputError, Panel, Predictive, Split, backtest
from dgd.baselines import LastDayHistory, TrainingHistory, WeekdayHistory
from dgd.scoring import score_days
from support.small_counts import ENDS, panel_of

DOCS = Path(__file__).parents[2] / "docs"


@dataclass
class Guess:
    """Somebody's own model: `arrivals` per seed for every cell, all patterns alike."""

    arrivals: Sequence[float] = (12.0,)
    dispersion: Any = None
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

    def predict(self, origins: np.ndarray, horizon: int) -> Predictive:
        self.guess.asked.append((origins.tolist(), horizon))
        levels = np.array(self.guess.arrivals)[:, None, None, None, None]
        arrivals = np.broadcast_to(levels, (len(levels), horizon, len(origins), 2, 2))
        return Predictive(arrivals, np.full((*arrivals.shape, 4), 0.25), self.guess.dispersion)


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
    scores = result.seeds_to_frame("polars").filter(metric="arrival_mae")["score"]
    assert scores.to_list() == pytest.approx(each, rel=1e-12)
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
        "arrival_deviance", "arrival_crps",
    }  # fmt: skip
    assert set(table["metric"]) == metrics
    assert table.height == 2 * 3 * len(metrics)
    assert result.to_frame("pandas").shape == table.shape
    assert result.settings["training"].keys() == {"tau"}
    assert result.settings["weekday"].keys() == {"weeks", "patterns", "tau"}
    assert "training, weekday; horizons 1, 3, 7" in repr(result)


@pytest.mark.parametrize("r", [50.0, np.full((1, 3, 1, 1, 1), 50.0), np.inf], ids=str)
def test_a_dispersion_is_scored(r: Any) -> None:
    panel = panel_of(28)
    result = backtest(panel, {"guess": Guess(dispersion=r)}, horizons=[3], **ENDS)
    days = np.arange(23, 28)
    twelve, uniform = np.full((5, 2, 2), 12.0), np.full((5, 2, 2, 4), 0.25)
    expected = score_days(panel, days, twelve, uniform, np.full((5, 2, 2), np.max(r)))
    for metric in ("arrival_crps", "arrival_deviance"):
        (row,) = rows(result, metric=metric)
        assert row["mean"] == pytest.approx(expected[metric], rel=1e-12)


def test_the_dispersion_of_the_endpoint_is_scored() -> None:
    """Each step may have a dispersion of its own; only the last step is scored."""
    panel, r = panel_of(28), np.array([5.0, 6.0, 50.0])[None, :, None, None, None]
    (own,) = rows(
        backtest(panel, {"g": Guess(dispersion=r)}, horizons=[3], **ENDS), metric="arrival_crps"
    )
    (same,) = rows(
        backtest(panel, {"g": Guess(dispersion=50.0)}, horizons=[3], **ENDS), metric="arrival_crps"
    )
    assert own["mean"] == pytest.approx(same["mean"], rel=1e-12)


def test_without_a_dispersion_only_means_are_scored() -> None:
    metrics = {row["metric"] for row in rows(backtest(panel_of(28), {"g": Guess()}, **ENDS))}
    assert not metrics & {"arrival_crps", "arrival_deviance"}


def test_fitted_objects_enter_as_they_are() -> None:
    panel = panel_of(28)
    fitted = TrainingHistory().fit(panel, **ENDS)
    result = backtest(panel, {"old": fitted, "new": TrainingHistory()}, **ENDS)
    old, new = ([row["mean"] for row in rows(result, model=name)] for name in ("old", "new"))
    assert old == pytest.approx(new, rel=1e-12)
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

    def with_prediction(found: Any) -> Fitted:
        own = FittedGuess(panel, TrainingHistory().fit(panel, **ENDS).split, Guess())
        own.predict = lambda origins, horizon: found  # type: ignore[method-assign]
        return own

    def of(*prediction: Any) -> str:
        return refusal(panel, {"g": with_prediction(Predictive(*prediction))}, horizons=[1])

    fine, uniform = np.ones((1, 1, 7, 2, 2)), np.full((1, 1, 7, 2, 2, 4), 0.25)
    assert "arrivals of shape (1, 1, 6, 2, 2)" in of(fine[:, :, 1:], uniform[:, :, 1:])
    assert "patterns of shape (1, 1, 7, 2, 2, 2)" in of(fine, uniform[..., :2])
    assert "add up to 2" in of(fine, 2 * uniform)
    assert "predicted inf arrivals" in of(np.inf * fine, uniform)
    assert "a dispersion of 0.0" in of(fine, uniform, 0.0)
    assert "a dispersion of nan" in of(fine, uniform, np.nan)
    odd = Predictive(fine, uniform)
    # Past the shape check of these tests, which a user's own process does not have.
    object.__setattr__(odd, "dispersion", np.full((1, 3, 1, 1, 1), 50.0))
    message = refusal(panel, {"g": with_prediction(odd)}, horizons=[1])
    assert "a dispersion of shape (1, 3, 1, 1, 1)" in message
    pair = with_prediction((fine, uniform))
    assert '"g" predicted a tuple; return dgd.Predictive' in refusal(panel, {"g": pair})


def test_a_payload_holds_scores_verdict_settings_and_daily_totals() -> None:
    result = backtest(panel_of(28), {"h": TrainingHistory()}, horizons=[7], **ENDS)
    told = result.payload()
    named = {"scores", "ranges", "comparison", "opponents", "verdict", "settings", "daily"}
    assert told.keys() == named
    assert told["comparison"] == told["verdict"] == []
    assert told["scores"] == result.to_frame("polars").to_dicts()
    assert told["settings"] == {"h": {"tau": result.fits["h"].tau}}
    assert len(told["daily"]) == 3


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "guides" / "backtesting.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "backtesting.md", "exec"), space)
    assert "median" in capsys.readouterr().out
    metrics = set(space["result"].to_frame()["metric"])
    assert "arrival_crps" in metrics
    expected = space["ahead"].arrivals.sum()
    assert space["week"].mean() == pytest.approx(expected, rel=0.05)
