"""ChoiceFit: what estimation left behind, ready to answer questions about demand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.estimation.bootstrap import resampled
from dgd.choice.estimation.estimating import Estimate
from dgd.choice.estimation.record import ALIKE, EstimationRecord
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.questions import DemandQuestions
from dgd.choice.settings import LIKELIHOOD, ChoiceSettings
from dgd.choice.starting import ChoiceStart, estimated, first_demand
from dgd.choice.stored import markets_from, markets_stored
from dgd.choice.uncertainty import DRAWS, Doubt
from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.learning.runs import Run
from dgd.learning.trained import restored_runs
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceFit(DemandQuestions):
    """A fitted choice model, with the markets it was fitted on.

    With early stopping there is one parameter set per seed, and tables are averages over them;
    otherwise there is one, at the top of the likelihood.
    """

    settings: ChoiceSettings
    markets: Markets
    """The markets handed to `fit`, those held out for validation included."""
    training: tuple[Label, ...]
    """The labels of the markets that the parameters were learned from."""
    runs: tuple[Run, ...]
    quality: Float[np.ndarray, "market slot"] | None = None
    """What a first stage left of prices, or the quality that shares were inverted into."""
    record: EstimationRecord | None = None
    """How the estimate came about; early stopping has none."""
    covariance: Float[np.ndarray, "parameter parameter"] | None = None
    resampled: Float[np.ndarray, "draw parameter"] | None = None

    holds: ClassVar[str] = "choice fit"

    @staticmethod
    def of(found: Estimate) -> "ChoiceFit":
        """What an estimation found."""
        markets, quality = found.fitted.markets, found.fitted.quality
        return ChoiceFit(
            found.settings,
            markets,
            markets.markets,
            (found.run,),
            quality if quality.any() else None,
            found.record,
            found.covariance,
        )

    @property
    def data(self) -> Markets:
        return self.markets

    @cached_property
    def fitted(self) -> FittedOffers:
        """How markets become offers of this fit."""
        if self.quality is None:
            return FittedOffers.plain(self.markets)
        return FittedOffers(self.markets, self.quality)

    @property
    def price_range(self) -> tuple[float, float]:
        """The lowest and highest price trained on."""
        return self.markets.select(self.training).price_range

    @property
    def alike(self) -> bool:
        """Whether everyone is the same in this fit: then there are no types to speak of."""
        return self.record is not None and self.record.chosen == ALIKE

    def bootstrapped(self, draws: int = DRAWS, seed: int = 1) -> "ChoiceFit":
        """The same fit, its ranges taken from estimates on markets (or households) drawn anew
        with replacement instead of from the sandwich."""
        with computing():
            demand = self.parameters[0]
            found = resampled(self.settings, self.fitted, demand, self.alike, draws, seed)
        return replace(self, resampled=found)

    @cached_property
    def doubt(self) -> Doubt:
        """What was estimated, and how sure it is."""
        if self.covariance is None:
            raise InputError(
                f'the fit was made with method="{self.settings.method}", which says nothing about '
                f'sampling: fit with method="{LIKELIHOOD}" for standard errors and ranges.'
            )
        with computing():
            demand = self.parameters[0]
            free = estimated(demand, self.alike, self.quality is not None)
            return Doubt(*eqx.partition(demand, free), self.covariance, self.resampled)

    def summary(self, kind: str | None = None) -> Any:
        """One row per start (with early stopping, per seed): how its search ended."""
        if self.record is None or not self.record.starts:
            return super().summary(kind)
        return from_polars(self.record.starts_table(), kind or self.markets.kind)

    def facts(self) -> dict[str, Any]:
        markets = self.markets
        return {
            "markets": repr(markets),
            "products": markets.products,
            "attributes": markets.attribute_names,
            "cohorts": markets.cohorts,
            "trained_on": self.training,
            "settings": self.settings.as_dict(),
            **({} if self.record is None else {"estimation": self.record.facts}),
        }

    def sentences(self) -> tuple[str, ...]:
        said = () if self.record is None else self.record.sentences(self.runs[0].reason)
        return (*said, *super().sentences())

    def tables(self) -> dict[str, pl.DataFrame]:
        found = super().tables()
        if self.record is not None:
            found["People"] = self.record.candidates_table()
            found["Coefficients"] = self.coefficients(kind="polars")
        return found if self.alike else {**found, "Types of choosers": self.segments("polars")}

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = markets_stored(self.markets)
        about = {
            "settings": self.settings.as_dict(),
            "training": self.training,
            "record": None if self.record is None else self.record.facts,
        }
        for name in ("quality", "covariance", "resampled"):
            found = getattr(self, name)
            if found is not None:
                tensors[name] = found
        return {**about, "markets": facts}, tensors

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "ChoiceFit":
        markets = markets_from(declared.part(facts, "markets"), tensors)
        settings = ChoiceSettings(**declared.part(facts, "settings"))
        levels = FittedOffers.plain(markets).level_count
        blank = ChoiceStart.blank(len(markets.attribute_names), levels)
        with computing():
            template = first_demand(settings, blank, len(markets.cohorts), np.random.default_rng(0))
            runs = restored_runs(facts["runs"], tensors, template)
        training = declared.labels(facts, "training")
        if not training or not set(training) <= set(markets.markets):
            raise ValueError("training names a market that the file does not hold")
        record = facts["record"]
        fit = cls(
            settings,
            markets,
            training,
            runs,
            _optional(tensors, "quality", markets.price.shape),
            None if record is None else EstimationRecord.restored(record),
        )
        size = _free_size(fit)
        return replace(
            fit,
            covariance=_optional(tensors, "covariance", (size, size)),
            resampled=_optional(tensors, "resampled", (None, size)),
        )


def _optional(tensors: Tensors, name: str, shape: Sequence[int | None]) -> np.ndarray | None:
    return declared.tensor(tensors, name, shape) if name in tensors else None


def _free_size(fit: ChoiceFit) -> int:
    free = estimated(fit.parameters[0], fit.alike, fit.quality is not None)
    kept = eqx.filter(fit.parameters[0], free)
    return sum(x.size for x in jax.tree.leaves(kept))
