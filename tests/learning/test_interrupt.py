"""Training that is cut short or goes astray, and what a fit leaves behind in the user's JAX."""

import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.learning import loop
from dgd.learning.loop import Attempt, TrainingData, train_attempts
from dgd.learning.runs import REASONS, Run
from dgd.runtime import computing
from support.objectives import optimizer

LONG = {"epochs": 1_000_000, "patience": 1_000_000}
"""Without an interruption such a fit would not end."""
LIGHT = {
    "dynamics": "none", "calendar": "none", "expected_weight": 0.0, "start": "warmup",
    "innovations": "none",
}  # fmt: skip
"""One start, nothing taken back, the least to compile: how training ends does not depend on what is
trained."""


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt here, whatever the shell around us has set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def little() -> dgd.Panel:
    """A crowd small enough for epochs of no time."""
    world = dgd.example_world(units=["shop"], cohorts=["all"], behaviors=["click"], arrivals=10.0)
    return dgd.simulate(world, 24, seed=5).panel


class CtrlC:
    """A progress callback that presses Ctrl-C once, after so many calls."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.told: list[tuple[int, int, float]] = []
        self.lock = threading.Lock()

    def __call__(self, seed: int, done: int, best: float) -> None:
        with self.lock:
            self.told.append((seed, done, best))
            if len(self.told) == self.after:
                signal.raise_signal(signal.SIGINT)


def fit_until_interrupted(panel: dgd.Panel, press: CtrlC, keep: bool) -> dgd.Fit:
    return dgd.DGD(**LIGHT, **LONG).fit(
        panel,
        train_end=panel.dates[16],
        validation_end=panel.dates[20],
        seeds=[1, 2],
        progress=press,
        keep_on_interrupt=keep,
    )


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_fit_keeps_its_best_parameters_when_asked(little: dgd.Panel) -> None:
    press = CtrlC(after=3)
    fit = fit_until_interrupted(little, press, keep=True)
    assert [run.reason for run in fit.runs] == ["interrupted", "interrupted"]
    assert fit.summary("polars")["ended because"].to_list() == ["interrupted"] * 2
    for run in fit.runs:
        told = [best for seed, _, best in press.told if seed == run.seed]
        if not told:
            continue
        assert run.best_objective == told[-1] == run.validation_objective.min()
        assert run.best_epoch == run.validation_objective.argmin()
        assert 0 < len(run.train_objective) < LONG["epochs"]
    ahead = fit.forecast(3, origin=little.dates[20])
    assert np.isfinite(ahead.arrivals).all()


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_is_passed_on_unless_kept(little: dgd.Panel) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_until_interrupted(little, CtrlC(after=1), keep=False)
    for thread in threading.enumerate():
        if thread.name.startswith("dgd-seed"):
            thread.join(60)
            assert not thread.is_alive(), "no thread trains on"


@pytest.mark.parametrize("handed_over", [1, 2], ids=["the first just now", "both"])
@pytest.mark.parametrize("keep", [True, False], ids=["kept", "passed on"])
def test_an_interruption_while_seeds_are_handed_out_loses_none(
    keep: bool, handed_over: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes while a seed is handed over and the first trains already."""
    began, tasks = threading.Event(), []

    class Interrupted(ThreadPoolExecutor):
        def submit(self, task: loop.Task) -> Future[None]:
            tasks.append(task)
            given = super().submit(task)
            if len(tasks) == handed_over:
                assert began.wait(60)
                raise KeyboardInterrupt
            return given

    def parabola(parameters: jax.Array, data: TrainingData) -> tuple[jax.Array, jax.Array]:
        return ((parameters - data.train) ** 2).sum(), ((parameters - data.validation) ** 2).sum()

    monkeypatch.setattr(loop, "ThreadPoolExecutor", Interrupted)
    epochs = 300_000
    with computing():
        target = jnp.asarray(np.ones(2))
        attempts = [
            Attempt.of(seed, "here", jnp.asarray(np.zeros(2)), True, target, target)
            for seed in (1, 2)
        ]
        settings = optimizer(epochs=epochs, patience=epochs, learning_rate=1e-5)
        given = (attempts, parabola, settings, lambda seed, *_: seed == 1 and began.set(), keep)
        if keep:
            runs = train_attempts(*given)
            assert [run.reason for run in runs] == ["interrupted", "interrupted"]
            assert [run.seed for run in runs] == [1, 2]
        else:
            with pytest.raises(KeyboardInterrupt):
                train_attempts(*given)
    first = tasks[0].future.result()
    assert 0 < len(first.train_objective) < epochs
    if keep:
        assert runs[0] is first, "what was trained before is not thrown away"


@pytest.fixture(scope="module")
def astray(little: dgd.Panel) -> dgd.Fit:
    """Steps far too long for anything to stay finite."""
    with pytest.warns(RuntimeWarning) as caught:
        fit = dgd.DGD(**LIGHT, epochs=200, patience=200, learning_rate=1e200).fit(
            little, train_end=little.dates[16], validation_end=little.dates[20], seeds=[4]
        )
    message = str(caught[-1].message)
    assert "diverged for seeds [4]" in message
    assert "best parameters so far" in message
    assert "lower learning_rate" in message
    return fit


def test_a_diverging_fit_says_so_and_stops(astray: dgd.Fit) -> None:
    assert astray.diverged == (4,)
    (run,) = astray.runs
    assert run.reason == REASONS[2]
    assert len(run.train_objective) < 200


def all_finite(run: Run) -> bool:
    return all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(run.parameters))


def test_a_diverging_fit_keeps_finite_parameters_that_still_forecast(astray: dgd.Fit) -> None:
    (run,) = astray.runs
    assert all_finite(run)
    assert np.isfinite(run.best_objective)
    assert run.best_objective == np.nanmin(run.validation_objective)
    ahead = astray.forecast(3, origin=astray.panel.dates[20])
    assert np.isfinite(ahead.arrivals).all()
    np.testing.assert_allclose(ahead.patterns.sum(-1), 1.0, rtol=1e-12)


def test_a_healthy_fit_warns_of_nothing(fit: dgd.Fit) -> None:
    assert fit.diverged == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.forecast(2, origin=fit.panel.dates[30])


def test_using_dgd_leaves_the_users_jax_as_it_was(
    fit: dgd.Fit, jax_before: dict[str, object]
) -> None:
    fit.forecast(2, origin=fit.panel.dates[20])
    assert {name: getattr(jax.config, name) for name in jax_before} == jax_before
    assert jax.numpy.ones(2).dtype == np.float32
