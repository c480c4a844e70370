"""The paper's tables: exact where they are deterministic, shaped as documented everywhere."""

import itertools
import json

import numpy as np
import pytest

from dgd import InputError
from dgd.paper import TABLES, reproduce
from dgd.paper.behavior_nll import PAPER as NLL
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
    columns = {"model", "window", "metric", "mean", "sd", "paper", "scores"}
    assert set(written["rows"][0]) == columns
    assert written["made_with"][0]["model"] == written["rows"][0]["model"]
    assert written["made_with"][0]["settings"]["tau"] == written["rows"][0]["mean"]


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
    assert NLL["DGD, paper preset", "Retail 2010", "joint NLL"] == 1.7357
    assert COUNTS["DGD, paper preset", "Retail 2011", "behavioral-count MAE"] == 5.38


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
    tables, scored = reproduce([name], None, quiet)
    table, first = tables[name], np.reshape(scores, (3, -1))[:, 0]
    assert table["scores"][0].to_list() == list(first)
    assert table["mean"][0] == pytest.approx(first.mean())
    assert table["sd"][0] == pytest.approx(first.std(ddof=1))
    assert table["paper"].is_not_null().all()
    labels = table.select("model", "window").unique().height
    assert len(scored.made_with.of(table)) == labels
