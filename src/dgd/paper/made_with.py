"""What every model of the tables was made with: one label stands for one model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from dgd.forecasting.protocol import Fitted, settings_of


@dataclass
class MadeWith:
    """Settings, and what validation chose for every seed, by label and window."""

    kept: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def keep(
        self,
        model: str,
        window: str,
        settings: Mapping[str, Any],
        training: list[dict[str, Any]] | None = None,
    ) -> None:
        """Remember one model; a label that already stands for another one is an error."""
        made = {"settings": dict(settings), "training": training or []}
        known = self.kept.setdefault((model, window), made)
        if known["settings"] != made["settings"]:
            raise ValueError(
                f'"{model}" on {window} stands for two models: {known["settings"]} and '
                f"{made['settings']}."
            )

    def keep_fit(self, model: str, window: str, fitted: Fitted) -> None:
        """Remember a fit: its settings and, where it trains, what each seed's run ended with."""
        training = [run.facts for run in getattr(fitted, "runs", ())]
        self.keep(model, window, settings_of(fitted), training)

    def of(self, table: pl.DataFrame) -> list[dict[str, Any]]:
        """What the models of a table's rows were made with, in the order of the rows."""
        labels = dict.fromkeys(table.select("model", "window").iter_rows())
        return [
            {"model": label[0], "window": label[1], **self.kept[label]}
            for label in labels
            if label in self.kept
        ]
