"""Visitors of the app, and the worlds and fits that they look at."""

from pathlib import Path

import pytest

import dgd
from support.shaken import shaken
from support.untrained import untrained
from support.visiting import Visitor, visitor


@pytest.fixture
def guest(tmp_path: Path) -> Visitor:
    """Somebody who visits the app, started in an empty folder."""
    for name in ("data", "scratch"):
        (tmp_path / name).mkdir()
    return visitor(tmp_path / "data", tmp_path / "scratch")


@pytest.fixture(scope="session")
def shaken_fit(drawn: dgd.Simulated) -> dgd.Fit:
    """A fit with effort whose parameters were moved at random: pages show any fit."""
    return shaken(untrained(dgd.DGD(), drawn.panel, seeds=(1,)))


@pytest.fixture(scope="session")
def world(drawn: dgd.Simulated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables of a small world."""
    folder = tmp_path_factory.mktemp("world")
    drawn.panel.to_frame("polars").write_csv(folder / "counts.csv")
    drawn.sizes_to_frame("polars").write_csv(folder / "sizes.csv")
    return folder
