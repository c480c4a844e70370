"""Everything dgd can tell about the numbers of a fit, in one call."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from dgd.diagnostics.bounds import quadrature_bounds
from dgd.diagnostics.crowd_views import people
from dgd.diagnostics.determined import identifiability
from dgd.diagnostics.events_alone import EACH
from dgd.diagnostics.nodes import (
    LARGEST_ARRIVAL_CHANGE,
    LARGEST_NLL_CHANGE,
    NodeCheck,
    check_nodes,
)
from dgd.diagnostics.propagation import HORIZON, error_propagation, state_limits
from dgd.diagnostics.supervision import counts_against_events
from dgd.diagnostics.tilting import tilting_table
from dgd.fit import Fit
from dgd.tables.html import html_summary

NODES, BOUNDS, PATH, REACH, READOUTS, EVENTS, PEOPLE = (
    "More nodes, same parameters",
    "Error bounds of quadrature",
    "Error along expected feedback",
    "Reach of the states",
    "Weighted and separated readout",
    "Counts against events",
    "People there and people seen",
)
WORST = "Worst of all seeds"


@dataclass(frozen=True, repr=False)
class Checkup:
    """What was checked, as tables under the titles a report gives them."""

    nodes: NodeCheck
    tables: dict[str, pl.DataFrame]
    warnings: pl.DataFrame

    @property
    def bounds_hold(self) -> bool:
        """Whether no error anywhere exceeds its bound."""
        return all(_all_hold(table) for table in self.tables.values() if "holds" in table.columns)

    @property
    def verdict(self) -> str:
        """What follows, in two sentences."""
        within = (
            "All errors are within their bounds."
            if self.bounds_hold
            else "Some errors exceed their bounds; the tables say which."
        )
        return f"{self.nodes.verdict} {within}"

    def payload(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "enough_nodes": self.nodes.enough,
            "verdict": self.nodes.verdict,
            "bounds_hold": self.bounds_hold,
            "summary": self.summary().to_dicts(),
            "tables": {title: table.to_dicts() for title, table in self.tables.items()},
            "warnings": self.warnings.to_dicts(),
        }

    def __repr__(self) -> str:
        return f"Checkup({self.verdict})"

    def _repr_html_(self) -> str:
        care = {"Read with care": self.warnings} if self.warnings.height else {}
        return html_summary("Checkup", [self.verdict], {WORST: self.summary(), **care})

    def summary(self) -> pl.DataFrame:
        """One row per check: the worst figure of all seeds, what it is held against, and whether
        it holds, on every day and of every seed."""
        rows: list[tuple[str, float, float | None, bool | None]] = []
        finest = self.tables[NODES].filter(pl.col("nodes") == pl.col("nodes").max())
        for what, limit in (
            ("NLL", LARGEST_NLL_CHANGE),
            ("arrivals", LARGEST_ARRIVAL_CHANGE),
            ("probability", None),
        ):
            moved = float(np.abs(finest[f"{what} change"].to_numpy()).max())
            holds = None if limit is None else moved <= limit
            rows.append((f"{what} change with {finest['nodes'][0]} nodes", moved, limit, holds))
        for (quantity,), table in self.tables[BOUNDS].group_by("quantity", maintain_order=True):
            worst = table.sort("largest error").row(-1, named=True)
            found = worst["largest error"], worst["its bound"], _all_hold(table)
            rows.append((f"error of {quantity}", *found))
        path = self.tables[PATH]
        last = path.filter(pl.col("day") == pl.col("day").max()).sort("error").row(-1, named=True)
        found = last["error"], last["bound"], _all_hold(path)
        rows.append((f"error of the state after {last['day']} days", *found))
        for (state,), table in self.tables[REACH].group_by("state", maintain_order=True):
            worst = table.sort("largest").row(-1, named=True)
            found = worst["largest"], worst["bound"], _all_hold(table)
            rows.append((f"largest {state}", *found))
        for (nodes,), table in self.tables[READOUTS].group_by("nodes", maintain_order=True):
            apart = float(table["NLL difference"].to_numpy().max())
            rows.append((f"NLL between the two readouts at {nodes} nodes", apart, None, None))
        told = self.tables[EVENTS]["events"][0].removesuffix(EACH)
        for what in ("objective", "gradient"):
            apart = float(self.tables[EVENTS][f"{what} difference"].to_numpy().max())
            rows.append((f"{what} between {told}events and counts", apart, None, None))
        return pl.DataFrame(
            rows,
            schema={
                "check": pl.String,
                "found": pl.Float64,
                "bound": pl.Float64,
                "holds": pl.Boolean,
            },
            orient="row",
        )


def _all_hold(table: pl.DataFrame) -> bool:
    return bool(table["holds"].all())


def check(fit: Fit) -> Checkup:
    """Quadrature, bounds, the two readouts, counts against events, identifiability."""
    nodes = check_nodes(fit)
    horizon = min(HORIZON, fit.panel.days - fit.split.first - 1)
    return Checkup(
        nodes=nodes,
        tables={
            NODES: nodes.table,
            BOUNDS: quadrature_bounds(fit),
            PATH: error_propagation(fit, horizon),
            REACH: state_limits(fit, horizon),
            READOUTS: tilting_table(fit),
            EVENTS: counts_against_events(fit),
            PEOPLE: people(fit, "polars"),
        },
        warnings=identifiability(fit, "polars"),
    )
