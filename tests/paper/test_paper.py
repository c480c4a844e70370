"""The paper's tables: exact where they are deterministic, shaped as documented everywhere."""

import itertools
import json

import numpy as np
import pytest

from dgd import InputError, simulate
from dgd.paper import TABLES, reproduce
from dgd.paper.behavior_nll import PAPER as NLL
from dgd.paper.controlled_world import controlled_world
from dgd.paper.dynamics_recovery import SEEDS, recover
from dgd.paper.retail_behavior_counts import PAPER as COUNTS
from support.real_data import real_data
from support.shell import done


def quiet(_: str) -> None:
    """No progress."""


@pytest.mark.parametrize("name", ["data-windows", "history-selection"])
def test_deterministic_tables_equal_the_papers_figures(name):
    tables, _ = reproduce([name], real_data("online_retail_ii"), quiet)
    printed = tables[name].filter(tables[name]["paper"].is_not_null())
    assert printed.height >= 8
    assert printed["mean"].to_list() == printed["paper"].to_list()


def test_rows_are_written_as_documented(tmp_path):
    file = tmp_path / "rows.json"
    data = real_data("online_retail_ii")
    done("reproduce", "history-selection", "--json", file, "--data", data)
    written = json.loads(file.read_text())
    assert written["table"] == "history-selection"
    assert set(written["rows"][0]) == {"model", "window", "metric", "mean", "sd", "paper"}


def test_an_unknown_table_is_refused():
    with pytest.raises(InputError, match="table-9"):
        reproduce(["table-9"], None, quiet)


def test_a_folder_without_data_is_refused(tmp_path):
    with pytest.raises(InputError, match="no data set was found"):
        reproduce(["data-windows"], tmp_path, quiet)


def test_every_table_has_the_name_of_its_file_in_the_paper():
    assert set(TABLES) == {
        "data-windows",
        "behavior-nll",
        "behavior-response",
        "retail-behavior-counts",
        "history-selection",
        "ablation-representation",
        "ablation-dynamics",
        "dynamics-recovery",
        "choice-recovery",
        "numerical",
    }
    assert NLL["DGD", "Retail 2010", "joint NLL"] == 1.7357
    assert COUNTS["DGD", "Retail 2011", "behavioral-count MAE"] == 5.38


def test_responses_of_the_controlled_world_go_on_rising():
    """Through the training days and on through the test days, as the paper says of its own."""
    drawn = simulate(controlled_world(), 40, seed=1)
    rates = drawn.panel.behavior_counts.sum((1, 2)) / drawn.panel.arrivals.sum((1, 2))[:, None]
    first, middle, last = (
        rates[days].mean(0) for days in (slice(0, 5), slice(15, 20), slice(-5, None))
    )
    assert (first < middle).all()
    assert (middle < last).all()


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("dynamics-recovery", [(0.1, 1.0), (0.2, 2.0), (0.6, 3.0)]),
        ("choice-recovery", [1.0, 2.0, 6.0]),
    ],
)
def test_a_recovery_table_gives_mean_and_deviation_over_its_seeds(name, scores, monkeypatch):
    """The fits themselves are long experiments; here their scores are given."""
    module = f"dgd.paper.{name.replace('-', '_')}"
    given = itertools.cycle(scores)
    monkeypatch.setattr(f"{module}.recover", lambda *_: next(given))
    tables, _ = reproduce([name], None, quiet)
    table, first = tables[name], np.reshape(scores, (3, -1))[:, 0]
    assert table.columns == ["model", "window", "metric", "mean", "sd", "paper"]
    assert table["mean"][0] == pytest.approx(first.mean())
    assert table["sd"][0] == pytest.approx(first.std(ddof=1))
    assert table["paper"].is_not_null().all()


@pytest.mark.slow
def test_known_dynamics_are_recovered_in_every_seed():
    """Joint KL from the truth: below the paper's, and below the model without dynamics."""
    world = controlled_world()
    divergence = {
        dynamics: [recover(world, dynamics, seed)[0] for seed in SEEDS]
        for dynamics in ("feedback", "none")
    }
    assert sum(divergence["feedback"]) / len(SEEDS) < 0.034
    for ours, without in zip(divergence["feedback"], divergence["none"], strict=True):
        assert ours < without


@pytest.mark.slow
def test_choices_under_new_prices_are_recovered():
    """KL from the truth: learned below fixed below point, and below the paper's figures."""
    tables, _ = reproduce(["choice-recovery"], None, quiet)
    found = {
        (row["model"], row["window"]): row["mean"]
        for row in tables["choice-recovery"].iter_rows(named=True)
    }
    for window, most in (("Gaussian generator", 0.0012), ("discrete generator", 0.0025)):
        learned, fixed, point = (
            found[model, window]
            for model in ("Learned Gaussian", "Fixed Gaussian", "Point representation")
        )
        assert learned < fixed < point
        assert learned <= most


@pytest.mark.slow
def test_dgd_keeps_what_the_paper_reports_on_retail():
    """With the paper's settings: at or below the paper's own figures, and below DeepAR-joint."""
    names = ["retail-behavior-counts", "behavior-response"]
    tables, _ = reproduce(names, real_data("online_retail_ii"), quiet)
    most = {
        ("joint NLL", "Retail 2010"): 1.7357,
        ("joint NLL", "Retail 2011"): 1.76,
        ("mean Brier", "Retail 2010"): 0.2482,
        ("mean Brier", "Retail 2011"): 0.2405,
        ("cohort-rate MAE (pp)", "Retail 2010"): 12.84,
        ("cohort-rate MAE (pp)", "Retail 2011"): 14.90,
        ("behavioral-count MAE", "Retail 2010"): 4.71,
        ("behavioral-count MAE", "Retail 2011"): 5.38,
    }
    found = {
        (row["model"], row["metric"], row["window"]): row["mean"]
        for name in names
        for row in tables[name].iter_rows(named=True)
    }
    for (metric, window), bound in most.items():
        ours = found["DGD", metric, window]
        assert ours <= bound
        assert ours < found["DeepAR-joint", metric, window]
