"""A neural opponent comes back from its file as it was."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.baselines import DeepARFit, GRUFit

ORIGINS = np.array([33, 34, 36])


@pytest.fixture(params=["deepar", "gru"])
def fitted(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture
def loaded(fitted: Any, tmp_path: Path) -> Any:
    fitted.save(tmp_path / "model.dgd")
    return dgd.load(tmp_path / "model.dgd")


def test_forecasts_and_settings_are_the_same(fitted: Any, loaded: Any) -> None:
    """The same programs run on the same numbers."""
    assert type(loaded) is type(fitted)
    assert loaded.settings == fitted.settings
    assert loaded.forecaster == fitted.forecaster
    assert loaded.split == fitted.split
    before, after = (fit.predict(ORIGINS, 2) for fit in (fitted, loaded))
    np.testing.assert_array_equal(after.arrivals, before.arrivals)
    np.testing.assert_array_equal(after.patterns, before.patterns)
    np.testing.assert_array_equal(after.dispersion, before.dispersion)


def test_parameters_and_training_are_the_same(fitted: Any, loaded: Any) -> None:
    for before, after in zip(fitted.parameters, loaded.parameters, strict=True):
        assert jax.tree.structure(after) == jax.tree.structure(before)
        for one, other in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
            np.testing.assert_array_equal(one, other)
    assert (loaded.seeds, loaded.diverged) == (fitted.seeds, fitted.diverged) == ((1, 2), ())
    assert isinstance(loaded.history(), pl.DataFrame)
    assert loaded.history().equals(fitted.history())
    assert loaded.summary().equals(fitted.summary())
    assert loaded.payload() == fitted.payload()
    assert loaded.panel.to_frame().equals(fitted.panel.to_frame())


def test_saving_what_was_loaded_gives_the_same_file(loaded: Any, tmp_path: Path) -> None:
    loaded.save(tmp_path / "again.dgd")
    assert (tmp_path / "again.dgd").read_bytes() == (tmp_path / "model.dgd").read_bytes()


def test_the_widths_tried_are_kept(deepar: DeepARFit, tmp_path: Path) -> None:
    deepar.save(tmp_path / "model.dgd")
    loaded = dgd.load(tmp_path / "model.dgd")
    assert loaded.tried == deepar.tried
    assert loaded.widths == deepar.widths


def test_a_fit_tells_what_it_is(deepar: DeepARFit, gru: GRUFit) -> None:
    assert repr(deepar).startswith("DeepARFit(2 seeds on Panel(40 days")
    assert repr(gru).startswith("GRUFit(2 seeds on Panel(40 days")
    assert deepar.payload()["holds"] == "DeepAR fit"
    assert [row["seed"] for row in gru.payload()["training"]] == [1, 2]
