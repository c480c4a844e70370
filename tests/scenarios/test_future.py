"""The days ahead: known, given or repeated, and seen by the model as a forecast sees them."""

import numpy as np
import polars as pl

import dgd
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing
from dgd.scenarios.future import Outlook
from support.refusals import refused


def later_effort(panel: dgd.Panel, days: int, value: float = 3.0) -> pl.DataFrame:
    dates = panel.period.range(panel.dates[-1], days + 1)[1:]
    return pl.DataFrame({"date": dates, "effort": np.full(days, value)})


def test_the_last_week_is_repeated_and_said_so(two_seeds: dgd.Fit) -> None:
    outlook = Outlook.of(two_seeds, 10)
    effort = two_seeds.panel.effort
    assert np.array_equal(outlook.planned.effort[:7], effort[-7:])
    assert np.array_equal(outlook.planned.effort[7:], effort[-7:-4])
    assert len(outlook.notes) == 1
    assert "same weekday of the last week" in outlook.notes[0]


def test_effort_that_is_given_is_used_and_its_end_repeated(two_seeds: dgd.Fit) -> None:
    outlook = Outlook.of(two_seeds, 10, effort=later_effort(two_seeds.panel, 8))
    assert (outlook.planned.effort == 3.0).all()
    assert "2022-02-20" in outlook.notes[0]
    assert Outlook.of(two_seeds, 5, effort=later_effort(two_seeds.panel, 8)).notes == ()


def test_days_within_the_panel_are_known(two_seeds: dgd.Fit) -> None:
    panel = two_seeds.panel
    outlook = Outlook.of(two_seeds, 4, origin=panel.dates[30])
    assert outlook.notes == ()
    assert np.array_equal(outlook.planned.effort, panel.effort[31:35])
    assert np.array_equal(outlook.dates, panel.dates[31:35])


def test_the_model_sees_what_a_forecast_shows_it(two_seeds: dgd.Fit) -> None:
    outlook = Outlook.of(two_seeds, 6)
    with computing():
        ours = outlook.inputs(two_seeds.features, outlook.planned)
        days = days_ahead(outlook.panel, two_seeds.features, np.array([outlook.day]), 6)
        for step, day in enumerate(days):
            for part in ("calendar", "summaries", "size", "effort"):
                same = getattr(ours.between(step, step + 1), part)
                assert np.array_equal(same, getattr(day, part)), part


def test_a_horizon_of_nothing_is_refused(two_seeds: dgd.Fit) -> None:
    with refused("horizon"):
        Outlook.of(two_seeds, 0)
