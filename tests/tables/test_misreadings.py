"""Nothing is misread in silence: what could mean two things is refused with the way out."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dgd
from dgd.panel import grids
from dgd.tables.files import read_table, write_table
from support.refusals import BEHAVIORS, by_date, changed, day, make, refused, rows


def on_disk(folder: Path, text: str) -> pl.DataFrame:
    file = folder / "table.csv"
    file.write_text(text)
    return read_table(file)


def as_text(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.all().cast(pl.String))


# Files


def test_a_csv_file_gives_the_panel_that_the_frame_gives(tmp_path: Path) -> None:
    write_table(rows(), tmp_path / "counts.csv")
    read, given = make(read_table(tmp_path / "counts.csv")), make()
    assert np.array_equal(read.patterns, given.patterns)
    assert (read.units, read.cohorts) == (given.units, given.cohorts)
    assert np.array_equal(read.dates, given.dates)


def test_american_dates_in_a_file_are_refused(tmp_path: Path) -> None:
    dates = [f"01/{number:02d}/2022" for number in range(3, 13)]
    text = "date,click,count\n" + "".join(f"{d},0,1\n" for d in dates)
    with refused("row 1", "column date", '"01/03/2022"', "write dates like 2022-04-21"):
        make(on_disk(tmp_path, text), unit=None, cohort=None, behaviors=["click"])


def test_labels_of_a_file_are_kept_as_they_are_written(tmp_path: Path) -> None:
    labels = ["007", "7", "01234", "1e5", "1.10", "9007199254740993", "true"]
    lines = [f"2022-04-0{1 + number % 7},{label},0,1" for number, label in enumerate(labels)]
    table = on_disk(tmp_path, "date,unit,click,count\n" + "\n".join(lines))
    panel = make(table, cohort=None, behaviors=["click"])
    assert set(panel.units) == set(labels)
    assert panel.arrivals.sum() == len(labels)


def test_a_header_given_twice_is_refused(tmp_path: Path) -> None:
    with refused("header", '"count" twice', "name each once"):
        on_disk(tmp_path, "date,count,count\n2022-04-01,1,2\n")


def test_a_folder_is_not_called_absent(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with refused("folder.csv", "is not a file", "check the path"):
        read_table(tmp_path / "folder.csv")


def test_a_name_that_looks_like_a_glob_is_a_file(tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        file = tmp_path / f"[red]*.{ending}"
        write_table(rows(), file)
        assert make(read_table(file)).arrivals.sum() == make().arrivals.sum()


def test_a_damaged_parquet_file_never_gives_other_numbers(tmp_path: Path) -> None:
    file = tmp_path / "counts.parquet"
    write_table(rows(), file)
    whole, clean = file.read_bytes(), read_table(file)
    rng = np.random.default_rng(1)
    refusals = 0
    for place in rng.integers(0, len(whole), 150):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(bytes(damaged))
        try:
            found = read_table(file)
        except dgd.InputError:
            refusals += 1
        else:
            assert found.equals(clean)
    assert refusals > 50


def test_a_point_before_three_zeros_is_asked_about(tmp_path: Path) -> None:
    with refused("row 1", "column count", '"1.000"', "thousands or a fraction"):
        make(on_disk(tmp_path, "date,click,count\n2022-04-01,0,1.000\n"), unit=None, cohort=None,
             behaviors=["click"])  # fmt: skip


# Dates


def test_a_weekly_table_read_by_days_is_refused() -> None:
    mondays = pl.Series("date", [date(2022, 1, 3) + timedelta(weeks=w) for w in range(9)])
    table = pl.DataFrame({"date": mondays, "click": 0, "count": 5})
    options = {"unit": None, "cohort": None, "behaviors": ["click"]}
    with refused("all 9 dates", "whole weeks apart", 'period="week"', "start= and end="):
        make(table, **options)
    assert make(table, period="week", **options).days == 9
    told = make(table, start=mondays[0], end=mondays[-1], **options)
    assert told.days == 57


def test_a_monthly_table_is_refused() -> None:
    firsts = [date(2022, month, 1) for month in range(1, 9)]
    table = pl.DataFrame({"date": firsts, "click": 0, "count": 5})
    with refused("less than 28 days apart", "by day or by week"):
        make(table, unit=None, cohort=None, behaviors=["click"])


def test_a_daily_table_read_by_hours_is_refused() -> None:
    with refused("one row a day at most", 'period="day"'):
        make(period="hour")


@pytest.mark.parametrize("year", [2202, 9999])
def test_a_year_far_from_the_others_is_refused_by_its_row(year: int) -> None:
    with refused("counts row 9", f"{year}-04-03", "correct it"):
        make(changed(9, "date", date(year, 4, 3)))


def test_a_year_of_two_digits_is_refused() -> None:
    table = as_text(rows()).with_columns(pl.col("date").str.slice(2))
    with refused("row 1", '"22-04-01"', "write dates like 2022-04-21"):
        make(table)
    with refused("row 9", "0022-04-03", "four digits"):
        make(rows().with_columns(
            pl.when(pl.col("date") == day(2)).then(date(22, 4, 3)).otherwise("date").alias("date")
        ))  # fmt: skip


@pytest.mark.parametrize("moment", ["2022-04", "2022", "April 2022", np.datetime64("2022-04")])
def test_only_whole_dates_begin_a_range(moment: object) -> None:
    with refused("start", "not a date", "2022-04-21"):
        make(start=moment)


def test_a_date_in_a_time_zone_is_refused() -> None:
    moment = datetime(2022, 4, 1, 0, tzinfo=UTC)
    with refused("start", "time zone", "2022-04-01"):
        make(start=moment)


# Grids and numbers


def test_a_grid_beyond_memory_is_refused_with_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grids, "memory", lambda: 200 * 10**6)
    labels = [f"u{number}" for number in range(3000)]
    table = pl.DataFrame(
        {"date": date(2022, 4, 1), "unit": labels, "cohort": labels, "click": 0, "count": 1}
    )
    with refused("3,000 units", "3,000 cohorts", "576 MB", "this machine has 200 MB", "merge"):
        make(table, behaviors=["click"])


def test_counts_that_add_up_beyond_what_is_exact_are_refused() -> None:
    with refused("column count adds up to", "count in thousands"):
        make(rows().with_columns(pl.lit(2**52).alias("count")))


@pytest.mark.parametrize("size", [1e300, 5e-324, 1e16])
def test_sizes_beyond_reason_are_refused(size: float) -> None:
    with refused("sizes row 1", "column size"):
        make(sizes={"new": size, "old": 5.0})


@pytest.mark.parametrize("effort", [1e300, 5e-324])
def test_efforts_beyond_reason_are_refused(effort: float) -> None:
    with refused("effort row 2", "column effort"):
        make(effort=by_date("effort", [1.0, effort, *[1.0] * 6]))


# Labels


def test_sizes_are_matched_by_their_labels_as_written() -> None:
    table = rows().with_columns(pl.col("cohort").replace_strict({"new": "007", "old": "7"}))
    panel = make(table, sizes=pl.DataFrame({"cohort": ["7", "007"], "size": [70.0, 7.0]}))
    assert panel.cohorts == ("007", "7")
    assert panel.size[0, 0].tolist() == [7.0, 70.0]
    with refused("sizes row 2", "column cohort", "not in the counts"):
        make(table, sizes=pl.DataFrame({"cohort": ["7", "0007"], "size": [70.0, 7.0]}))


def test_long_numbers_are_told_apart_in_sizes() -> None:
    ids = [2**53, 2**53 + 1]
    table = rows().with_columns(
        pl.col("cohort").replace_strict({"new": ids[0], "old": ids[1]}, return_dtype=pl.Int64)
    )
    panel = make(table, sizes={ids[1]: 2.0, ids[0]: 1.0})
    assert panel.size[0, 0].tolist() == [1.0, 2.0]


def test_columns_of_sizes_are_never_taken_for_dgds_own() -> None:
    sizes = pl.DataFrame(
        {
            "cohort": ["new", "old"],
            "size": [1.0, 2.0],
            "cohort index": [1, 0],
            "cohort place": [1, 0],
        }
    )
    assert make(sizes=sizes).size[0, 0].tolist() == [1.0, 2.0]
    with refused('"__dgd_row__"', "rename"):
        make(rows().with_columns(pl.lit(1).alias("__dgd_row__")))


def test_long_ids_that_were_rounded_are_refused() -> None:
    table = rows().with_columns(pl.lit(float(2**60)).alias("unit"))
    with refused("column unit", "merges long ids", "as text"):
        make(table)


def test_one_column_cannot_be_unit_and_cohort() -> None:
    with refused('"unit" twice'):
        make(cohort="unit")


def test_units_named_twice_are_refused() -> None:
    with refused('"north" twice', "name each once"):
        make(units=["north", "south", "north"])


@pytest.mark.parametrize("odd", [[1, 2], {"a": 1}, 1 + 2j, 10**30, b"bytes", "\ud800"], ids=repr)
def test_odd_values_in_a_pandas_column_are_refused_in_a_sentence(odd: object) -> None:
    table = rows().to_pandas()
    table["unit"] = pd.Series([odd] * len(table), dtype=object)
    with pytest.raises(dgd.InputError) as refusal:
        make(table)
    assert "unit" in str(refusal.value)
    assert "\n" not in str(refusal.value)


# Fewer behaviours than the table has


def test_fewer_behaviors_than_the_table_has_can_be_summed() -> None:
    other = rows().with_columns(
        (1 - pl.col("like")).alias("like"), pl.lit(2, pl.Int64).alias("count")
    )
    table = pl.concat([rows(), other])
    with refused("rows 1 and 33", "told apart by like, count", 'duplicates="sum"'):
        make(table, behaviors=["click"])
    summed = make(table, behaviors=["click"], duplicates="sum")
    both = make(table)
    assert np.array_equal(summed.arrivals, both.arrivals)
    assert np.array_equal(summed.behavior_counts[..., 0], both.behavior_counts[..., 0])
    with refused('duplicates is "add"', "refuse or sum"):
        make(duplicates="add")


# Known inputs for a panel that was made without them


def test_effort_and_features_need_a_panel_that_has_them() -> None:
    panel = make()
    assert list(panel.behaviors) == BEHAVIORS
    with refused("effort was given", "made without it", "leave it out"):
        panel.with_future(effort=by_date("effort", [2.0], first=8))
    with refused("features were given", "made without them", "leave them out"):
        panel.with_future(features=by_date("price", [2.0], first=8))
