"""The whole arena: one contest after the other, wherever the data are at hand."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dgd.arena import totals_alone
from dgd.arena.contest import Contest
from dgd.arena.windows import checked_names, windows_in
from dgd.errors import InputError
from dgd.paper.windows import Tell


def held(folder: Path | None, tell: Tell, names: Sequence[str] | None = None) -> pl.DataFrame:
    """Every contestant's figures on the windows `names`, all of them where none is named.

    Raises:
        InputError: A window is not known, or the folder can fill none.
    """
    wanted = checked_names(names)
    if not totals_alone.installed():
        tell(
            f"{', '.join(totals_alone.NAMES)} are left out: StatsForecast is not installed; "
            "the extra `outside` brings it."
        )
    found = [Contest(name, data, tell).rows() for name, data in windows_in(folder, wanted, tell)]
    if not found:
        raise InputError(
            "no data set was found; get one with `dgd data fetch online-retail`, or name the "
            "folder that holds a copy with --data or DGD_DATA."
        )
    return pl.concat(found)
