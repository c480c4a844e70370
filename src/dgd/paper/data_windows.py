"""Table data-windows: days, events and behaviours of every window."""

import polars as pl

from dgd.paper.models import Scored
from dgd.paper.rows import Row, table_of

PAPER = {
    "Standard": ((9, 7, 10), (4655, 1251, 1881), 7),
    "Random": ((4, 3, 7), (2256, 2033, 9101), 7),
    "Retail 2010": ((59, 14, 17), (2237, 682, 960), 3),
    "Retail 2011": ((59, 14, 17), (2159, 565, 869), 3),
}
PARTS = ("train", "validation", "test")


def data_windows(scored: Scored) -> pl.DataFrame:
    rows = []
    for name, dataset in scored.windows.all.items():
        counted = {row["part"]: row for row in dataset.parts.iter_rows(named=True)}
        days, events, behaviors = PAPER.get(name, ((None,) * 3, (None,) * 3, None))
        for index, part in enumerate(PARTS):
            found = counted[part]
            rows.append(Row("", name, f"{part} days", float(found["days"]), None, days[index]))
            counts = (float(found["events"]), None, events[index])
            rows.append(Row("", name, f"{part} events", *counts))
        marks = float(len(dataset.panel.behaviors))
        rows.append(Row("", name, "behaviors", marks, None, behaviors))
    return table_of(rows)
