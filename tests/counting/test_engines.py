"""The same log gives the same counts on every engine, whatever the session's settings."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from dgd import (
    Clock,
    InputError,
    count_events,
    hash_bucket,
    hash_buckets,
    newcomer_cohorts,
    rate_cohorts,
    spending_cohorts,
    top_units,
)
from support.engines import spark_session

ENGINES = ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "pyspark"]
BERLIN = "Europe/Berlin"
BERLIN_CLOCK = Clock("ts", timezone=BERLIN)
ODD_ZONES = ["America/St_Johns", "Pacific/Chatham", BERLIN]

Maker = Callable[[pl.DataFrame], Any]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with spark_session(cores=1) as session:
        yield session


@pytest.fixture
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(engine: str, request: pytest.FixtureRequest) -> Maker:
    """Hands a Polars table over to the engine."""
    if engine == "pandas":
        pytest.importorskip("pandas")
        return lambda table: table.to_pandas(date_as_object=True)
    if engine == "pyarrow":
        pytest.importorskip("pyarrow")
        return lambda table: table.to_arrow()
    if engine == "duckdb":
        connection = request.getfixturevalue("duck")
        connection.execute("SET TimeZone = 'America/St_Johns'")
        return lambda table: connection.from_arrow(table.to_arrow())
    if engine == "pyspark":
        session = request.getfixturevalue("spark")
        session.conf.set("spark.sql.session.timeZone", "America/St_Johns")
        return lambda table: on_spark(session, table)
    return (lambda table: table.lazy()) if engine == "polars lazy" else (lambda table: table)


def on_spark(session: Any, table: pl.DataFrame) -> Any:
    """A Spark frame; timestamps without a zone become TIMESTAMP_NTZ, which Arrow cannot say."""
    naive = [name for name, dtype in table.schema.items() if dtype == pl.Datetime("us", None)]
    frame = session.createDataFrame(table.with_columns(pl.col(naive).cast(pl.String)).to_arrow())
    for name in naive:
        frame = frame.withColumn(name, frame[name].cast("timestamp_ntz"))
    return frame


def berlin_log() -> pl.DataFrame:
    """Every 20 minutes around midnight on ordinary days and both clock changes of 2022."""
    moments = []
    for night in (date(2022, 3, 26), date(2022, 3, 27), date(2022, 7, 1), date(2022, 10, 30)):
        begin = datetime(night.year, night.month, night.day, 20, tzinfo=UTC)
        moments += [begin + timedelta(minutes=20 * k) for k in range(30)]
        moments += [begin.replace(hour=0) + timedelta(minutes=20 * k) for k in range(9)]
    moments += [datetime(2022, 10, 30, 22, 59, 59, 999999, tzinfo=UTC)]
    n = len(moments)
    return pl.DataFrame(
        {
            "ts": pl.Series(moments, dtype=pl.Datetime("us", "UTC")),
            "store": [i % 3 for i in range(n)],
            "group": [None if i % 7 == 0 else "ab"[i % 2] for i in range(n)],
            "click": [i % 5 == 0 for i in range(n)],
            "like": [i % 2 for i in range(n)],
        }
    )


TIMES: dict[str, tuple[pl.Expr, dict[str, str]]] = {
    "timestamps with a zone": (pl.col("ts"), {}),
    "timestamps with another zone": (pl.col("ts").dt.convert_time_zone("Asia/Tokyo"), {}),
    "UTC timestamps without a zone": (
        pl.col("ts").dt.replace_time_zone(None), {"stored_in": "UTC"},
    ),
    "local timestamps": (
        pl.col("ts").dt.convert_time_zone(BERLIN).dt.replace_time_zone(None), {"stored_in": BERLIN},
    ),
    "milliseconds": (pl.col("ts").dt.epoch("ms"), {"time_unit": "ms"}),
    "milliseconds as text": (pl.col("ts").dt.epoch("ms").cast(pl.String), {"time_unit": "ms"}),
    "seconds as floats": (pl.col("ts").dt.epoch("us") / 1e6, {"time_unit": "s"}),
    "nanoseconds": (pl.col("ts").dt.epoch("ns"), {"time_unit": "ns"}),
    "text with Z": (pl.col("ts").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"), {}),
    "text with an offset": (
        pl.col("ts").dt.convert_time_zone("Asia/Tokyo").dt.strftime("%Y-%m-%d %H:%M:%S%.6f%:z"), {},
    ),
    "UTC text": (pl.col("ts").dt.strftime("%Y-%m-%d %H:%M:%S%.6f"), {"stored_in": "UTC"}),
}  # fmt: skip


def expected_counts(log: pl.DataFrame, zone: str, hourly: bool = False) -> pl.DataFrame:
    """Counted in plain Python."""
    cells: Counter[tuple[Any, ...]] = Counter()
    for row in log.iter_rows(named=True):
        local = row["ts"].astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        moment = local.replace(minute=0, second=0, microsecond=0) if hourly else local.date()
        cohort = "unknown" if row["group"] is None else row["group"]
        cells[(moment, row["store"], cohort, int(row["click"]), row["like"])] += 1
    names = ["date", "unit", "cohort", "click", "like"]
    rows = [(*cell, number) for cell, number in cells.items()]
    return pl.DataFrame(rows, schema=[*names, "count"], orient="row").sort(names)


def count_log(frame: Any, clock: Clock = BERLIN_CLOCK, **options: Any) -> pl.DataFrame:
    options = {"missing": "unknown", "behaviors": ["click", "like"], **options}
    counts = count_events(frame, clock, unit="store", cohort="group", **options)
    table = nw.from_native(counts).to_polars()
    hourly = options.get("period") == "hour"
    return table.with_columns(pl.col("date").cast(pl.Datetime("us") if hourly else pl.Date))


@pytest.mark.parametrize("times", TIMES)
def test_every_engine_finds_the_same_days_in_every_kind_of_time(make: Maker, times: str) -> None:
    log = berlin_log()
    expression, options = TIMES[times]
    clock = Clock("ts", BERLIN, **options)
    counts = count_log(make(log.with_columns(expression.alias("ts"))), clock)
    assert_frame_equal(counts, expected_counts(log, BERLIN))


def test_every_engine_finds_the_same_hours(make: Maker) -> None:
    log = berlin_log()
    counts = count_log(make(log), period="hour")
    assert_frame_equal(counts, expected_counts(log, BERLIN, hourly=True))


def test_every_engine_tells_events_apart_by_context(make: Maker) -> None:
    log = berlin_log().with_columns((pl.col("store") % 3 / 2).alias("place"))
    counts = count_log(make(log), context=["place"])
    names = ["date", "unit", "cohort", "place", "click", "like"]
    assert counts.columns == [*names, "count"]
    whole = counts.group_by(*names[:3], *names[4:]).agg(pl.col("count").sum())
    assert_frame_equal(whole, expected_counts(log, BERLIN), check_row_order=False)
    assert_frame_equal(counts, count_log(log, context=["place"]))


def test_clock_changes_make_days_of_23_and_25_hours(make: Maker) -> None:
    first = datetime(2022, 3, 20, tzinfo=UTC)
    hours = pl.datetime_range(first, datetime(2022, 11, 6, tzinfo=UTC), "1h", eager=True)
    log = pl.DataFrame({"ts": hours, "seen": pl.repeat(1, len(hours), eager=True)})
    counts = count_events(make(log), BERLIN_CLOCK, behaviors=["seen"])
    table = nw.from_native(counts).to_polars().with_columns(pl.col("date").cast(pl.Date))
    found = dict(table.select("date", "count").iter_rows())
    assert found[date(2022, 3, 27)] == 23
    assert found[date(2022, 10, 30)] == 25
    assert found[date(2022, 6, 1)] == 24


def test_dates_need_no_zone(make: Maker) -> None:
    log = pl.DataFrame({"ts": [date(2022, 3, 27), date(2022, 3, 27)], "seen": [0, 0]})
    counts = count_events(make(log), Clock("ts"), behaviors=["seen"])
    assert nw.from_native(counts).to_polars()["count"].to_list() == [2]


def test_results_come_back_in_the_users_kind(engine: str, make: Maker) -> None:
    counts = count_events(make(berlin_log()), BERLIN_CLOCK, behaviors=["like"])
    kinds = {"polars lazy": "polars", "duckdb": "pyarrow", "pyspark": "polars"}
    assert nw.from_native(counts).implementation.value == kinds.get(engine, engine)


def test_every_engine_refuses_missing_cohorts_in_the_same_words(make: Maker) -> None:
    with pytest.raises(InputError, match=r"column group is missing in 23 rows; .*missing="):
        count_log(make(berlin_log()), missing=None)


def test_every_engine_refuses_bad_times_in_the_same_words(make: Maker) -> None:
    log = berlin_log().with_columns(
        pl.when(pl.col("store") == 1).then(pl.lit("soon")).otherwise(None).alias("ts")
    )
    with pytest.raises(
        InputError,
        match=r'column ts: "soon" is not a time .* in 52 rows \(and it is missing in 105',
    ):
        count_log(make(log))


def test_every_engine_refuses_bad_behaviors_in_the_same_words(make: Maker) -> None:
    log = berlin_log().with_columns(pl.col("like") + pl.col("store"))
    with pytest.raises(InputError, match=r"column like: 2 is neither 0 nor 1, in 78 rows"):
        count_log(make(log))


@pytest.mark.parametrize("zone", ODD_ZONES)
def test_duckdb_sessions_keep_their_zone_and_do_not_matter(duck: Any, zone: str) -> None:
    duck.execute(f"SET TimeZone = '{zone}'")
    log = berlin_log()
    duck.register("log_table", log.to_arrow())
    counts = count_log(duck.table("log_table"))
    with pytest.raises(InputError):
        count_log(duck.table("log_table"), missing=None)
    assert_frame_equal(counts, expected_counts(log, BERLIN))
    assert duck.sql("SELECT current_setting('TimeZone')").fetchall() == [(zone,)]


@pytest.mark.parametrize("zone", ODD_ZONES)
def test_spark_sessions_keep_their_zone_and_do_not_matter(spark: Any, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    log = berlin_log()
    events = spark.createDataFrame(log.to_arrow())
    counts = count_log(events)
    with pytest.raises(InputError):
        count_log(events, missing=None)
    assert_frame_equal(counts, expected_counts(log, BERLIN))
    assert spark.conf.get("spark.sql.session.timeZone") == zone


def shop_log() -> pl.DataFrame:
    """Two weeks; person 9 and rows without a person appear in the second week only."""
    rows = []
    for i in range(120):
        person = [1, 2, 3, 4, 5, 6, 1, 2, 1, None][i % 10]
        moment = datetime(2022, 3, 20, 23, 30, tzinfo=UTC) + timedelta(hours=2 * i)
        if moment.day >= 28:
            person = 9 if i % 4 == 0 else person
        rows.append((moment, person, 100 + i % 6, (i * 7) % 3 == 0, 1.1 * (i % 9)))
    schema = {
        "ts": pl.Datetime("us", "UTC"),
        "person": pl.Int64,
        "store": pl.Int64,
        "click": pl.Boolean,
        "paid": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


WEEK = {"clock": BERLIN_CLOCK, "start": "2022-03-21", "end": "2022-03-27"}
ASSIGNMENTS: dict[str, Callable[[Any], Any]] = {
    "rate": lambda log: rate_cohorts(log, person="person", behavior="click", **WEEK),
    "spending": lambda log: spending_cohorts(log, person="person", amount="paid", **WEEK),
    "orders": lambda log: spending_cohorts(
        log, person="person", amount="paid", order="store", **WEEK
    ),
    "newcomers": lambda log: newcomer_cohorts(log, person="person", **WEEK),
    "units": lambda log: top_units(log, unit="store", n=2, **WEEK),
    "buckets": lambda log: hash_buckets(log, id="person"),
}


def as_polars(frame: Any) -> pl.DataFrame:
    known = nw.from_native(frame)
    if isinstance(known, nw.LazyFrame):
        return known.collect("polars").to_native()
    return known.to_polars()


@pytest.mark.parametrize("kind", ASSIGNMENTS)
def test_every_engine_fixes_and_gives_the_same_labels(engine: str, make: Maker, kind: str) -> None:
    log = shop_log()
    reference, found = ASSIGNMENTS[kind](log), ASSIGNMENTS[kind](make(log))
    assert_frame_equal(as_polars(found.table), reference.table)
    assert_frame_equal(as_polars(found.sizes), reference.sizes)
    assert (found.rows, found.rows_outside) == (reference.rows, reference.rows_outside)
    labelled = found.assign(make(log))
    lazy = isinstance(nw.from_native(labelled), nw.LazyFrame)
    assert lazy == (engine in ("polars lazy", "duckdb", "pyspark"))
    label = pl.col(found.name).cast(reference.table.schema[found.name])
    ours = as_polars(labelled).with_columns(label, pl.col(reference.id).cast(pl.Int64))
    theirs = reference.assign(log)
    assert_frame_equal(
        ours.select(reference.id, found.name).sort(reference.id, found.name),
        theirs.select(reference.id, found.name).sort(reference.id, found.name),
    )


def test_labelling_leaves_a_duckdb_database_as_it_was(duck: Any) -> None:
    duck.register("log_table", shop_log().to_arrow())
    duck.execute("CREATE TABLE events AS FROM log_table; CREATE TABLE small (x INTEGER)")
    before = duck.sql("SHOW ALL TABLES").fetchall()
    labelled = newcomer_cohorts(duck.table("events"), person="person", **WEEK).assign(
        duck.table("events")
    )
    assert as_polars(labelled).height == 120
    assert duck.sql("SHOW ALL TABLES").fetchall() == before


def test_no_name_of_the_users_is_taken_for_one_of_ours(duck: Any) -> None:
    names = ("__dgd_lookup__", "__dgd_events__", "events", "query", "view", "table")
    for name in names:
        duck.execute(f'CREATE TABLE "{name}" AS SELECT 1 AS person')
    log = duck.sql("SELECT unnest([1, 2, 3]) AS person, 5 AS __dgd_key__")
    labelled = as_polars(hash_buckets(log, id="person").assign(log)).sort("person")
    assert labelled["bucket"].to_list() == [hash_bucket(i) for i in (1, 2, 3)]
    assert labelled["__dgd_key__"].to_list() == [5, 5, 5]


def test_ids_that_floats_cannot_tell_apart_are_refused_wherever_they_are_read(make: Maker) -> None:
    log = shop_log().with_columns((pl.col("person") * 1e17).alias("person"))
    for fix in ASSIGNMENTS.values():
        if fix is not ASSIGNMENTS["units"]:
            with pytest.raises(InputError, match="is a float too large to tell ids apart"):
                fix(make(log))
    with pytest.raises(InputError, match="is a float too large to tell ids apart"):
        hash_buckets(make(shop_log()), id="person").assign(make(log))


def test_buckets_match_the_formula_on_every_engine(make: Maker) -> None:
    log = pl.DataFrame({"person": [1, 2, None, 3], "seen": [1, 1, 1, 1]})
    table = as_polars(hash_buckets(make(log), id="person").assign(make(log))).sort("person")
    assert table["bucket"].to_list() == [None, *(hash_bucket(i) for i in (1, 2, 3))]
