"""Special days: public holidays and the user's own, on any date, wherever a panel goes."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import holidays
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.continuing import continued
from dgd.panel.shared import known_to_all
from dgd.panel.some_units import panel_of_units
from dgd.panel.special_days import SpecialDays
from dgd.panel.stored import panel_from, panel_stored
from dgd.processes.group import Group
from dgd.tables.frames import from_polars
from support.refusals import refused
from support.small_panel import BEHAVIORS, assert_same, counts, day, make

SALE, CLOSED = date(2022, 4, 2), date(2022, 4, 4)


def table(*rows: tuple[date, str]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows) or [(CLOSED, "closed"), (SALE, "sale"), (date(2022, 4, 18), "closed")],
        schema=["date", "name"],
        orient="row",
    )


def days(first: str, last: str) -> np.ndarray:
    return np.arange(first, last, dtype="datetime64[D]")


def test_panels_have_none_unless_told() -> None:
    found = make().special_days
    assert not found
    assert found == SpecialDays()
    assert found.kinds == ("ordinary", "public holiday")
    assert not found.codes_on(days("2022-01-01", "2023-01-01")).any()
    assert "holiday" not in repr(make())


@pytest.mark.parametrize("country", ["GB", "GB-ENG", "US", "US-CA", "PT", "CN"])
def test_public_holidays_are_those_of_the_package(country: str) -> None:
    code, _, part = country.partition("-")
    known = holidays.country_holidays(code, subdiv=part or None, years=range(2009, 2036))
    found = make(country=country).special_days
    dates = days("2010-01-01", "2035-01-01")
    codes = found.codes_on(dates)
    assert codes.dtype == np.int64
    assert codes.tolist() == [int(one in known) for one in dates.tolist()]
    assert [name is not None for name in found.names_on(dates)] == (codes == 1).tolist()


def test_holidays_are_called_by_their_names() -> None:
    found = make(country="PT").special_days
    assert found.names_on(days("2016-12-24", "2016-12-26")) == [None, "Christmas Day"]


def test_own_names_are_numbered_as_they_appear_and_win() -> None:
    found = make(country="GB-ENG", special=table()).special_days
    assert found.kinds == ("ordinary", "public holiday", "closed", "sale")
    dates = days("2022-04-01", "2022-04-19")
    codes = found.codes_on(dates)
    assert codes[[1, 3, 14, 17]].tolist() == [3, 2, 1, 2], "Easter Monday is closed"
    assert codes.sum() == 8
    assert found.names_on(dates)[14] == "Good Friday"
    assert found.names_on(dates)[17] == "closed"


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_table_may_be_of_any_kind_and_reach_far(kind: str) -> None:
    far = table((SALE, "sale"), (date(2019, 4, 2), "sale"), (date(2030, 11, 29), "fair"))
    panel = make(special=from_polars(far, kind))
    assert panel.special_days.names_on(days("2030-11-28", "2030-11-30")) == [None, "fair"]
    assert len(panel.known_dates) == panel.days


def test_dates_may_be_texts_and_names_have_no_edges() -> None:
    texts = pl.DataFrame({"date": ["2022-04-02"], "name": [" sale "]})
    assert make(special=texts).special_days == make(special=table((SALE, "sale"))).special_days


def test_the_date_of_an_hour_decides() -> None:
    hours = [datetime(2022, 4, 14) + timedelta(hours=n) for n in range(48)]
    rows = pl.DataFrame({"date": hours, "click": 1, "count": 2})
    panel = dgd.Panel.from_counts(
        rows, unit=None, cohort=None, behaviors=["click"], period="hour",
        country="GB", special=table((date(2022, 4, 14), "sale")),
    )  # fmt: skip
    assert panel.special_days.codes_on(panel.dates).tolist() == [2] * 24 + [1] * 24
    assert repr(panel).endswith("1 public holiday (GB), 1 other special day)")


def test_weeks_have_no_special_days() -> None:
    for known in ({"country": "GB"}, {"special": table()}):
        with refused("country and special tell single days apart", "count by day"):
            make(period="week", **known)


@pytest.mark.parametrize(
    ("country", "words"),
    [
        ("GX", 'country "GX" is not known; the nearest are'),
        ("gb", "the nearest are GB"),
        ("GB-EGN", "the nearest are GB-ENG"),
        ("GB-", 'country "GB-" is not known'),
        ("HolidayBase", 'country "HolidayBase" is not known'),
    ],
)
def test_unknown_countries_are_refused(country: str, words: str) -> None:
    with refused(words):
        make(country=country)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"date": [SALE], "nmae": ["sale"]}, 'has a column "nmae"'),
        ({"date": [SALE], "nmae": ["sale"]}, 'the nearest known one is "name"'),
        ({"day": [SALE], "name": ["sale"]}, 'the nearest known one is "date"'),
        ({"date": [SALE]}, 'special has no column "name"'),
        ({"date": [], "name": []}, "special has no rows"),
        ({"date": [SALE, None], "name": ["a", "b"]}, "special row 2, column date: missing"),
        ({"date": [SALE], "name": [None]}, "special row 1, column name: missing"),
        ({"date": [SALE], "name": [" "]}, 'special row 1, column name: " " is not a name'),
        ({"date": [SALE], "name": ["ordinary"]}, 'row 1, column name: "ordinary"'),
        ({"date": ["2.4.22"], "name": ["sale"]}, 'row 1, column date: "2.4.22" is not a date'),
        ({"date": [SALE, SALE], "name": ["a", "b"]}, "rows 1 and 2 both give a name for date 2022"),
    ],
)
def test_tables_that_cannot_be_right_are_refused(rows: dict[str, list[Any]], words: str) -> None:
    with refused(words):
        make(special=pl.DataFrame(rows))


def test_a_data_set_takes_them_too(tmp_path: Path) -> None:
    known: dict[str, Any] = {"country": "GB", "special": table()}
    dgd.partition_counts(counts(), tmp_path / "set", behaviors=BEHAVIORS, partitions=2)
    assert_same(dgd.Panel.from_parquet(tmp_path / "set", **known), make(**known))


def test_they_go_where_the_panel_goes() -> None:
    panel = make(country="GB", special=table())
    units = np.array([1])
    for other in (
        panel.through(day(1)),
        panel_of_units(panel, units),
        panel.with_future(),
        panel_from(json.loads(json.dumps(panel_stored(panel)[0])), panel_stored(panel)[1]),
    ):
        assert other.special_days == panel.special_days


def test_newer_days_are_merged_and_codes_stay() -> None:
    earlier = make(country="GB", special=table((SALE, "sale"), (CLOSED, "closed")))
    later = earlier.read_alike(
        counts(), special=table((SALE, "fair"), (date(2023, 1, 2), "closed"))
    )
    found = continued(earlier, later).special_days
    assert found.kinds[2:] == ("sale", "closed", "fair")
    assert found.names_on(np.array([SALE, CLOSED], "M8[D]")) == ["fair", "closed"]
    assert found.codes_on(np.array(["2023-01-02"], "M8[D]")).tolist() == [3]
    assert found.country == "GB"
    assert earlier.with_special(table((SALE, "fair"))).special_days.kinds == found.kinds


def test_another_country_is_refused_and_none_keeps_the_known_one() -> None:
    earlier = make(country="GB")
    assert continued(earlier, make()).special_days.country == "GB"
    with refused('country of the new panel is "US", but what is known was made with "GB"'):
        continued(earlier, make(country="US"))
    with refused("without a country"):
        continued(make(), make(country="US"))


def test_files_without_them_still_load() -> None:
    facts, tensors = panel_stored(make())
    assert "special_days" not in facts
    assert panel_from(json.loads(json.dumps(facts)), tensors).special_days == SpecialDays()


def test_names_that_no_date_has_any_more_are_kept_in_files() -> None:
    panel = make(special=table((SALE, "sale"))).with_special(table((SALE, "fair")))
    facts, tensors = panel_stored(panel)
    assert panel_from(json.loads(json.dumps(facts)), tensors).special_days == panel.special_days


@pytest.mark.parametrize(
    "wrong",
    [
        {"country": "XX"},
        {"country": 7},
        {"names": ["sale", "sale"]},
        {"dates": ["2022-04-02", "2022-04-02", "2022-04-18"]},
        {"dates": ["2022-04-02"]},
        {"dates": ["2022-04-02", "2022-04-04", "never"]},
        {"numbers": [0, 1, 2]},
        {"numbers": [0, True, 0]},
        {"numbers": None},
    ],
)
def test_what_a_file_says_is_checked(wrong: dict[str, Any]) -> None:
    facts, tensors = panel_stored(make(country="GB", special=table()))
    told = json.loads(json.dumps(facts))
    told["special_days"] |= wrong
    with pytest.raises((ValueError, TypeError)):
        panel_from(told, tensors)


def test_a_saved_fit_restores_them(fit: dgd.Fit, tmp_path: Path) -> None:
    panel = replace(fit.panel, special_days=make(country="GB", special=table()).special_days)
    replace(fit, panel=panel).save(tmp_path / "model.dgd")
    assert dgd.load(tmp_path / "model.dgd").panel.special_days == panel.special_days


class Two(Group):
    """A process beside another that has other facts."""

    def every(self, x: Any) -> list[Any]:
        facts, units = x
        return [x, [{**facts, "special days": SpecialDays("US").stored()}, units]]


def test_processes_must_agree() -> None:
    with refused("special days of process 1 are"):
        known_to_all(make(country="GB"), Two(0, 2))


def test_panels_and_explorations_tell_of_them() -> None:
    panel = make(country="GB-ENG", special=table(), end="2022-04-30")
    assert repr(panel).endswith("1 public holiday (GB-ENG), 3 other special days)")
    assert "Special days: 1 public holiday (GB-ENG)" in panel._repr_html_()
    facts = panel.explore().facts
    assert facts["public holidays (GB-ENG)"] == 1
    assert facts["other special days"] == 3
    assert not [name for name in make().explore().facts if "special" in name or "holid" in name]


def test_the_package_waits_until_it_is_needed() -> None:
    code = "import sys, dgd.panel.panel; print('holidays' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
