"""One contest: every contestant on one window, scored from the same origins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from dgd.arena import totals_alone
from dgd.arena.contestants import DEFAULT, SIMPLE, TAKEN_AWAY, TRAINED
from dgd.arena.metrics import METRICS
from dgd.datasets import Dataset
from dgd.estimator import DGD
from dgd.forecasting.protocol import Fitted
from dgd.learning.progress import silent
from dgd.panel.split import Split
from dgd.paper.windows import Tell
from dgd.scoring.backtesting import backtest

SEEDS = (1, 2, 3)
HORIZONS = (1, 3, 7)
ROW: dict[str, pl.DataType | type[pl.DataType]] = {
    "set": pl.String,
    "model": pl.String,
    "horizon": pl.Int64,
    "metric": pl.String,
    "mean": pl.Float64,
    "sd": pl.Float64,
}
"""One figure: mean and deviation over seeds; no deviation where nothing was left to chance."""


@dataclass(frozen=True)
class Contest:
    """A window and how it is played; tests play shorter ones."""

    name: str
    dataset: Dataset
    tell: Tell
    default: DGD = DGD()  # noqa: RUF009  settings cannot be changed
    seeds: Sequence[int] = SEEDS

    @property
    def ends(self) -> dict[str, Any]:
        """The last day of each range, as fits and backtests take them."""
        window = self.dataset.window
        return {
            "warmup_end": window.warmup_end,
            "train_end": window.train_end,
            "validation_end": window.validation_end,
        }

    @property
    def split(self) -> Split:
        return Split.of(self.dataset.panel, **self.ends)

    @property
    def horizons(self) -> tuple[int, ...]:
        """Those that the test days are long enough for."""
        test = self.dataset.panel.days - self.split.validation_stop
        return tuple(horizon for horizon in HORIZONS if horizon <= test)

    def rows(self) -> pl.DataFrame:
        """Every contestant's figures."""
        scored = [self._scored(name, fitted) for name, fitted in self._fitted()]
        return pl.concat([*scored, self._of_totals()])

    def _fitted(self) -> Iterator[tuple[str, Fitted]]:
        """Each contestant as its turn comes."""
        self.tell(f"fitting {DEFAULT} on {self.name}")
        default = self.default.fit(
            self.dataset.panel, **self.ends, seeds=self.seeds, progress=False
        )
        yield DEFAULT, default
        for name, changed in TAKEN_AWAY.items():
            self.tell(f"fitting {name} on {self.name}")
            model = DGD(**{**self.default.as_dict(), **changed})
            yield name, model.fit(self.dataset.panel, **self.ends, seeds=self.seeds, progress=False)
        for name, make in {**TRAINED, **SIMPLE}.items():
            self.tell(f"fitting {name} on {self.name}")
            yield (
                name,
                make().fit(self.dataset.panel, **self.ends, seeds=self.seeds, progress=silent),
            )

    def _scored(self, name: str, fitted: Fitted) -> pl.DataFrame:
        panel = self.dataset.panel
        result = backtest(panel, {name: fitted}, horizons=self.horizons, **self.ends, paths=0)
        table = result.to_frame("polars").filter(pl.col("metric").is_in(list(METRICS)))
        return table.with_columns(pl.lit(self.name).alias("set")).select(list(ROW)).cast(ROW)

    def _of_totals(self) -> pl.DataFrame:
        """Contestants that forecast totals and nothing else have the scores of totals alone."""
        rows: list[tuple[object, ...]] = []
        if totals_alone.installed():
            self.tell(f"fitting {', '.join(totals_alone.NAMES)} on {self.name}")
            found = totals_alone.scores(self.dataset.panel, self.split, self.horizons)
            rows = [(self.name, *score, None) for score in found]
        return pl.DataFrame(rows, schema=ROW, orient="row")
