"""Objectives and optimisers as the paper sets them, with anything changed by name."""

from dataclasses import replace
from typing import Any

from dgd.learning.loop import Optimizer
from dgd.learning.objective import Objective
from dgd.learning.settings import PAPER, Settings


def objective(**changes: Any) -> Objective:
    return replace(Settings(**PAPER).objective, **changes)


def optimizer(**changes: Any) -> Optimizer:
    return replace(Settings(**PAPER).optimizer, **changes)
