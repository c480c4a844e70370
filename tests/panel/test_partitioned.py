"""Panels of data sets: all of one, or shards that fit together."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dgd import InputError, Panel, count_events, hash_bucket, partition_counts
from support.visit_log import BEHAVIORS, CLOCK, options, visits

PARTS = 6


@pytest.fixture(scope="module")
def counts() -> pl.DataFrame:
    table = count_events(visits(), CLOCK, **options())
    assert isinstance(table, pl.DataFrame)
    return table


@pytest.fixture(scope="module")
def folder(counts: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sets") / "counts"
    partition_counts(counts, place, behaviors=BEHAVIORS, partitions=PARTS)
    return place


def shards_of(folder: Path, number: int, **known: Any) -> list[Panel]:
    return [Panel.from_parquet(folder, shard=(i, number), **known) for i in range(number)]


def whole(shards: list[Panel], field: str) -> np.ndarray:
    """What all shards have in a field with a unit axis, units in order."""
    units = [unit for shard in shards for unit in shard.units]
    together = np.concatenate([getattr(shard, field) for shard in shards], 1)
    return together[:, np.argsort(np.array(units), kind="stable")]


def test_a_data_set_is_the_panel_of_its_counts(counts: pl.DataFrame, folder: Path) -> None:
    found, wanted = Panel.from_parquet(folder), Panel.from_counts(counts, behaviors=BEHAVIORS)
    assert (found.units, found.cohorts, found.behaviors) == (
        wanted.units, wanted.cohorts, wanted.behaviors,
    )  # fmt: skip
    np.testing.assert_array_equal(found.known_dates, wanted.known_dates)
    np.testing.assert_array_equal(found.patterns, wanted.patterns)


@pytest.mark.parametrize("number", [1, 2, 5, PARTS])
def test_shards_together_are_the_whole(folder: Path, number: int) -> None:
    panel, shards = Panel.from_parquet(folder), shards_of(folder, number)
    for i, shard in enumerate(shards):
        assert list(shard.units) == sorted(shard.units)
        assert {hash_bucket(unit, PARTS) % number for unit in shard.units} == {i}
        assert (shard.cohorts, shard.behaviors) == (panel.cohorts, panel.behaviors)
        np.testing.assert_array_equal(shard.dates, panel.dates)
    assert sorted(unit for shard in shards for unit in shard.units) == list(panel.units)
    np.testing.assert_array_equal(whole(shards, "patterns"), panel.patterns)


def test_shards_take_their_units_from_tables_of_all(folder: Path) -> None:
    panel = Panel.from_parquet(folder)
    dates = panel.dates.tolist()
    keys = [(day, unit) for day in dates for unit in panel.units]
    effort = pl.DataFrame(keys, schema=["date", "unit"], orient="row").with_columns(
        pl.Series("effort", np.linspace(1, 2, len(keys)))
    )
    features = effort.rename({"effort": "price"})
    sizes = pl.DataFrame(
        [(u, c) for u in panel.units for c in panel.cohorts],
        schema=["unit", "cohort"],
        orient="row",
    ).with_row_index("size", offset=1)
    known = {"effort": effort, "features": features, "sizes": sizes}
    all_of_it, shards = Panel.from_parquet(folder, **known), shards_of(folder, 4, **known)
    for field in ("effort", "features", "size"):
        np.testing.assert_array_equal(whole(shards, field), getattr(all_of_it, field))


def test_a_unit_that_no_count_knows_is_refused_by_its_own_shard(folder: Path) -> None:
    panel = Panel.from_parquet(folder)
    sizes = pl.DataFrame(
        [(u, c, 1.0) for u in (*panel.units, "stranger") for c in panel.cohorts],
        schema=["unit", "cohort", "size"],
        orient="row",
    )
    home = hash_bucket("stranger", PARTS) % 2
    Panel.from_parquet(folder, shard=(1 - home, 2), sizes=sizes)
    with pytest.raises(InputError, match=r'"stranger".* is not in the counts'):
        Panel.from_parquet(folder, shard=(home, 2), sizes=sizes)


def test_axes_may_hold_more_than_the_counts_show(folder: Path) -> None:
    panel = Panel.from_parquet(folder)
    cohorts = ("z", *panel.cohorts)
    more: dict[str, Any] = {"cohorts": cohorts, "start": "2022-03-18", "end": "2022-04-02"}
    for shard in shards_of(folder, 2, **more):
        assert shard.cohorts == cohorts
        assert [str(shard.dates[0]), str(shard.dates[-1])] == ["2022-03-18", "2022-04-02"]
        assert not shard.patterns[:2].any()
    with pytest.raises(InputError, match=r"start 2022-03-21 is after the first counted date"):
        Panel.from_parquet(folder, start="2022-03-21")
    with pytest.raises(InputError, match=r"end 2022-03-21 is before the last counted date"):
        Panel.from_parquet(folder, end="2022-03-21")


def test_some_behaviors_in_another_order(counts: pl.DataFrame, folder: Path) -> None:
    turned = Panel.from_parquet(folder, behaviors=["like", "click"])
    again = Panel.from_counts(counts, behaviors=["like", "click"])
    np.testing.assert_array_equal(turned.patterns, again.patterns)
    one = Panel.from_parquet(folder, behaviors=["like"])
    added = Panel.from_counts(counts, behaviors=["like"], duplicates="sum")
    np.testing.assert_array_equal(one.patterns, added.patterns)
    with pytest.raises(InputError, match=r'behaviors names "buy", which data set .* it has click'):
        Panel.from_parquet(folder, behaviors=["buy"])


@pytest.mark.parametrize(
    ("shard", "said"),
    [
        ((2, 2), r"shard 2 of 2 does not exist"),
        ((-1, 2), r"shard -1 of 2 does not exist"),
        ((0, 0), r"shard 0 of 0 does not exist"),
        ((0, 7), r"has 6 partitions; read it with at most 6 shards"),
        ((True, 2), r"give two whole numbers like \(0, 4\)"),
    ],
)
def test_shards_that_cannot_be_are_refused(folder: Path, shard: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Panel.from_parquet(folder, shard=shard)


def test_a_shard_without_units_is_refused(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"date": ["2022-03-01"], "unit": ["a"], "cohort": ["c"], "x": 1, "count": 2}
    )
    partition_counts(table, tmp_path / "counts", behaviors=["x"], partitions=2)
    empty = 1 - hash_bucket("a", 2)
    with pytest.raises(InputError, match=r"holds no units; read it with fewer shards"):
        Panel.from_parquet(tmp_path / "counts", shard=(empty, 2))


def test_a_shard_may_have_few_dates_far_apart(tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2021, 1, 1), pl.date(2022, 12, 31), "1d", eager=True)
    busy, quiet = (next(f"u{i}" for i in range(99) if hash_bucket(f"u{i}", 2) == p) for p in (0, 1))
    table = pl.concat(
        [
            pl.DataFrame({"date": days, "unit": busy}),
            pl.DataFrame({"date": [days[0], days[-1]], "unit": quiet}),
        ]
    ).with_columns(pl.lit("c").alias("cohort"), pl.lit(1).alias("x"), pl.lit(1).alias("count"))
    partition_counts(table, tmp_path / "counts", behaviors=["x"], partitions=2)
    found = Panel.from_parquet(tmp_path / "counts", shard=(1, 2))
    assert (found.units, found.days, int(found.arrivals.sum())) == ((quiet,), len(days), 2)


def test_context_comes_along(tmp_path: Path) -> None:
    log = visits()
    told = options(context=["place"])
    count_events(log, CLOCK, to=tmp_path / "counts", partitions=3, **told)
    found = Panel.from_parquet(tmp_path / "counts")
    table = count_events(log, CLOCK, **told)
    wanted = Panel.from_counts(table, behaviors=BEHAVIORS, context=["place"])
    assert found.events is not None
    assert wanted.events is not None
    np.testing.assert_array_equal(found.events.context, wanted.events.context)
    np.testing.assert_array_equal(found.events.patterns, wanted.events.patterns)


def test_whole_numbers_stay_whole_numbers(tmp_path: Path) -> None:
    told = options(unit="number")
    count_events(visits(), CLOCK, to=tmp_path / "counts", partitions=3, **told)
    wanted = Panel.from_counts(count_events(visits(), CLOCK, **told), behaviors=BEHAVIORS)
    assert Panel.from_parquet(tmp_path / "counts").units == wanted.units == tuple(range(-3, 23))
