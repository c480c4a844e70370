"""Cohorts and units are fixed by the history alone, deterministically, and lose nobody."""

import hashlib
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgd import (
    Clock,
    InputError,
    Panel,
    count_events,
    hash_bucket,
    hash_buckets,
    newcomer_cohorts,
    rate_cohorts,
    spending_cohorts,
    top_units,
)
from dgd.counting.rates import quantile_group

DAY = Clock("day")
WEEK = {"start": "2022-03-01", "end": "2022-03-07"}


def log_of(rows: list[tuple[Any, ...]], *names: str) -> pl.DataFrame:
    """Rows (person, ...) on 2 March."""
    table = pl.DataFrame(rows, schema=list(names), orient="row")
    return table.with_columns(pl.lit(date(2022, 3, 2)).alias("day"))


def labels(assignment: Any) -> dict[Any, Any]:
    return dict(assignment.table.iter_rows())


def sizes(assignment: Any) -> dict[Any, float]:
    return dict(assignment.sizes.iter_rows())


def test_rates_are_smoothed_with_reference_exposures() -> None:
    # One click of one exposure is less convincing than 30 of 40: with k = 20 and an overall
    # rate of 31/51, (1 + 12.2) / 21 = 0.627 stays below (30 + 12.2) / 60 = 0.703.
    rows = [(1, 1)] + [(2, int(i < 30)) for i in range(40)] + [(3, 0)] * 10
    log = log_of(rows, "user", "click")
    options = {"person": "user", "behavior": "click", "rate_groups": 3, "volume_groups": 1, **WEEK}
    smoothed = rate_cohorts(log, DAY, **options)
    assert labels(smoothed) == {
        1: "rate 2 volume 1", 2: "rate 3 volume 1", 3: "rate 1 volume 1"
    }  # fmt: skip
    raw = rate_cohorts(log, DAY, **{**options, "reference_exposures": 0.0})
    assert labels(raw)[1] == "rate 3 volume 1"


def test_four_rates_by_two_volumes_and_newcomers_make_nine_cohorts() -> None:
    rows = [(user, int(i % 8 < user % 8)) for user in range(64) for i in range(4 + user // 8)]
    found = rate_cohorts(
        log_of(rows, "user", "click"), DAY, person="user", behavior="click", **WEEK
    )
    assert len(found.labels) == 9
    assert found.labels[-1] == "new"
    assert sum(sizes(found).values()) == 64 + 9
    assert sizes(found)["new"] == 1


@settings(deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(1, 5))
def test_equal_values_share_a_quantile_group_and_order_is_kept(
    values: list[int], groups: int
) -> None:
    found = quantile_group(pl.Series(values, dtype=pl.Float64), groups).to_list()
    assert all(0 <= group < groups for group in found)
    pairs = sorted(zip(values, found, strict=True))
    assert all(a[1] <= b[1] for a, b in pairwise(pairs))
    assert len(set(pairs)) == len(set(values))


def test_distinct_values_make_even_quantile_groups() -> None:
    groups = quantile_group(pl.Series(range(12), dtype=pl.Float64), 4)
    assert groups.value_counts()["count"].to_list() == [3, 3, 3, 3]


def test_repeat_customers_are_split_at_their_median_spending() -> None:
    rows = [("once", 1000.0)]
    rows += [(f"c{k}", float(k)) for k in range(1, 6) for _ in range(2)]
    found = spending_cohorts(log_of(rows, "who", "paid"), DAY, person="who", amount="paid", **WEEK)
    assert labels(found) == {
        "once": "single",
        "c1": "repeat low", "c2": "repeat low", "c3": "repeat low",
        "c4": "repeat high", "c5": "repeat high",
    }  # fmt: skip
    assert sizes(found) == {"single": 1, "repeat low": 3, "repeat high": 2, "new": 1}


def test_lines_of_one_order_are_one_purchase() -> None:
    log = log_of([("a", 5.0, 1), ("a", 5.0, 1), ("b", 5.0, 2), ("b", 5.0, 3)], "who", "paid", "no")
    found = spending_cohorts(log, DAY, person="who", amount="paid", order="no", **WEEK)
    assert labels(found) == {"a": "single", "b": "repeat low"}


def test_a_history_without_repeat_customers_has_single_ones_only() -> None:
    found = spending_cohorts(
        log_of([("a", 5.0)], "who", "paid"), DAY, person="who", amount="paid", **WEEK
    )
    assert sizes(found) == {"single": 1, "repeat low": 0, "repeat high": 0, "new": 1}


def test_newcomers_and_missing_ids_get_the_newcomers_label() -> None:
    found = newcomer_cohorts(log_of([(1,), (2,)], "user"), DAY, person="user", **WEEK)
    events = pl.DataFrame({"user": [1, 7, None, 2]})
    assert found.assign(events)["cohort"].to_list() == ["known", "new", "new", "known"]


def test_only_the_stated_days_count_and_the_rest_is_told() -> None:
    log = pl.DataFrame(
        {
            "user": [1, 2, None, 3],
            "day": [date(2022, 2, 28), date(2022, 3, 1), date(2022, 3, 7), date(2022, 3, 8)],
        }
    )
    found = newcomer_cohorts(log, DAY, person="user", **WEEK)
    assert labels(found) == {2: "known"}
    assert (found.rows, found.rows_outside, found.rows_without_id) == (2, 2, 1)
    assert (found.start, found.end) == (date(2022, 3, 1), date(2022, 3, 7))


def test_history_days_are_those_of_the_stated_zone() -> None:
    late = datetime(2022, 2, 28, 23, 30, tzinfo=UTC)
    log = pl.DataFrame({"user": [1, 2], "day": [late, late - timedelta(hours=1)]})
    found = newcomer_cohorts(log, Clock("day", timezone="Europe/Berlin"), person="user", **WEEK)
    assert labels(found) == {1: "known"}


def test_top_units_keep_their_names_and_the_rest_is_pooled() -> None:
    log = log_of([(u,) for u in (5, 5, 5, 9, 9, 2, 2, 1)], "author")
    found = top_units(log, DAY, unit="author", n=2, **WEEK)
    assert found.labels == ("5", "2", "rest")  # 2 and 9 tie; the smaller id comes first
    assert sizes(found) == {"5": 3, "2": 2, "rest": 3}
    events = pl.DataFrame({"author": [9, 5, None, 77]})
    assert found.assign(events)["unit"].to_list() == ["rest", "5", "rest", "rest"]


def test_buckets_are_the_first_eight_bytes_of_sha256() -> None:
    digest = hashlib.sha256(b"12345").hexdigest()
    assert hash_bucket(12345) == hash_bucket("12345") == int(digest[:16], 16) % 64


def test_buckets_cover_every_identifier() -> None:
    log = pl.DataFrame({"user": [*range(200), None]})
    found = hash_buckets(log, id="user", buckets=8)
    assert sum(sizes(found).values()) == 200
    assert found.rows_without_id == 1
    assert found.assign(log)["bucket"].null_count() == 1


def test_cohorts_go_from_history_to_panel() -> None:
    log = log_of([(1, 1), (1, 0), (2, 0), (None, 1)], "user", "click")
    cohorts = newcomer_cohorts(log, DAY, person="user", **WEEK)
    counts = count_events(cohorts.assign(log), DAY, cohort="cohort", behaviors=["click"])
    panel = Panel.from_counts(
        counts, behaviors=["click"], sizes=cohorts.sizes, cohorts=cohorts.labels
    )
    assert panel.cohorts == ("known", "new")
    assert panel.arrivals.sum() == 4
    assert panel.size[0, 0].tolist() == [2.0, 1.0]


def test_labels_meet_ids_written_as_text_or_floats() -> None:
    found = newcomer_cohorts(log_of([(1,), (2,)], "user"), DAY, person="user", **WEEK)
    for ids in (["1", "7"], [1.0, 7.0]):
        events = pl.DataFrame({"user": ids})
        assert found.assign(events)["cohort"].to_list() == ["known", "new"]
        lazy = found.assign(events.lazy()).collect()
        assert lazy["cohort"].to_list() == ["known", "new"]


def test_labelled_polars_rows_stay_in_order() -> None:
    found = newcomer_cohorts(log_of([(1,), (2,)], "user"), DAY, person="user", **WEEK)
    events = pl.DataFrame({"user": [index % 5 for index in range(20_000)]})
    expected = ["known" if user in (1, 2) else "new" for user in events["user"]]
    for _ in range(5):
        lazy = found.assign(events.lazy()).collect()
        assert lazy["user"].equals(events["user"])
        assert lazy["cohort"].to_list() == expected


def test_mixed_python_objects_of_a_history_are_read_as_those_of_events() -> None:
    pd = pytest.importorskip("pandas")
    log = log_of([(1, 0), (1, 0)], "user", "click").to_pandas()
    log["click"] = pd.Series([0, "1"], dtype=object)
    clock = Clock("day", "UTC", stored_in="UTC")
    found = rate_cohorts(log, clock, person="user", behavior="click", **WEEK)
    assert found.rows == 2


def test_bad_histories_are_refused() -> None:
    log = log_of([(1, 2, None)], "user", "click", "paid")
    with pytest.raises(InputError, match="column click: 2 is neither 0 nor 1, in 1 row"):
        rate_cohorts(log, DAY, person="user", behavior="click", **WEEK)
    unpaid = log.with_columns(pl.col("paid").cast(pl.Float64))
    with pytest.raises(InputError, match="column paid is missing in 1 row; fill it in or drop"):
        spending_cohorts(unpaid, DAY, person="user", amount="paid", **WEEK)
    with pytest.raises(InputError, match=r'has no column "nobody"; its columns are'):
        newcomer_cohorts(log, DAY, person="nobody", **WEEK)
    with pytest.raises(InputError, match="no row with column user filled in from 2023"):
        newcomer_cohorts(log, DAY, person="user", start="2023-01-01", end="2023-01-02")
    with pytest.raises(InputError, match='already has a column "click"'):
        newcomer_cohorts(log, DAY, person="user", name="click", **WEEK).assign(log)
    with pytest.raises(InputError, match="history has no rows"):
        newcomer_cohorts(log.clear(), DAY, person="user", **WEEK)
