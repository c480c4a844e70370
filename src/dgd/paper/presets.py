"""The settings that the tables fit DGD with, and the words by which rows name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dgd.datasets import Dataset
from dgd.estimator import DGD

RETAIL_EPOCHS, KUAIRAND_EPOCHS = 120, 300
LATE = "KuaiRand late"


@dataclass(frozen=True)
class Preset:
    """Settings of DGD; variants change some of them and carry the same words in their name."""

    words: str
    settings: Mapping[str, Any]

    def model(self, **changed: Any) -> DGD:
        return DGD(**{**self.settings, **changed})

    def named(self, variant: str) -> str:
        """The label of a row."""
        return f"{variant}, {self.words}"


def paper_preset(window: str, dataset: Dataset, **changed: Any) -> Preset:
    """The paper's settings; `changed` ones are named in every row."""
    epochs = RETAIL_EPOCHS if window.startswith("Retail") else KUAIRAND_EPOCHS
    retention = dataset.summary_retention
    model = DGD.paper(**{"epochs": epochs, "summary_retention": retention, **changed})
    words = ["paper preset", *(f"{name} {value}" for name, value in changed.items())]
    return Preset(", ".join(words), model.as_dict())


def library_defaults(dataset: Dataset) -> Preset:
    """The library's settings for the model itself; what its forecasts follow is left out."""
    retention = dataset.summary_retention
    bare: dict[str, Any] = {"innovations": "none"}
    model = DGD(summary_retention=retention, summaries="history", **bare)
    return Preset("library defaults", model.as_dict())


def preset_that_trains(window: str, dataset: Dataset) -> Preset:
    """The paper's settings, with calendar inputs that the window supports.

    The late window trains on five days. Weekday effects learned from them are arbitrary on
    the weekdays that they do not hold, so there the calendar is left to what the days allow.
    """
    if window == LATE:
        return paper_preset(window, dataset, calendar="auto")
    return paper_preset(window, dataset)


def preset_that_forecasts(window: str, dataset: Dataset) -> Preset:
    """The paper's settings on its own windows, the library's on the late one.

    Even without weekdays the paper's settings forecast the late window worse than the library's
    do: the cohort "new" has no arrivals in the warm-up, by construction, and its rates start
    far from where they belong.
    """
    return library_defaults(dataset) if window == LATE else paper_preset(window, dataset)
