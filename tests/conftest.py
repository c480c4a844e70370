"""Every test runs with shapes checked and silent broadcasting refused.

The import hook must be in place before anything imports dgd.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import hypothesis
import jax
import narwhals.typing
import pytest
from jaxtyping import install_import_hook

# Narwhals' frame protocols cannot be checked at run time.
narwhals.typing.IntoFrame = Any  # type: ignore[misc]
# Whole numbers are welcome where a float is asked for, as type checkers have it.
install_import_hook("dgd", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

# The same examples in every run: a failure can be found again, and a pass is not luck.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")

JAX_BEFORE = {
    name: getattr(jax.config, name)
    for name in (
        "jax_enable_x64",
        "jax_compilation_cache_dir",
        "jax_persistent_cache_min_compile_time_secs",
        "jax_persistent_cache_min_entry_size_bytes",
    )
}

import dgd  # noqa: E402
from support.variants import VARIANTS  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def _no_silent_broadcasting() -> None:
    jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(scope="session")
def jax_before() -> dict[str, object]:
    """The settings of JAX that dgd borrows, as they were before dgd was imported."""
    return JAX_BEFORE


@pytest.fixture(scope="session")
def drawn() -> dgd.Simulated:
    """A small world with known truth: 2 units, 3 cohorts, 3 behaviours, 40 days."""
    return dgd.simulate(dgd.example_world(arrivals=15), 40, seed=3)


@pytest.fixture(scope="session")
def fit(drawn: dgd.Simulated) -> dgd.Fit:
    """Two seeds fitted to 28 days of `drawn`, validated on 7, with 5 left over.

    Shapes and settings are those of the shell's tests, so that one compilation serves both.
    """
    dates = drawn.panel.dates
    return dgd.DGD(epochs=5).fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2]
    )


@pytest.fixture(scope="session")
def uncorrected(drawn: dgd.Simulated) -> dgd.Fit:
    """The same without innovations."""
    dates = drawn.panel.dates
    return dgd.DGD(epochs=5, innovations="none").fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2]
    )


@pytest.fixture(scope="session")
def variant_fit(drawn: dgd.Simulated) -> Callable[[str], dgd.Fit]:
    """A variant fitted to `drawn`, once for all tests that ask for it."""
    dates = drawn.panel.dates

    @cache
    def fitted(name: str) -> dgd.Fit:
        model = dgd.DGD(epochs=5, start="warmup", innovations="none", **VARIANTS[name])
        return model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2])

    return fitted


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reaching any computation is a failure."""
    from dgd import estimator
    from dgd.forecasting import walking_forecaster

    def reached(*_: object, **__: object) -> None:
        pytest.fail("work began before the refusal")

    monkeypatch.setattr(estimator, "best_runs", reached)
    monkeypatch.setattr(estimator, "computing", reached)
    monkeypatch.setattr(walking_forecaster, "expected_path", reached)
