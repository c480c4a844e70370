"""Rows get the same key where they agree in every column, whatever the columns hold."""

from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from dgd.tables.row_keys import row_keys

COLUMNS = {
    "texts": ["a", None, "", "\N{PILE OF POO}"],
    "bytes": pl.Series([-128, 127, 0, 1], dtype=pl.Int8),
    "large": pl.Series([0, 2**64 - 1, 2**63, 5], dtype=pl.UInt64),
    "close": pl.Series([2**64 - 1, 2**64 - 2, 2**64 - 3, 2**64 - 4], dtype=pl.UInt64),
    "signed": [-(2**63), 2**63 - 1, 0, None],
    "floats": [0.5, -1.0, 1e300, None],
    "truth": [True, False, None, True],
    "days": [date(1, 1, 1), date(9999, 1, 1), date(2022, 1, 1), date(2022, 1, 2)],
    "moments": [datetime(2022, 1, 1, hour) for hour in range(4)],
}


@pytest.mark.parametrize("columns", [[name] for name in COLUMNS] + [list(COLUMNS)], ids=str)
def test_equal_keys_are_equal_rows(columns: list[str]) -> None:
    rng = np.random.default_rng(3)
    few = pl.DataFrame(COLUMNS)
    table = pl.DataFrame(
        [few[name].gather(rng.integers(0, 2 if len(columns) > 1 else 4, 400)) for name in columns]
    )
    groups = table.with_columns(pl.Series("key", row_keys(table, columns)))
    pairs = groups.unique().height
    assert pairs == groups["key"].n_unique() == table.unique().height < table.height


def test_a_table_without_rows_has_no_keys() -> None:
    assert row_keys(pl.DataFrame(schema=pl.DataFrame(COLUMNS).schema), list(COLUMNS)).shape == (0,)
