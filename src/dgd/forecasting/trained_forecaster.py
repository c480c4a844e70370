"""What every trained forecaster has in common: its panel, its split, its features, its file."""

from abc import abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.protocol import settings_of
from dgd.learning.runs import Run
from dgd.learning.trained import Trained
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.panel.stored import panel_from, panel_stored


@dataclass(frozen=True, eq=False, repr=False)
class TrainedForecaster(Trained):
    """A forecaster with one run per seed."""

    panel: Panel
    split: Split
    features: FeatureMaker
    runs: tuple[Run, ...]

    @property
    def data(self) -> Panel:
        return self.panel

    @abstractmethod
    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        """The forecast of every step after each origin."""

    def facts(self) -> dict[str, Any]:
        panel = self.panel
        return {
            "panel": repr(panel),
            "units": panel.units,
            "cohorts": panel.cohorts,
            "behaviors": panel.behaviors,
            "ranges": self.split.show(panel),
            "settings": settings_of(self),
        }

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = panel_stored(self.panel)
        own_facts, own_tensors = self.features.stored()
        about = {"panel": facts, "split": asdict(self.split), "features": own_facts}
        return about, {**tensors, **own_tensors}


def forecaster_data(facts: dict[str, Any], tensors: Tensors) -> tuple[Panel, Split, FeatureMaker]:
    """The panel, split and features that a file of a trained forecaster holds."""
    panel = panel_from(declared.part(facts, "panel"), tensors)
    maker = FeatureMaker.restored(declared.part(facts, "features"), tensors, panel)
    return panel, Split.restored(declared.part(facts, "split"), panel), maker
