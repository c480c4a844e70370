"""Shops that the shell's tests share."""

import pytest

import dgd.estimator
from support.shell import done
from support.shop import WORLD, Shop, open_shop


@pytest.fixture(scope="session", params=["csv", "parquet"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A world and its model, as tables of either kind."""
    return open_shop(tmp_path_factory.mktemp("shop"), request.param)


@pytest.fixture(scope="session")
def csv_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A simulated world without a model."""
    folder = tmp_path_factory.mktemp("csv")
    done("simulate", *WORLD, "--output", folder / "world")
    return Shop(folder, "csv", {}, {})


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(*_: object) -> None:
        pytest.fail("training began before the refusal")

    monkeypatch.setattr(dgd.estimator, "best_runs", reached)
