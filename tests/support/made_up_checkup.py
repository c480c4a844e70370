"""A checkup whose figures are made up, for what is shown of any."""

import polars as pl

from dgd.diagnostics import Checkup, NodeCheck
from dgd.diagnostics.checkup import BOUNDS, EVENTS, NODES, PATH, REACH, READOUTS
from dgd.diagnostics.determined import SCHEMA


def checkup(*warnings: tuple[int | None, str, str, float, str]) -> Checkup:
    """A state is beyond its bound, and so is an error that is not the largest."""
    nodes = pl.DataFrame(
        {"nodes": [61], "NLL change": [1e-9], "arrivals change": [0.0], "probability change": [0.1]}
    )
    tables = {
        NODES: nodes,
        BOUNDS: pl.DataFrame(
            {
                "quantity": ["probability"] * 2,
                "largest error": [1e-3, 2e-3],
                "its bound": [1e-4, 1e-1],
                "holds": [False, True],
            }
        ),
        PATH: pl.DataFrame({"day": [7], "error": [0.5], "bound": [1.0], "holds": [True]}),
        REACH: pl.DataFrame(
            {"state": ["memory"], "largest": [30.0], "bound": [1.0], "holds": [False]}
        ),
        READOUTS: pl.DataFrame({"nodes": [7], "NLL difference": [0.0]}),
        EVENTS: pl.DataFrame(
            {
                "events": ["one by one"],
                "objective difference": [0.0],
                "gradient difference": [0.0],
            }
        ),
    }
    care = pl.DataFrame(list(warnings), schema=SCHEMA, orient="row")
    return Checkup(NodeCheck(nodes, True, "7 nodes are enough."), tables, care)
