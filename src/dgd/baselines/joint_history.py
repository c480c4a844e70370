r"""What the historical baselines share: remembered counts, smoothed into a distribution.

A memory looks back from each origin and returns counts of joint patterns. With
S its counts of cell c, the forecast distribution is

.. math:: q_{ct}(y) = \frac{S_{ct}(y) + \tau \bar q_y}{\sum_{y'} S_{ct}(y') + \tau}, \qquad
    \bar q_y = \frac{\sum_{c,t} C_{ct}(y) + 0.5}{\sum_{c,t,y'} C_{ct}(y') + 0.5 \cdot 2^H}

where the sums of q-bar run over all cells and the training days. The smoothing
strength tau, and whatever else a memory leaves open, are chosen on the
validation days by event-weighted joint NLL, one day ahead.

All memories begin with the first training day: the warm-up fixes cohorts and
thresholds, so that its own counts are not like those of later days (people
first seen after it, for one, cannot occur in it).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.protocol import refuse_origins
from dgd.model import negative_binomial
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.scoring.behavior_scores import joint_nll
from dgd.tables.periods import Moment

TAUS = (1.0, 10.0, 100.0)
"""Smoothing strengths to choose from, as in the paper."""

PRIOR_COUNT = 0.5
"""Added to every pattern's training count, so that none has probability zero."""

Setting: TypeAlias = float | int | str
Remembered: TypeAlias = Float[np.ndarray, "step origin unit cohort pattern"]


@runtime_checkable
class LookBack(Protocol):
    """Pattern counts that each origin looks back on, for every step ahead of it."""

    def __call__(
        self, panel: Panel, split: Split, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> Remembered: ...


@dataclass(frozen=True, kw_only=True)
class History(ABC):
    """A historical baseline, ready to be fitted.

    Args:
        taus: smoothing strengths to choose from on the validation days.
    """

    taus: Sequence[float] = TAUS

    def __post_init__(self) -> None:
        require_positive("taus", self.taus)

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),  # noqa: ARG002
        progress: Callable[[int, int, float], None] | bool | None = None,  # noqa: ARG002
    ) -> "HistoryFit":
        """Choose on the validation days; there is no chance in it, so seeds do not matter."""
        return self.choose(panel, Split.of(panel, train_end, validation_end, warmup_end))

    @abstractmethod
    def choose(self, panel: Panel, split: Split) -> "HistoryFit":
        """Settle whatever is open by the validation days."""


@dataclass(frozen=True, eq=False)
class HistoryFit:
    """A historical baseline with its settings chosen, ready to predict."""

    panel: Panel
    split: Split
    settings: Mapping[str, Setting]
    """What was chosen on the validation days."""
    validation_nll: float
    """Event-weighted joint NLL of the validation days, one day ahead."""
    volume: LookBack
    """Its counts, summed over patterns, are the arrivals forecast."""
    composition: LookBack
    """Its counts are S."""
    tau: float

    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        """Arrivals and joint probabilities for every step after each origin; one seed."""
        refuse_origins(self.panel, origins, horizon, self.split.first)
        arrivals = self.volume(self.panel, self.split, origins, horizon).sum(-1)
        counts = self.composition(self.panel, self.split, origins, horizon)
        patterns = smooth(counts, prior(self.panel, self.split), self.tau)
        return Predictive(arrivals[None], patterns[None], self.dispersion)

    @cached_property
    def dispersion(self) -> float:
        """r, measured on the training days: how far the arrivals of a unit and cohort scattered
        around what would have been forecast the day before; infinite for a single day."""
        origins = np.arange(self.split.first, self.split.train_stop - 1)
        if not len(origins):
            return np.inf
        expected = self.volume(self.panel, self.split, origins, 1)[0].sum(-1)
        recorded = self.panel.arrivals[origins + 1].astype(np.float64)
        return negative_binomial.measured_dispersion(recorded, expected)


def prior(panel: Panel, split: Split) -> Float[np.ndarray, " pattern"]:
    """q-bar: pattern shares of all training arrivals, none of them zero."""
    counts = panel.patterns[split.train].sum((0, 1, 2)) + PRIOR_COUNT
    return np.asarray(counts / counts.sum())


def smooth(counts: Remembered, prior: Float[np.ndarray, " pattern"], tau: float) -> Remembered:
    """q = (S + tau q-bar) / (sum S + tau)."""
    return np.asarray((counts + tau * prior) / (counts.sum(-1, keepdims=True) + tau))


def validation_origins(split: Split) -> Int[np.ndarray, " origin"]:
    """The days before each validation day."""
    return np.arange(split.train_stop - 1, split.validation_stop - 1)


def least_nll(
    panel: Panel, split: Split, memories: Iterable[LookBack], taus: Sequence[float]
) -> tuple[int, float, float]:
    """Number of the memory and tau of least validation NLL, and that NLL; the first of equals."""
    days = slice(split.train_stop, split.validation_stop)
    counts = panel.patterns[days].astype(np.float64)
    if counts.sum() == 0:
        raise InputError(
            f"no arrivals from {panel.dates[days][0]} to {panel.dates[days][-1]}, so nothing can "
            "be chosen on these validation days; choose a range with counts in it."
        )
    shares = prior(panel, split)
    tried = []
    for number, memory in enumerate(memories):
        remembered = memory(panel, split, validation_origins(split), 1)
        for tau in taus:
            tried.append((joint_nll(counts, smooth(remembered, shares, tau)[0]), number, tau))
    nll, number, tau = min(tried, key=lambda one: one[0])
    return number, tau, nll


def repeat_steps(
    counts: Float[np.ndarray, "origin unit cohort pattern"], horizon: int
) -> Remembered:
    """The same forecast for every step: held fixed at the origin."""
    return np.broadcast_to(counts[None], (horizon, *counts.shape))


def require_positive(name: str, values: Sequence[float]) -> None:
    """Refuse an empty list of candidates, and candidates that are not above 0."""
    if not values or not all(value > 0 for value in values):
        raise InputError(f"{name} is {tuple(values)}; give at least one number, all above 0.")
