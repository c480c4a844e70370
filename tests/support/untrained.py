"""Fits as `fit` makes them, but for the training itself: nothing is compiled for them."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import equinox as eqx
import numpy as np

from dgd import DGD, Panel
from dgd.learning.loop import Attempt
from dgd.learning.runs import Run
from dgd.learning.seeds import best_of_each


def untrained(model: Any, panel: Panel, seeds: Sequence[int] = (1, 2)) -> Any:
    """What `model.fit` returns for 28 training and 7 validation days, at its first parameters."""
    ends = {"train_end": panel.dates[27], "validation_end": panel.dates[34]}
    with no_training(type(model).__module__):
        return model.fit(panel, **ends, seeds=seeds)


@contextmanager
def no_training(module: str) -> Iterator[None]:
    """Fits of the estimator in `module` keep their first parameters and variances."""
    with patch(f"{module}.best_runs", _first_runs), ExitStack() as more:
        if module == DGD.__module__:
            more.enter_context(patch(f"{module}.with_variances", lambda runs, *_: runs))
        yield


def _first_runs(attempts: Sequence[Attempt], *_: object) -> tuple[Run, ...]:
    return best_of_each(
        Run(
            seed=attempt.seed,
            start=attempt.start,
            parameters=eqx.combine(attempt.parameters, attempt.data.fixed),
            best_epoch=0,
            best_objective=1.0,
            train_objective=np.ones(1),
            validation_objective=np.ones(1),
            reason="all epochs done",
        )
        for attempt in attempts
    )
