"""A public data set as a panel, with the dates to fit it by and how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from dgd.datasets.windows import Window
from dgd.panel.panel import Panel
from dgd.tables.labels import Label


@dataclass(frozen=True, eq=False)
class Dataset:
    """A panel from warm-up to test, with the dates to fit it by and how it was made.

    Example:
        Fit it by its own dates::

            dataset = dgd.datasets.online_retail()
            fit = dgd.DGD().fit(
                dataset.panel,
                warmup_end=dataset.window.warmup_end,
                train_end=dataset.window.train_end,
                validation_end=dataset.window.validation_end,
            )
    """

    panel: Panel
    window: Window
    report: pl.DataFrame
    """What each cleaning rule removed and kept, in the order the rules were applied."""
    thresholds: Mapping[str, float]
    """Warm-up medians above which a mark is set; empty where the log has its own marks."""
    summary_retention: float
    """The share of the history summaries that stays each day, as the paper sets it."""

    @property
    def sizes(self) -> dict[Label, float]:
        """Reference size of each cohort."""
        return dict(zip(self.panel.cohorts, self.panel.size[0, 0].tolist(), strict=True))

    @property
    def parts(self) -> pl.DataFrame:
        """Days and events of each part of the window."""
        rows = []
        for part, (first, last) in self.window.parts.items():
            begin, end = self.panel.index(first, part), self.panel.index(last, part) + 1
            events = int(self.panel.arrivals[begin:end].sum())
            rows.append((part, first, last, end - begin, events))
        return pl.DataFrame(rows, schema=["part", "first", "last", "days", "events"], orient="row")
