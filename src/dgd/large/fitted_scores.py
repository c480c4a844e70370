"""Scores of a fit on its test days, of any number of units."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.errors import InputError
from dgd.forecasting.predictive import Predictive
from dgd.large.fitted_units import FittedUnits
from dgd.panel.panel import Panel
from dgd.panel.some_units import panel_of_units
from dgd.scoring.score_sums import ScoreSums
from dgd.tables.frames import from_polars


def scores(fit: FittedUnits, horizons: Sequence[int] = (1, 3, 7), kind: str | None = None) -> Any:
    """One row per horizon, metric and seed: the scores of `backtest` on all days after validation.

    Very many units are scored block by block, those of several processes where they are: sums are
    added up, and no forecast of all units is ever made.

    Args:
        horizons: how many days ahead; each is scored at its endpoint.
        kind: of frame; that of the counts unless told.
    """
    panel, rows = fit.panel, []
    for horizon in horizons:
        origins = np.arange(fit.split.validation_stop - 1, panel.days - horizon)
        if horizon < 1 or not len(origins):
            raise InputError(
                f"horizon {horizon} has no endpoint among the "
                f"{panel.days - fit.split.validation_stop} {panel.period.name}s after validation; "
                "leave it out or count more."
            )
        found: list[ScoreSums] = []
        for some, predicted in _parts(fit, origins, horizon):
            sums = _sums(some, origins + horizon, predicted.at(-1))
            found = [a.plus(b) for a, b in zip(found, sums, strict=True)] if found else sums
        for seed, one in enumerate(found):
            named = one.over(fit.group.sum).scores(panel.behaviors)
            rows += [(horizon, name, seed, score, len(origins)) for name, score in named.items()]
    columns = ["horizon", "metric", "seed", "score", "origins"]
    return from_polars(pl.DataFrame(rows, schema=columns, orient="row"), kind or panel.kind)


def _parts(
    fit: FittedUnits, origins: np.ndarray, horizon: int
) -> Iterator[tuple[Panel, Predictive]]:
    if not fit.in_blocks:
        yield fit.panel, fit.predict(origins, horizon)
        return
    spread = fit.scatter.dispersion(horizon)
    for units, found in fit.predicted_in_blocks(origins, horizon, fit.panel):
        yield panel_of_units(fit.panel, units), found.with_dispersion(spread)


def _sums(panel: Panel, days: np.ndarray, predicted: Predictive) -> list[ScoreSums]:
    """Of every seed's forecast of one step."""
    counts = panel.patterns[days].astype(np.float64)
    spread = predicted.dispersion
    if spread is not None:
        spread = np.broadcast_to(np.asarray(spread, np.float64), predicted.arrivals.shape)
    return [
        ScoreSums.of(
            counts,
            predicted.arrivals[seed, 0],
            predicted.patterns[seed, 0],
            None if spread is None else spread[seed, 0],
        )
        for seed in range(len(predicted.arrivals))
    ]


class FittedScores:
    """What is asked of a fit about its scores: the first argument is the fit."""

    scores = scores
