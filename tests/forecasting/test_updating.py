"""Newer days move a fit at once: the whole table again, only the days since, or in the shell."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.some_units import panel_of_units
from support.refusals import refused
from support.shell import assert_refused, done, run

KNOWN = 36


@pytest.fixture(scope="module")
def earlier(fit: dgd.Fit) -> dgd.Fit:
    """The fit as it stood before the last days."""
    return fit.update(fit.panel.through(fit.panel.dates[KNOWN - 1]))


def since(panel: dgd.Panel, first: int) -> dgd.Panel:
    """Only the days from number `first` on."""
    return replace(
        panel,
        counts=PatternCounts.of(panel.patterns[first:]),
        size=panel.size[first:],
        effort=panel.effort[first:],
        features=panel.features[first:],
        known_dates=panel.known_dates[first:],
    )


@pytest.mark.parametrize("first", [KNOWN, KNOWN - 3])
def test_days_since_are_as_good_as_the_whole_table(fit: dgd.Fit, earlier, first: int) -> None:
    updated = earlier.update(since(fit.panel, first))
    assert updated.panel.days == fit.panel.days
    origin = np.array([fit.panel.days - 2])
    here, there = updated.predict(origin, 1), fit.predict(origin, 1)
    np.testing.assert_allclose(here.arrivals, there.arrivals, rtol=1e-12)
    np.testing.assert_allclose(here.patterns, there.patterns, rtol=1e-12)
    assert np.abs(here.patterns - earlier.predict(np.array([KNOWN - 1]), 1).patterns).max() > 1e-6


def test_nothing_is_trained(fit: dgd.Fit, earlier) -> None:
    updated = earlier.update(since(fit.panel, KNOWN))
    assert updated.runs is fit.runs


def test_corrections_replace_what_was_known(fit: dgd.Fit) -> None:
    late = since(fit.panel, KNOWN)
    late = replace(late, counts=PatternCounts.of(late.patterns * 2))
    updated = fit.update(late)
    np.testing.assert_array_equal(updated.panel.patterns[KNOWN:], late.patterns)
    np.testing.assert_array_equal(updated.panel.patterns[:KNOWN], fit.panel.patterns[:KNOWN])


def test_units_that_are_not_shown_had_no_arrivals(fit: dgd.Fit, earlier) -> None:
    late = since(fit.panel, KNOWN)
    one = replace(
        late,
        counts=PatternCounts.of(late.patterns[:, 1:]),
        size=late.size[:, 1:],
        effort=late.effort[:, 1:],
        features=late.features[:, 1:],
        units=late.units[1:],
    )
    updated = earlier.update(one)
    assert not updated.panel.patterns[KNOWN:, 0].any()
    np.testing.assert_array_equal(updated.panel.patterns[KNOWN:, 1], late.patterns[:, 1])


def test_days_in_between_must_not_be_missing(fit: dgd.Fit, earlier) -> None:
    with refused("new panel starts on", "what is known ends on", "in between"):
        earlier.update(since(fit.panel, KNOWN + 2))


def test_units_of_which_none_is_known_are_refused(fit: dgd.Fit, earlier) -> None:
    strange = replace(since(fit.panel, KNOWN), units=("moon", "mars"))
    with refused("units of the new panel", "moon", "north", "write units alike"):
        earlier.update(strange)


def test_a_cohort_nobody_knows_is_refused(fit: dgd.Fit, earlier) -> None:
    strange = replace(since(fit.panel, KNOWN), cohorts=("martians", *fit.panel.cohorts[1:]))
    with refused("cohorts of the new panel", "martians", "fit again"):
        earlier.update(strange)


def test_a_whole_table_in_which_a_unit_is_missing_is_refused(fit: dgd.Fit) -> None:
    with refused("units of the new panel are without south", "later days alone"):
        fit.update(panel_of_units(fit.panel, np.array([0])))


def test_a_whole_table_without_sizes_keeps_those_of_the_fit(fit: dgd.Fit) -> None:
    panel = replace(fit.panel, size=np.ones_like(fit.panel.size), sized=False)
    np.testing.assert_array_equal(fit.update(panel).panel.size, fit.panel.size)


def test_the_shell_forecasts_from_newer_counts(fit: dgd.Fit, earlier, tmp_path) -> None:
    model, table = tmp_path / "model.dgd", tmp_path / "new.csv"
    earlier.save(model)
    since(fit.panel, KNOWN).to_frame("polars").write_csv(table)
    dates = fit.panel.period.range(fit.panel.dates[KNOWN], 7)
    effort = tmp_path / "effort.csv"
    known = pl.DataFrame([fit.panel.period.series("date", dates), pl.Series("effort", [1.0] * 7)])
    known.write_csv(effort)
    written = tmp_path / "out.csv"
    call = ["forecast", model, "--counts", table, "--effort", effort, "--horizon", 2]
    done(*call, "--output", written)
    found = pl.read_csv(written)
    assert found["date"].unique().sort().to_list() == [str(day) for day in dates[4:6]]
    assert_refused(run("forecast", model, "--counts", tmp_path / "none.csv"), "none.csv")
