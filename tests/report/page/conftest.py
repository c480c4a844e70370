"""Reports that the tests of pages share, each made once."""

from pathlib import Path

import pytest

import dgd
from support.logit_markets import alike_fit
from support.random_choice import SIZES, make, random_fit


@pytest.fixture(scope="session")
def crowd_page(fit: dgd.Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three days ahead, of a fit with effort and five test days."""
    path = tmp_path_factory.mktemp("crowd") / "report.html"
    fit.report(horizon=3, levels=[50]).save(path)
    return path


@pytest.fixture(scope="session")
def demand_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demand") / "report.html"
    random_fit(make(sizes=SIZES)).report().save(path)
    return path


@pytest.fixture(scope="session")
def alike_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of people who are all alike, and of firms that sell to them."""
    path = tmp_path_factory.mktemp("alike") / "report.html"
    alike_fit().report().save(path)
    return path
