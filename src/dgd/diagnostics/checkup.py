"""Everything dgd can tell about the numbers of a fit, in one call."""

from dataclasses import dataclass

import polars as pl

from dgd.diagnostics.bounds import quadrature_bounds
from dgd.diagnostics.identifiability import identifiability
from dgd.diagnostics.nodes import NodeCheck, check_nodes
from dgd.diagnostics.people import people
from dgd.diagnostics.propagation import HORIZON, error_propagation, state_limits
from dgd.diagnostics.supervision import counts_against_events
from dgd.diagnostics.tilting import tilting_table
from dgd.fit import Fit


@dataclass(frozen=True)
class Checkup:
    """What was checked, as tables under the titles a report gives them."""

    nodes: NodeCheck
    tables: dict[str, pl.DataFrame]
    warnings: pl.DataFrame

    @property
    def bounds_hold(self) -> bool:
        """Whether no error anywhere exceeds its bound."""
        return all(
            bool(table["holds"].all()) for table in self.tables.values() if "holds" in table.columns
        )


def check(fit: Fit) -> Checkup:
    """Quadrature, bounds, the two readouts, counts against events, identifiability."""
    nodes = check_nodes(fit)
    horizon = min(HORIZON, fit.panel.days - fit.split.first - 1)
    return Checkup(
        nodes=nodes,
        tables={
            "More nodes, same parameters": nodes.table,
            "Error bounds of quadrature": quadrature_bounds(fit),
            "Error along expected feedback": error_propagation(fit, horizon),
            "Reach of the states": state_limits(fit, horizon),
            "Weighted and separated readout": tilting_table(fit),
            "Counts against events": counts_against_events(fit),
            "People there and people seen": people(fit, "polars"),
        },
        warnings=identifiability(fit, "polars"),
    )
