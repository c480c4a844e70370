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

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.starting_at_rest import first_moving_demand
from dgd.choice.dynamics.tastes_over_time import retention_table, tastes_over_time
from dgd.choice.estimation.bootstrap import resampled
from dgd.choice.estimation.estimating import Estimate
from dgd.choice.estimation.evidence import clusters_of
from dgd.choice.estimation.record import ALIKE, EstimationRecord
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.inversion.fitting import InvertedFit
from dgd.choice.markets import Markets
from dgd.choice.questions import DemandQuestions
from dgd.choice.settings import FEEDBACK, INVERTED, LIKELIHOOD, STATIC, ChoiceSettings
from dgd.choice.starting import ChoiceStart, estimated, first_demand
from dgd.choice.stored import markets_from, markets_stored
from dgd.choice.uncertainty import DRAWS, Doubt, Drawn, reach
from dgd.errors import InputError
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.learning.runs import CONVERGED, Run
from dgd.learning.trained import restored_runs
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label

OPTIONAL_TENSORS = ("quality", "covariance", "resampled", "qualities")


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
    """Estimates from markets drawn anew, or parameters drawn around one by instruments."""
    qualities: Float[np.ndarray, "draw market slot"] | None = None
    """The quality that each of these leaves, where shares were inverted."""
    without_feedback: tuple[float, ...] | None = None
    """Each seed's loss in the periods held out, had nothing been carried from period to period."""

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

    @staticmethod
    def inverted(found: InvertedFit, markets: Markets) -> "ChoiceFit":
        """What instruments alone found."""
        return ChoiceFit(
            found.settings,
            markets,
            markets.markets,
            (found.run,),
            found.quality,
            found.record,
            resampled=found.vectors,
            qualities=found.qualities,
        )

    @property
    def data(self) -> Markets:
        return self.markets

    @cached_property
    def fitted(self) -> FittedOffers:
        """How markets become offers of this fit."""
        quality = np.zeros(self.markets.price.shape) if self.quality is None else self.quality
        return FittedOffers(self.markets, quality, self._past)

    @property
    def _past(self) -> HistoryOf | None:
        if self.settings.dynamics == STATIC:
            return None
        rest = [label for label in self.markets.markets if label not in set(self.training)]
        past = HistoryOf.by(self.markets.select(self.training))
        return past.with_later(self.markets.select(rest)) if rest else past

    @property
    def price_range(self) -> tuple[float, float]:
        """The lowest and highest price trained on."""
        return self.markets.select(self.training).price_range

    @property
    def alike(self) -> bool:
        """Whether everyone is the same in this fit: then there are no types to speak of."""
        return self.record is not None and self.record.chosen == ALIKE

    def tastes_over_time(self, markets: Markets | None = None, kind: str | None = None) -> Any:
        """One row per market, with its place and period: how price-sensitive its people are at
        that time, and their tastes, as what was bought before has moved them."""
        if self.settings.dynamics == STATIC:
            raise InputError(
                f'the fit was made with dynamics="{STATIC}": nothing moves tastes in it; fit with '
                f'dynamics="{FEEDBACK}".'
            )
        demand = self.demand(markets)
        table = tastes_over_time(self.parameters, demand.markets, demand.seen)
        return from_polars(table, kind or demand.markets.kind)

    def bootstrapped(self, draws: int = DRAWS, seed: int = 1) -> "ChoiceFit":
        """The same fit, its ranges taken from estimates on markets (or households) drawn anew
        with replacement instead of from the sandwich."""
        if self.covariance is None:
            raise InputError(
                "markets are drawn anew for estimates by likelihood only; this fit is another."
            )
        with computing():
            demand = self.parameters[0]
            found = resampled(self.settings, self.fitted, demand, self.alike, draws, seed)
        return replace(self, resampled=found)

    @cached_property
    def doubt(self) -> Doubt:
        """What was estimated, and how sure it is."""
        if self.covariance is None and self.resampled is None:
            raise InputError(
                f'the fit was made with method="{self.settings.method}" and dynamics='
                f'"{self.settings.dynamics}", which say nothing about sampling: fit with '
                f'method="{LIKELIHOOD}" and dynamics="{STATIC}" for standard errors and ranges.'
            )
        with computing():
            demand = self.parameters[0]
            free = estimated(demand, self.alike, self.controlled)
            clusters = int(clusters_of(self.markets).max()) + 1
            return Doubt(*eqx.partition(demand, free), self.covariance, self.resampled, clusters)

    @property
    def controlled(self) -> bool:
        return self.quality is not None and self.settings.quality != INVERTED

    def draws(self, number: int = DRAWS) -> list[Drawn]:
        return self._seen(self.doubt.demands(number))[:number]

    def nearby(self) -> list[Drawn]:
        return self._seen(self.doubt.nearby()[0])

    def far(self, level: float) -> float:
        return reach(level, self.doubt.clusters) * self.doubt.nearby(1)[1]

    def _seen(self, demands: Sequence[ChoiceDemand]) -> list[Drawn]:
        """Demands with the offers as each of them sees them."""
        if self.qualities is None:
            return [Drawn(demand, self.fitted) for demand in demands]
        fitted = [replace(self.fitted, quality=quality) for quality in self.qualities]
        return [Drawn(*each) for each in zip(demands, fitted, strict=True)]

    def summary(self, kind: str | None = None) -> Any:
        """One row per start (with early stopping, per seed): how its search ended."""
        if self.record is None:
            return super().summary(kind)
        found = self.record.starts_table() if self.record.starts else self._one_search
        return from_polars(found, kind or self.markets.kind)

    @property
    def _one_search(self) -> pl.DataFrame:
        """Where there was nothing to start from: the logit, or instruments."""
        assert self.record is not None
        run = self.runs[0]
        return pl.DataFrame(
            {
                "seed": [run.seed],
                "start": [run.start],
                "objective": [run.best_objective],
                "largest slope": [self.record.slope],
                "converged": [run.reason == CONVERGED],
            }
        )

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
        if self.without_feedback is not None:
            gains = [
                without - run.best_objective
                for without, run in zip(self.without_feedback, self.runs, strict=True)
            ]
            gained = ", ".join(f"{gain:.2g}" for gain in gains)
            told = f"feedback: lowers the loss of an opportunity in later periods by {gained}"
            return (told, *super().sentences())
        said = () if self.record is None else self.record.sentences(self.runs[0].reason)
        return (*said, *super().sentences())

    def __repr__(self) -> str:
        if self.record is None:
            return super().__repr__()
        people = "everyone alike" if self.alike else "people differ"
        return f"ChoiceFit({self.markets!r}, {people}, {self.runs[0].reason})"

    def tables(self) -> dict[str, pl.DataFrame]:
        found = super().tables()
        if self.record is not None:
            if self.record.candidates:
                found["People"] = self.record.candidates_table()
            found["Coefficients"] = self.coefficients(kind="polars")
        if self.settings.dynamics != STATIC:
            found["Carried from period to period"] = retention_table(self.parameters, self.seeds)
        return found if self.alike else {**found, "Types of choosers": self.segments("polars")}

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = markets_stored(self.markets)
        about = {
            "settings": self.settings.as_dict(),
            "training": self.training,
            "record": None if self.record is None else self.record.facts,
            "without_feedback": self.without_feedback,
        }
        for name in OPTIONAL_TENSORS:
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
        training = declared.labels(facts, "training")
        if not training or not set(training) <= set(markets.markets):
            raise ValueError("training names a market that the file does not hold")
        with computing():
            rng = np.random.default_rng(0)
            template = (
                first_demand(settings, blank, len(markets.cohorts), rng)
                if settings.dynamics == STATIC
                else first_moving_demand(settings, blank, markets.select(training), rng)
            )
            runs = restored_runs(facts["runs"], tensors, template)
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
            qualities=_optional(tensors, "qualities", (None, *markets.price.shape)),
            without_feedback=_numbers(facts["without_feedback"]),
        )


def _optional(tensors: Tensors, name: str, shape: Sequence[int | None]) -> np.ndarray | None:
    return declared.tensor(tensors, name, shape) if name in tensors else None


def _numbers(found: Any) -> tuple[float, ...] | None:
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(x, float) for x in found):
        raise TypeError("without_feedback is not a list of numbers")
    return tuple(found)


def _free_size(fit: ChoiceFit) -> int:
    free = estimated(fit.parameters[0], fit.alike, fit.controlled)
    kept = eqx.filter(fit.parameters[0], free)
    return sum(x.size for x in jax.tree.leaves(kept))
