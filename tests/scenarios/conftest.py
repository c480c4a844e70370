"""Fits with known parameters: what a change or a plan should come to can be computed by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dgd
from dgd.model.crowd import Crowd
from scenarios.known_crowds import shaken
from support.untrained import untrained

UNITS, COHORTS, BEHAVIORS = ("north", "south"), ("casual", "devoted"), ("click", "buy")
PLAIN = {
    "components": 1,
    "nodes": 3,
    "calendar": "none",
    "summaries": "none",
    "innovations": "none",
}
"""Nothing but people, effort and what they carry."""


@pytest.fixture(scope="session")
def varied_panel() -> dgd.Panel:
    """Forty days of two units, two cohorts and two behaviours under efforts that vary."""
    world = dgd.example_world(units=UNITS, cohorts=COHORTS, behaviors=BEHAVIORS, arrivals=15)
    effort = np.random.default_rng(5).uniform(0.5, 2.0, (40, 2, 2))
    return dgd.simulate(world, 40, seed=3, effort=effort).panel


@pytest.fixture(scope="session")
def plain_fit(varied_panel: dgd.Panel) -> dgd.Fit:
    """One seed, one type of people, no calendar; parameters are where training starts."""
    return untrained(dgd.DGD(**PLAIN), varied_panel, seeds=[1])


@pytest.fixture(scope="session")
def two_seeds(varied_panel: dgd.Panel) -> dgd.Fit:
    """Two seeds of random but plausible parameters, with calendar, summaries and innovations."""
    model = dgd.DGD(components=2, nodes=3, calendar="weekday", summaries="history")
    made = untrained(model, varied_panel)
    return made.with_crowds([shaken(crowd, at) for at, crowd in enumerate(made.crowds)])


@pytest.fixture(scope="session")
def known(plain_fit: dgd.Fit) -> Callable[..., dgd.Fit]:
    """The plain fit with parts of its crowd exchanged by the given functions."""

    def made(*parts: Callable[[Crowd], Crowd]) -> Any:
        crowd = plain_fit.crowds[0]
        for part in parts:
            crowd = part(crowd)
        return plain_fit.with_crowds([crowd])

    return made
