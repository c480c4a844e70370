"""What every forecaster that trains does first: split the days, and fix its features."""

from typing import Protocol, runtime_checkable

from dgd.learning.starts import reference_rates
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.tables.periods import Moment


@runtime_checkable
class FeatureSettings(Protocol):
    """The settings that features depend on."""

    @property
    def calendar(self) -> str: ...
    @property
    def summary_retention(self) -> float: ...


def split_and_features(
    panel: Panel,
    settings: FeatureSettings,
    train_end: Moment,
    validation_end: Moment,
    warmup_end: Moment | None,
) -> tuple[Split, FeatureMaker]:
    """The days of each range, and how features are made, fixed on the training days."""
    split = Split.of(panel, train_end, validation_end, warmup_end)
    rates = reference_rates(panel, split.warmup)
    maker = FeatureMaker.fitted(panel, split, rates, settings.calendar, settings.summary_retention)
    return split, maker
