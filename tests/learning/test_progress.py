"""Bars of training: drawn where somebody looks, nowhere else, and never twice."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from types import ModuleType, SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.baselines import TrainingHistory
from dgd.errors import InputError
from dgd.learning.bars import SeedBar
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.progress import refuse_progress, telling
from dgd.learning.runs import Run
from dgd.learning.seeds import best_runs
from dgd.runtime import computing
from support.objectives import optimizer
from support.small_counts import ENDS, panel_of
from support.terminals import HIDDEN_CURSOR, SHOWN_CURSOR, standard_error_at_a_terminal


def parabola(parameters: Any, data: TrainingData) -> Any:
    return ((parameters - data.train) ** 2).sum(), ((parameters - data.validation) ** 2).sum()


def broken(parameters: Any, data: TrainingData) -> Any:
    raise ArithmeticError("the loss is broken")


def train(
    progress: Progress | bool | None = None, loss: Callable[..., Any] = parabola, epochs: int = 40
) -> tuple[Run, ...]:
    """Two seeds of a training that takes no time."""
    with computing():
        goal = jnp.asarray([1.0, -2.0])
        attempts = [Attempt.of(seed, "here", jnp.zeros(2), True, goal, goal / 2) for seed in (7, 8)]
        return best_runs(attempts, loss, optimizer(epochs=epochs, patience=99), progress, False)


def test_a_terminal_shows_a_bar_for_every_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen:
        best = {run.seed: run.best_objective for run in train()}
    for seed in (7, 8):
        assert f"seed {seed}" in screen.text
        assert f"validation {best[seed]:.4f}" in screen.text
    assert "40/40" in screen.text


def test_a_training_that_stops_early_fills_its_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen, telling(None, [1], 1000) as tell:
        tell(1, 60, 0.5)
    assert "60/60" in screen.text.rpartition("seed 1")[2]


def test_of_several_starts_the_furthest_and_the_best_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen, telling(None, [1], 100) as tell:
        tell(1, 100, 0.25)
        tell(1, 20, 0.75)
    last = screen.text.rpartition("seed 1")[2]
    assert "100/100" in last
    assert "validation 0.2500" in last


@pytest.mark.parametrize("wanted", [False, lambda *_: None])
def test_nothing_is_drawn_where_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch, wanted: Any
) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen:
        train(wanted)
    assert screen.text == ""


def test_nothing_is_written_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    train()
    assert capfd.readouterr() == ("", "")
    for stderr in (StringIO(), None, SimpleNamespace(isatty=StringIO().isatty)):
        monkeypatch.setattr(sys, "stderr", stderr)
        train()
        assert stderr is None or not isinstance(stderr, StringIO) or stderr.getvalue() == ""


def test_a_function_is_told_of_every_seed() -> None:
    told: list[tuple[int, int, float]] = []
    train(lambda *news: told.append(news))
    assert {seed for seed, _, _ in told} == {7, 8}
    assert max(done for _, done, _ in told) == 40


def test_an_error_leaves_the_terminal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen:
        before = sys.stderr
        with pytest.raises(ArithmeticError, match="the loss is broken"):
            train(loss=broken)
        assert sys.stderr is before
        sys.stderr.write("afterwards")
    assert HIDDEN_CURSOR in screen.text
    assert screen.text.rindex(SHOWN_CURSOR) > screen.text.rindex(HIDDEN_CURSOR)
    assert screen.text.endswith("afterwards")
    with standard_error_at_a_terminal(monkeypatch) as again:
        train()
    assert "40/40" in again.text, "bars are drawn again after an error"


def test_what_is_printed_meanwhile_stays_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with standard_error_at_a_terminal(monkeypatch) as screen, telling(None, [1], 10) as tell:
        tell(1, 5, 0.5)
        print("a result")
    assert capsys.readouterr().out == "a result\n"
    assert "a result" not in screen.text


@dataclass
class Trainer:
    """A forecaster of somebody's own that trains by fits of ours."""

    epochs: int = 40

    def fit(self, panel: dgd.Panel, **options: Any) -> Any:
        train()
        options["progress"](1, 20, 0.5)
        return TrainingHistory().fit(panel, **options)


def test_a_backtest_shows_a_bar_for_every_model_and_seed_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = {"[red]own": Trainer(), "average": TrainingHistory()}
    options = {**ENDS, "horizons": [1], "seeds": [1, 2], "paths": 0}
    with standard_error_at_a_terminal(monkeypatch) as screen:
        dgd.backtest(panel_of(28), models, **options)
    for shown in ("[red]own, seed 1", "[red]own, seed 2", "validation 0.5000"):
        assert shown in screen.text
    assert "seed 7" not in screen.text
    assert "average" not in screen.text
    with standard_error_at_a_terminal(monkeypatch) as silent:
        dgd.backtest(panel_of(28), {"a": TrainingHistory()}, **options, progress=False)
    assert silent.text == ""


def test_a_fit_shows_bars_by_itself(drawn: dgd.Simulated, monkeypatch: pytest.MonkeyPatch) -> None:
    dates = drawn.panel.dates
    ends = {"train_end": dates[27], "validation_end": dates[34]}
    with standard_error_at_a_terminal(monkeypatch) as screen:
        dgd.DGD(epochs=5).fit(drawn.panel, **ends, seeds=[1, 2])
    assert "seed 2" in screen.text
    assert "5/5" in screen.text


@pytest.mark.parametrize("nonsense", [3, "yes", [print]])
def test_what_is_neither_a_choice_nor_a_function_is_refused(nonsense: Any) -> None:
    with pytest.raises(InputError, match=r"progress is .*; leave it out for a bar"):
        refuse_progress(nonsense)


class Page:
    """What a notebook shows: displays that are replaced."""

    def __init__(self) -> None:
        self.displays: list[list[str]] = []

    def display(self, html: str, display_id: bool) -> Any:
        assert display_id
        versions = [html]
        self.displays.append(versions)
        return SimpleNamespace(update=versions.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Page:
    """A kernel like that of Jupyter, without ipywidgets."""
    page = Page()
    ipython, shown = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(shown).update(display=page.display, HTML=str)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return page


def test_a_notebook_shows_one_display_that_is_replaced(
    notebook: Page, capfd: pytest.CaptureFixture[str]
) -> None:
    best = {run.seed: run.best_objective for run in train()}
    (versions,) = notebook.displays
    assert "compiling" in versions[0]
    for seed in (7, 8):
        assert f"seed {seed}" in versions[-1]
        assert f"validation {best[seed]:.4f}" in versions[-1]
    assert '<progress value="40" max="40">' in versions[-1]
    assert capfd.readouterr() == ("", "")


def test_ipython_at_a_terminal_is_no_notebook(notebook: Page) -> None:
    vars(sys.modules["IPython"])["get_ipython"] = SimpleNamespace
    train()
    assert notebook.displays == []


def test_names_of_models_are_text_in_a_notebook() -> None:
    assert "<b>" not in SeedBar("<b>own</b>, seed 1", 5).html()


def test_numbers_do_not_depend_on_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = train(False)
    with standard_error_at_a_terminal(monkeypatch):
        watched = train()
    for one, other in zip(alone, watched, strict=True):
        np.testing.assert_array_equal(one.parameters, other.parameters)
