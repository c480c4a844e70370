"""The standing against a table made by hand and against brute force."""

import math

import numpy as np
import polars as pl
import pytest

from dgd.arena.contest import ROW
from dgd.arena.contestants import DEFAULT, SIMPLE, TAKEN_AWAY
from dgd.arena.metrics import AS_DIFFERENCE, METRICS
from dgd.arena.page import TAKEN_AWAY_TITLE, page, shown_tables
from dgd.arena.standing import standings, taken_away

MODELS = (DEFAULT, *TAKEN_AWAY, *SIMPLE)


def table(rows: list[tuple[str, str, int, str, float]]) -> pl.DataFrame:
    return pl.DataFrame([(*row, None) for row in rows], schema=ROW, orient="row")


@pytest.fixture(scope="module")
def scattered() -> pl.DataFrame:
    """Three windows, of which the last has no seventh day and one model no CRPS."""
    rng = np.random.default_rng(5)
    return table(
        [
            (window, model, horizon, metric, float(rng.uniform(1, 3)))
            for window in ("one", "two", "three")
            for model in MODELS
            for horizon in (1, 7)
            for metric in METRICS
            if not (window == "three" and horizon == 7)
            and not (model == "slow history" and metric == "arrival_crps")
        ]
    )


def test_a_standing_by_hand() -> None:
    rows = table(
        [
            ("A", "training history", 1, "arrival_mae", 4.0),
            ("A", "weekday history", 1, "arrival_mae", 2.0),
            ("A", "default", 1, "arrival_mae", 1.0),
            ("B", "training history", 1, "arrival_mae", 3.0),
            ("B", "weekday history", 1, "arrival_mae", 6.0),
            ("B", "default", 1, "arrival_mae", 24.0),
        ]
    )
    found = standings(rows).rows_by_key("model", named=True, unique=True)
    assert found["default"] == {
        "metric": "arrival_mae",
        "horizon": 1,
        "figure": pytest.approx(2.0),  # the root of 1/2 times 8
        "won": 1,
        "windows": 2,
        "worst_window": "B",
        "worst": 8.0,
    }
    assert found["weekday history"]["figure"] == pytest.approx(math.sqrt(2))
    assert found["training history"]["worst_window"] == "A"
    assert found["weekday history"]["won"] == found["training history"]["won"] == 0


def test_the_joint_nll_is_set_beside_the_mark_as_a_difference() -> None:
    rows = table(
        [
            ("A", "slow history", 1, "joint_nll", 1.5),
            ("A", "default", 1, "joint_nll", 1.25),
            ("B", "slow history", 1, "joint_nll", 2.0),
            ("B", "default", 1, "joint_nll", 3.0),
        ]
    )
    best, other = standings(rows).iter_rows(named=True)
    assert (best["model"], best["figure"]) == ("slow history", 0.0)
    assert (other["figure"], other["won"], other["worst"]) == (0.375, 1, 1.0)


def test_every_standing_equals_brute_force(scattered: pl.DataFrame) -> None:
    score = {row[:4]: row[4] for row in scattered.iter_rows()}
    found = list(standings(scattered).iter_rows(named=True))
    assert len(found) == len({row[1:4] for row in score})
    for row in found:
        model, horizon, metric = row["model"], row["horizon"], row["metric"]
        figures, won = {}, 0
        for window in ("one", "two", "three"):
            own = score.get((window, model, horizon, metric))
            if own is None:
                continue
            simple = [score.get((window, other, horizon, metric), math.inf) for other in SIMPLE]
            mark = min(simple)
            figures[window] = own - mark if metric in AS_DIFFERENCE else own / mark
            won += own < mark
        values = list(figures.values())
        mean = (
            sum(values) / len(values)
            if metric in AS_DIFFERENCE
            else math.prod(values) ** (1 / len(values))
        )
        assert row["figure"] == pytest.approx(mean)
        assert (row["won"], row["windows"]) == (won, len(values))
        assert row["worst"] == pytest.approx(max(values))
        assert row["worst_window"] == max(figures, key=figures.__getitem__)


def test_metrics_keep_their_order_and_the_best_comes_first(scattered: pl.DataFrame) -> None:
    found = standings(scattered)
    assert found["metric"].unique(maintain_order=True).to_list() == list(METRICS)
    for _, part in found.group_by("metric", "horizon"):
        assert part["figure"].is_sorted()


def test_a_part_is_worth_what_the_default_loses_without_it(scattered: pl.DataFrame) -> None:
    """The ratio of two geometric means against the same marks, or the difference of two means."""
    against = {
        (row["metric"], row["horizon"], row["model"]): row["figure"]
        for row in standings(scattered).iter_rows(named=True)
    }
    changes = taken_away(scattered)
    assert changes.height == len(METRICS) * 2 * len(TAKEN_AWAY)
    for metric, horizon, model, change in changes.iter_rows():
        own, default = against[metric, horizon, model], against[metric, horizon, DEFAULT]
        expected = own - default if metric in AS_DIFFERENCE else 100 * (own / default - 1)
        assert change == pytest.approx(expected)


def test_the_page_holds_every_table_that_is_printed(scattered: pl.DataFrame) -> None:
    tables, written = shown_tables(scattered), page(scattered)
    assert len(tables) == len(METRICS) + 1
    assert list(tables)[-1] == TAKEN_AWAY_TITLE
    assert tables[TAKEN_AWAY_TITLE].columns == ["metric", "part", "1 ahead", "7 ahead"]
    assert "Windows: one, two, three." in written
    for shown in tables.values():
        for row in shown.iter_rows():
            assert f"| {' | '.join(map(str, row))} |" in written
