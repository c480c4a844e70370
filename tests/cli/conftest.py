"""Shops that the shell's tests share."""

from collections.abc import Callable
from functools import cache

import pytest

import dgd.estimator
from support.shell import done
from support.shop import WORLD, Shop, open_shop


@pytest.fixture(scope="session")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Shop]:
    """A world and its model as tables of either kind, each opened once for all tests."""
    return cache(lambda suffix: open_shop(tmp_path_factory.mktemp("shop"), suffix))


@pytest.fixture(params=["csv", "parquet"])
def shop(request: pytest.FixtureRequest, shops: Callable[[str], Shop]) -> Shop:
    return shops(request.param)


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
