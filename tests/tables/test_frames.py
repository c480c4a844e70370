"""Frames of any kind in, frames of the same kind out."""

from datetime import date

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dgd
from dgd.tables.frames import from_polars, to_polars
from support.refusals import refused

TABLE = pl.DataFrame(
    {
        "date": [date(2022, 1, 1), date(2022, 1, 2)],
        "unit": ["a", "b"],
        "count": [3, 4],
        "effort": [1.0, 0.5],
    }
)
KINDS = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_goes_out_as_the_kind_asked_for(kind: str) -> None:
    assert isinstance(from_polars(TABLE, kind), KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_survives_the_round_trip(kind: str) -> None:
    back, found = to_polars(from_polars(TABLE, kind), "counts")
    assert found == kind
    assert back.columns == TABLE.columns
    assert back.with_columns(pl.col("date").cast(pl.Date)).rows() == TABLE.rows()


def test_whole_numbers_with_gaps_stay_whole_numbers() -> None:
    table = pl.DataFrame(
        {
            "signed": [1, None, -3],
            "id": pl.Series([2**63, None, 1], dtype=pl.UInt64),
            "full": [1, 2, 3],
            "missing": pl.Series([None] * 3, dtype=pl.Int32),
        }
    )
    found = from_polars(table, "pandas")
    assert found.dtypes.astype(str).to_list() == ["Int64", "UInt64", "int64", "Int64"]
    assert to_polars(found, "counts")[0].rows() == table.rows()


def test_a_lazy_frame_is_collected() -> None:
    back, kind = to_polars(TABLE.lazy().filter(pl.col("count") > 3), "counts")
    assert kind == "polars"
    assert back["unit"].to_list() == ["b"]


def test_a_duckdb_relation_comes_back_as_pyarrow() -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    relation = duckdb.sql("select 'a' as unit, 3 as count")
    back, kind = to_polars(relation, "counts")
    assert kind == "pyarrow"
    assert back.rows() == [("a", 3)]


def test_what_is_no_table_is_refused_by_name() -> None:
    with pytest.raises(dgd.InputError, match="effort: a list is not a table; hand over a pandas"):
        to_polars([1, 2, 3], "effort")


def test_an_unknown_kind_is_refused_with_the_choices() -> None:
    with pytest.raises(dgd.InputError, match='"excel" is not known; choose one of polars, pandas'):
        from_polars(TABLE, "excel")


def test_a_pandas_column_of_two_kinds_is_named() -> None:
    table = pd.DataFrame({"unit": ["a", "b", 3], "count": [1, 2, 3]})
    with pytest.raises(
        dgd.InputError, match="counts row 3, column unit: 3 is int, but row 1 holds"
    ):
        to_polars(table, "counts")


def test_a_frame_that_needs_pyarrow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> None:
        raise ModuleNotFoundError("pyarrow is required")

    monkeypatch.setattr(nw.DataFrame, "to_polars", absent)
    with refused("counts is a pandas frame", "install pyarrow"):
        to_polars(pd.DataFrame({"a": ["x"]}), "counts")
