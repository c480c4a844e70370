"""A problem to estimate: the markets of a fit as arrays, and everyone alike as its first answer."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.evidence import ChoiceEvidence, clusters_of, saturated
from dgd.choice.estimation.information import Information, information
from dgd.choice.estimation.plain_logit import PlainLogit, plain_logit
from dgd.choice.estimation.target import LikelihoodScale, Target
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.instruments.first_stage import FirstStage, first_stage
from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales
from dgd.choice.settings import CONTROL, UNSEEN, ChoiceSettings
from dgd.choice.starting import ChoiceStart, alike_demand, estimated


@dataclass(frozen=True, eq=False)
class Problem:
    """Markets, what their prices leave unexplained, and the logit in which everyone is alike."""

    settings: ChoiceSettings
    fitted: FittedOffers
    stage: FirstStage | None
    offers: Offers
    scales: Scales
    evidence: ChoiceEvidence
    logit: PlainLogit
    top: float
    """The log-likelihood that no model can exceed."""

    @staticmethod
    def of(settings: ChoiceSettings, markets: Markets) -> "Problem":
        fitted, stage = with_quality(settings, markets)
        offers, scales = fitted.of(markets), Scales.of(markets)
        logit = plain_logit(markets, offers, scales, fitted.level_count)
        evidence = ChoiceEvidence.of(markets, offers)
        return Problem(settings, fitted, stage, offers, scales, evidence, logit, saturated(markets))

    @property
    def markets(self) -> Markets:
        return self.fitted.markets

    @property
    def start(self) -> ChoiceStart:
        return ChoiceStart.at(self.scales, self.logit)

    @property
    def alike(self) -> ChoiceDemand:
        """Everyone alike, at the top of the likelihood."""
        return self.alike_at(self.logit)

    def alike_at(self, logit: PlainLogit) -> ChoiceDemand:
        start = ChoiceStart.at(self.scales, logit)
        return alike_demand(start, len(self.markets.cohorts), self.settings.dim)

    def alike_without(self, held_out: Bool[np.ndarray, " cluster"]) -> ChoiceDemand:
        """Everyone alike, as the clusters that were not held out have them."""
        weight = (~held_out).astype(float)[clusters_of(self.markets)]
        logit = plain_logit(self.markets, self.offers, self.scales, self.fitted.level_count, weight)
        return self.alike_at(logit._replace(levels=self._levels_without(logit, weight > 0)))

    def _levels_without(
        self, logit: PlainLogit, trained: Bool[np.ndarray, " market"]
    ) -> Float[np.ndarray, " level"]:
        """Effects of labels, those of all markets where only markets that were held out have the
        label: of these nothing else is known, here as where people differ."""
        levels = np.asarray(self.offers.levels)[trained]
        seen = np.isin(np.arange(len(logit.levels)), levels)
        return np.where(seen, logit.levels, self.logit.levels)

    def divided(self, demand: ChoiceDemand, alike: bool) -> tuple[Any, Any]:
        """The arrays of `demand` that are estimated, and those that stay."""
        return eqx.partition(demand, estimated(demand, alike, self.stage is not None))

    def information(self, demand: ChoiceDemand, parameters: int) -> Information:
        shares = np.asarray(demand.shares(self.offers).products)
        return information(self.markets, shares, parameters)

    def target(
        self, fixed: Any, known: Information, weight: Float[np.ndarray, " cluster"] | None = None
    ) -> Target:
        """The log-likelihood of clusters, each weighed by `weight`, on the scale of `known`."""
        ones = np.ones(self.evidence.clusters)
        scaling = LikelihoodScale(
            jnp.asarray(known.dispersion),
            jnp.asarray(known.amount),
            jnp.asarray(self.settings.prior_reach),
        )
        return Target(
            fixed, self.evidence, jnp.asarray(ones if weight is None else weight), scaling
        )


def with_quality(
    settings: ChoiceSettings, markets: Markets
) -> tuple[FittedOffers, FirstStage | None]:
    """The offers of a fit, with what a first stage leaves of prices where there is one."""
    controlled = settings.quality == CONTROL or (
        settings.quality != UNSEEN and bool(markets.columns.instruments)
    )
    if not controlled:
        return FittedOffers.plain(markets), None
    stage = first_stage(FittedOffers.plain(markets))
    return FittedOffers(markets, stage.residual), stage
