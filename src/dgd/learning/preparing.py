"""What every forecaster that trains does first: split the days, fix sizes and features."""

from typing import Protocol, runtime_checkable

from dgd.learning.large_features import held_at_once, scaled_in_blocks
from dgd.learning.sizing import fitting_sizes
from dgd.learning.starts import reference_rates
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.processes.group import ALONE, Group
from dgd.tables.periods import Moment


@runtime_checkable
class FeatureSettings(Protocol):
    """The settings that features depend on."""

    @property
    def calendar(self) -> str: ...
    @property
    def summary_retention(self) -> float: ...
    @property
    def summaries(self) -> str: ...


def prepared(
    panel: Panel,
    settings: FeatureSettings,
    train_end: Moment,
    validation_end: Moment,
    warmup_end: Moment | None,
    group: Group = ALONE,
    *,
    alike: bool = False,
) -> tuple[Panel, Split, FeatureMaker]:
    """The panel with sizes that fit, the days of each range, and how features are made; its units
    may be spread over the processes of a `group`."""
    split = Split.of(panel, train_end, validation_end, warmup_end)
    panel = fitting_sizes(panel, split, alike=alike)
    rates = reference_rates(panel, split.warmup)
    made = (rates, settings.calendar, settings.summary_retention, settings.summaries)
    if held_at_once(panel, group):
        return panel, split, FeatureMaker.fitted(panel, split, *made)
    unscaled = FeatureMaker.unscaled(panel, split, *made)
    return panel, split, scaled_in_blocks(unscaled, panel, split, group)
