"""Counts as a data set: split by a hash of the unit, whole or absent, the same on every engine."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dgd.parts.writing
from dgd import Clock, CountsManifest, InputError, OutputError, count_events, hash_bucket
from dgd import partition_counts as partition
from dgd.parts.manifest import MANIFEST, read_manifest
from dgd.parts.reading import read_data_set
from support.killing import at_neighbor, killed, neighbors
from support.visit_log import BEHAVIORS, CLOCK, options, visits

PARTS = 7
KEYS = ["date", "unit", "cohort", *BEHAVIORS]


def written(log: Any, folder: Path, **more: Any) -> CountsManifest:
    found = count_events(log, CLOCK, to=folder, partitions=PARTS, **options(**more))
    assert isinstance(found, CountsManifest)
    return found


def parts_in(folder: Path) -> dict[str, pl.DataFrame]:
    """The rows of every part that has any."""
    return {
        part.name: pl.read_parquet(part / "*.parquet", hive_partitioning=False)
        for part in sorted(folder.glob("part=*"))
    }


def test_parts_hold_the_counts_of_their_units(tmp_path: Path) -> None:
    log = visits()
    manifest = written(log, tmp_path / "counts")
    table = count_events(log, CLOCK, **options())
    parts = parts_in(tmp_path / "counts")
    together = pl.concat(parts.values()).with_columns(pl.col(BEHAVIORS).cast(pl.Int64))
    assert_frame_equal(together.sort(KEYS), table)
    for name, rows in parts.items():
        assert {f"part={hash_bucket(unit, PARTS):05d}" for unit in rows["unit"]} == {name}
        assert_frame_equal(rows, rows.sort(KEYS))
    assert len(parts) > 3
    totals = [
        (rows.height, rows["count"].sum(), rows["unit"].n_unique()) for rows in parts.values()
    ]
    assert [part for part in manifest.parts if part.rows] == totals
    assert (manifest.rows, manifest.arrivals) == (table.height, table["count"].sum())
    assert manifest.units == table["unit"].n_unique()
    assert_frame_equal(
        read_data_set(tmp_path / "counts").sort(KEYS), together.sort(KEYS), check_dtypes=False
    )


def test_the_manifest_has_the_axes(tmp_path: Path) -> None:
    manifest = written(visits(), tmp_path / "counts", context=["place"], count="visits")
    assert read_manifest(tmp_path / "counts") == manifest
    facts = json.loads((tmp_path / "counts" / MANIFEST).read_text())
    assert facts["format"] == 1
    assert facts["columns"] == {
        "date": "date", "unit": "unit", "cohort": "cohort", "count": "visits",
    }  # fmt: skip
    assert (facts["behaviors"], facts["context"]) == (BEHAVIORS, ["place"])
    assert (facts["period"], facts["first"], facts["last"]) == ("day", "2022-03-20", "2022-03-31")
    assert facts["cohorts"] == ["a", "b", "c", "unknown"]
    assert facts["partitions"] == len(facts["parts"]) == PARTS
    assert facts["units"] == 23


@pytest.mark.parametrize("engine", ["pandas", "pyarrow", "polars lazy", "duckdb"])
def test_every_engine_writes_the_same_parts(engine: str, tmp_path: Path) -> None:
    log = visits()
    reference = written(log, tmp_path / "reference")
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
        with duckdb.connect() as connection:
            found = written(connection.from_arrow(log.to_arrow()), tmp_path / "counts")
    else:
        hand_over: dict[str, Callable[[], Any]] = {
            "pandas": log.to_pandas, "pyarrow": log.to_arrow, "polars lazy": log.lazy,
        }  # fmt: skip
        found = written(hand_over[engine](), tmp_path / "counts")
    assert found == reference
    assert_same_parts(tmp_path / "counts", tmp_path / "reference")


def assert_same_parts(one: Path, other: Path) -> None:
    ours, theirs = parts_in(one), parts_in(other)
    assert list(ours) == list(theirs)
    for name, rows in ours.items():
        assert_frame_equal(rows, theirs[name])


@pytest.mark.parametrize("period", ["hour", "week"])
def test_hours_and_weeks_are_dated_as_in_a_table(period: str, tmp_path: Path) -> None:
    log = visits()
    manifest = written(log, tmp_path / "counts", period=period)
    table = count_events(log, CLOCK, **options(period=period))
    assert read_data_set(tmp_path / "counts")["date"].unique().sort().to_list() == (
        table["date"].unique().sort().to_list()
    )
    assert manifest.period == period
    assert manifest.first == {"hour": "2022-03-20T01", "week": "2022-03-14"}[period]


def test_counts_that_are_there_already_become_the_same_data_set(tmp_path: Path) -> None:
    log = visits()
    counted = written(log, tmp_path / "counted")
    table = count_events(log, CLOCK, **options()).sample(fraction=1, shuffle=True, seed=1)
    again = partition(table, tmp_path / "again", behaviors=BEHAVIORS, partitions=PARTS)
    assert again == counted
    assert_same_parts(tmp_path / "again", tmp_path / "counted")


def test_own_names_of_columns_are_kept(tmp_path: Path) -> None:
    table = count_events(visits(), CLOCK, **options())
    names = {"date": "day", "unit": "shop", "cohort": "group", "count": "visits"}
    manifest = partition(table.rename(names), tmp_path / "counts", behaviors=BEHAVIORS, **names)
    assert manifest.columns == names
    assert manifest.partitions == 64
    assert read_data_set(tmp_path / "counts").columns == [
        "day",
        "shop",
        "group",
        *BEHAVIORS,
        "visits",
    ]


@pytest.mark.parametrize("partitions", [0, -1, 10_001, True])
def test_partitions_are_a_whole_number_in_reason(partitions: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^partitions is .*from 1 to 10,000"):
        count_events(visits(), CLOCK, to=tmp_path / "counts", partitions=partitions, **options())
    assert not any(tmp_path.iterdir())


def test_partitions_without_a_folder_are_refused() -> None:
    with pytest.raises(InputError, match=r"name its folder with to="):
        count_events(visits(), CLOCK, partitions=4, **options())


def test_addresses_are_no_folders() -> None:
    with pytest.raises(InputError, match=r"an address; name a folder"):
        count_events(visits(), CLOCK, to="s3://bucket/counts", **options())


def test_names_of_the_format_are_refused(tmp_path: Path) -> None:
    log = visits().rename({"like": "Part"})
    with pytest.raises(InputError, match=r'column "part" has the name of the folders'):
        written(log, tmp_path / "counts", behaviors=["click", "Part"])
    with pytest.raises(InputError, match=r'behaviors names "effort", which is in use'):
        written(log.rename({"Part": "effort"}), tmp_path / "counts", behaviors=["effort"])


def test_context_that_no_panel_could_take_is_refused(tmp_path: Path) -> None:
    log = visits().with_columns(pl.lit(float("nan")).alias("place"))
    with pytest.raises(InputError, match=r"column place: nan is not a number to compute with"):
        written(log, tmp_path / "counts", context=["place"])
    assert not any(tmp_path.iterdir())


def test_days_whole_weeks_apart_are_refused_unless_both_ends_are_named(tmp_path: Path) -> None:
    weekly = pl.DataFrame({"day": [f"2022-03-{7 * k + 1:02d}" for k in range(5)] * 2, "click": 1})
    with pytest.raises(InputError, match=r'column day lie whole weeks apart; say period="week"'):
        count_events(weekly, Clock("day"), behaviors=["click"], to=tmp_path / "a")
    ends = {"start": "2022-03-01", "end": "2022-03-29"}
    count_events(weekly, Clock("day"), behaviors=["click"], to=tmp_path / "a", **ends)
    assert read_manifest(tmp_path / "a").last == "2022-03-29"


def test_a_day_far_from_all_others_is_refused_unless_both_ends_are_named(tmp_path: Path) -> None:
    days = ["1970-01-01", *(f"2022-03-{k:02d}" for k in range(1, 30))]
    log = pl.DataFrame({"day": days, "click": 1})
    with pytest.raises(InputError, match=r"column day: 1970-01-01 lies 19,052 days from the next"):
        count_events(log, Clock("day"), behaviors=["click"], to=tmp_path / "a")
    ends = {"start": "2022-03-01", "end": "2022-03-29"}
    told = count_events(log, Clock("day"), behaviors=["click"], to=tmp_path / "a", **ends)
    assert told.first == "2022-03-01"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds other files and no manifest\.json"):
        written(visits(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(InputError, match=r"is a file; name a folder"):
        written(visits(), tmp_path / "notes.txt")


def test_a_data_set_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    written(visits(), folder)
    (folder / "part=00001" / "more.parquet").write_bytes(b"left behind")
    fewer = written(visits(rows=100, units=3), folder)
    assert read_data_set(folder).height == fewer.rows
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]


@pytest.mark.parametrize("before", [False, True], ids=["nothing there", "a data set there"])
def test_a_write_that_fails_half_way_changes_nothing(
    before: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "counts"
    old = written(visits(rows=100), folder) if before else None
    write, seen = dgd.parts.writing._write, []

    def full_at_the_third(rows: pl.DataFrame, part: Path) -> None:
        seen.append(part)
        if len(seen) == 3:
            raise OSError(28, "No space left on device")
        write(rows, part)

    monkeypatch.setattr(dgd.parts.writing, "_write", full_at_the_third)
    with pytest.raises(OutputError, match=r"could not be written \(No space left on device\)"):
        written(visits(), folder)
    assert seen[0].parent != folder
    assert [path.name for path in tmp_path.iterdir()] == (["counts"] if before else [])
    if old is not None:
        assert read_manifest(folder) == old
        assert read_data_set(folder).height == old.rows


WRITING = """
import sys
from pathlib import Path
import polars as pl
from dgd import partition_counts
table, folder = pl.read_parquet(sys.argv[1]), Path(sys.argv[2])
print("ready", flush=True)
while True:
    partition_counts(table, folder, behaviors=["click", "like"], partitions=60)
"""


@pytest.mark.slow
def test_a_killed_write_leaves_a_whole_data_set_or_none(tmp_path: Path) -> None:
    table = count_events(visits(rows=20_000, units=500), CLOCK, **options())
    table.write_parquet(tmp_path / "table.parquet")
    place = tmp_path / "place"
    place.mkdir()
    for number in (1, 2, 4):
        assert killed(
            WRITING, tmp_path / "table.parquet", place / "counts", moment=at_neighbor(place, number)
        )
        if (place / "counts").exists():
            assert read_data_set(place / "counts").height == table.height
    assert (place / "counts").exists() or (place / ".counts.replaced").exists()
    partition(table, place / "counts", behaviors=BEHAVIORS)
    assert not neighbors(place)
    assert [path.name for path in place.iterdir()] == ["counts"]


def test_a_folder_without_a_manifest_is_no_data_set(tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    written(visits(), folder)
    (folder / MANIFEST).unlink()
    with pytest.raises(InputError, match=r"has no manifest\.json, so it is no data set"):
        read_data_set(folder)
    with pytest.raises(InputError, match=r"does not exist; name the folder of a data set"):
        read_data_set(tmp_path / "absent")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "one"), ("holds", "dreams"), ("behaviors", []), ("behaviors", ["a", "a"]),
        ("behaviors", ["click", "unit"]), ("period", "year"), ("first", "2023-01-01"),
        ("first", "soon"), ("cohorts", "abc"), ("parts", []), ("parts", [{"rows": -1}]),
        ("rows", 3), ("columns", {"date": "date"}),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_right_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    written(visits(), folder)
    facts = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**facts, name: value}))
    with pytest.raises(InputError, match=r"is not the manifest of a data set"):
        read_manifest(folder)


def test_a_newer_format_asks_for_a_newer_dgd(tmp_path: Path) -> None:
    written(visits(), tmp_path / "counts")
    file = tmp_path / "counts" / MANIFEST
    file.write_text(file.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(InputError, match=r"newer dgd \(format 2, this one reads 1\); upgrade dgd"):
        read_manifest(tmp_path / "counts")


def test_parts_that_changed_since_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "counts"
    written(visits(), folder)
    part = next(iter(sorted(folder.glob("part=*"))))
    shutil.copy(part / "counts.parquet", part / "copy.parquet")
    with pytest.raises(InputError, match=r"rows, .* where the manifest says"):
        read_data_set(folder)
    (part / "copy.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match=r"cannot be read"):
        read_data_set(folder)
    shutil.rmtree(part)
    with pytest.raises(InputError, match=r"holds 0 rows, 0 arrivals and 0 units, where"):
        read_data_set(folder)
