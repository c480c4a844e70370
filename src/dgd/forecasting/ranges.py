"""Ranges of a forecast: intervals of whatever is asked of its paths, and what they rest on."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.forecasting.asked import Asked
from dgd.forecasting.calibration import PastDraws, Promise, promises_table, shown_interval


@dataclass(frozen=True, eq=False)
class Ranges:
    """Drawn paths, the levels of their intervals, and the past that intervals rest on."""

    drawn: Int[np.ndarray, "path date unit cohort counted"]
    """Arrivals and behaviours of every cell."""
    levels: tuple[float, ...]
    """In per cent."""
    past: PastDraws | None
    """Needed where there are levels."""

    def intervals(
        self, asked: Asked
    ) -> Iterator[
        tuple[float, Float[np.ndarray, "date unit cohort series"], Float[np.ndarray, "..."]]
    ]:
        """Each level with the lower and upper ends of all its intervals; not numbers where the
        level is refused."""
        if not self.levels:
            return
        paths, promises = asked.answered(self.drawn), self._promises(asked)
        for level in self.levels:
            low, high = np.full((2, *paths.shape[1:]), np.nan)
            for group in asked.groups():
                series = list(group)
                for step, promise in enumerate(promises[group, level]):
                    if promise.path_level is not None:
                        ends = shown_interval(paths[:, step][..., series], promise.path_level)
                        low[step][..., series], high[step][..., series] = ends
            yield level, low, high

    def receipts(self, asked: Asked) -> pl.DataFrame:
        """One row per kind of series, measured step and level."""
        return promises_table(
            [
                (", ".join(asked.series[number] for number in group), promise)
                for (group, _), promises in self._promises(asked).items()
                for promise in promises
            ]
        )

    def sentences(self, asked: Asked, period: str) -> tuple[str, ...]:
        """What intervals of each level are worth, said once for every kind of series."""
        found = []
        for row in self.receipts(asked).iter_rows(named=True):
            days = f"{row['horizon']} {period}{'s' if row['horizon'] > 1 else ''}"
            ahead = f"{days} ahead" if asked.by_date else f"over {days}"
            what = f"{row['level']:g}% ranges of {row['series']}, {ahead}"
            if row["note"]:
                found.append(f"{what}: {row['note']}.")
            elif row["coverage"] is not None:
                found.append(
                    f"{what}: held {row['coverage']:.0f}% of the time at {row['origins']} "
                    "past origins."
                )
        return tuple(found)

    def _promises(self, asked: Asked) -> dict[tuple[tuple[int, ...], float], list[Promise]]:
        """Of every kind of series and level: what its interval of each step rests on."""
        if self.past is None:
            return {}
        past, days = self.past, self.drawn.shape[1]
        horizons = range(1, days + 1) if asked.by_date else [days]
        once = cache(past.promise)
        return {
            (group, level): [once(asked, group, level, past.near(asked, h)) for h in horizons]
            for group in asked.groups()
            for level in self.levels
        }
