"""Every table by the name of its file in the paper."""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from dgd.errors import InputError
from dgd.paper.ablation_dynamics import ablation_dynamics
from dgd.paper.ablation_representation import ablation_representation
from dgd.paper.behavior_nll import behavior_nll
from dgd.paper.behavior_response import behavior_response
from dgd.paper.choice_recovery import choice_recovery
from dgd.paper.data_windows import data_windows
from dgd.paper.dynamics_recovery import dynamics_recovery
from dgd.paper.history_selection import history_selection
from dgd.paper.models import Scored
from dgd.paper.numerical import numerical
from dgd.paper.retail_behavior_counts import retail_behavior_counts
from dgd.paper.windows import Tell, Windows

TABLES: dict[str, Callable[[Scored], pl.DataFrame]] = {
    "data-windows": data_windows,
    "history-selection": history_selection,
    "retail-behavior-counts": retail_behavior_counts,
    "behavior-nll": behavior_nll,
    "behavior-response": behavior_response,
    "ablation-representation": ablation_representation,
    "ablation-dynamics": ablation_dynamics,
    "dynamics-recovery": dynamics_recovery,
    "choice-recovery": choice_recovery,
    "numerical": numerical,
}
WITHOUT_DATA = {"dynamics-recovery", "choice-recovery"}
"""Tables that draw their own data."""


def reproduce(
    names: Sequence[str], folder: Path | None, progress: Tell
) -> tuple[dict[str, pl.DataFrame], Scored]:
    """Compute the tables `names` on the data of `folder`; models are fitted once for all."""
    for name in names:
        if name not in TABLES:
            raise InputError(
                f'table "{name}" is not known; choose one of {", ".join(TABLES)} or all.'
            )
    scored = Scored(Windows(folder, progress), progress)
    if not set(names) <= WITHOUT_DATA and not scored.windows.all:
        raise InputError(
            "no data set was found; get one with `dgd data fetch online-retail`, or name the "
            "folder that holds a copy with --data or DGD_DATA."
        )
    return {name: TABLES[name](scored) for name in names}, scored
