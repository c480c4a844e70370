"""Cold start: a unit first seen after the fit begins as a typical one and becomes itself."""

from dataclasses import replace

import numpy as np
import polars as pl

import dgd
from dgd.panel.new_units import most_effort
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.some_units import panel_of_units
from support.shell import done
from support.untrained import untrained

KNOWN = 20
"""Days that are known before the new unit may be seen."""


def joined(
    panel: dgd.Panel, counts: np.ndarray, first: int = KNOWN, *, whole: bool = False
) -> dgd.Panel:
    """The days from number `first` on, or all, and the new unit moon before the known ones.

    It has `counts` of every cohort, all of them of pattern 1, from day `first` on.
    """
    begin = 0 if whole else first
    new = np.zeros((panel.days - begin, 1, *panel.patterns.shape[2:]), np.int64)
    new[first - begin :, 0, :, 1] = counts[: panel.days - first, None]

    def beside(grid: np.ndarray) -> np.ndarray:
        return np.concatenate([grid[begin:, :1], grid[begin:]], 1)

    return replace(
        panel,
        counts=PatternCounts.of(np.concatenate([new, panel.patterns[begin:]], 1)),
        size=beside(panel.size),
        effort=beside(panel.effort),
        features=beside(panel.features),
        known_dates=panel.known_dates[begin:],
        units=("moon", *panel.units),
        sized=False,
    )


def moved(fit: dgd.Fit, *counts: int) -> dgd.Fit:
    """The fit after a unit with these arrivals a cohort on the last days."""
    first = fit.panel.days - max(len(counts), 1)
    return fit.update(joined(fit.panel, np.array(counts or [0]), first))


def tomorrow(fit: dgd.Fit) -> tuple[np.ndarray, np.ndarray]:
    """Arrivals and joint patterns of the day after the last, effort as usual."""
    dates = fit.panel.period.range(fit.panel.dates[-1], 2)[1:]
    effort = pl.DataFrame([fit.panel.period.series("date", dates), pl.Series("effort", [1.0])])
    ahead = fit.forecast(1, effort=effort)
    return ahead.arrivals[0], ahead.patterns[0]


def test_a_unit_without_counts_is_typical_of_its_cohorts(fit: dgd.Fit) -> None:
    updated = moved(fit)
    assert updated.panel.units == (*fit.panel.units, "moon")
    np.testing.assert_array_equal(updated.panel.since, [0, 0, fit.panel.days])
    np.testing.assert_array_equal(updated.panel.size[-1, 2], np.median(fit.panel.size[-1], 0))
    arrivals, patterns = tomorrow(updated)
    size = updated.panel.size[-1]
    typical = arrivals[:2].sum(0) / size[:2].sum(0) * size[2]
    # two units tell how units differ, and so what is typical, only roughly
    np.testing.assert_allclose(arrivals[2], typical, rtol=0.6)
    assert np.abs(patterns[2] - patterns[:2].mean(0)).max() < 0.1
    assert (arrivals[2] > 5).all()


def test_forecasts_of_the_others_are_what_they_were(fit: dgd.Fit) -> None:
    wanted, found = tomorrow(fit), tomorrow(moved(fit))
    np.testing.assert_allclose(found[0][:2], wanted[0], rtol=1e-9)
    np.testing.assert_allclose(found[1][:2], wanted[1], rtol=1e-9)


def test_a_single_known_unit_is_what_it_was_too(drawn: dgd.Simulated) -> None:
    """What units have of their own begins to count only where several were known."""
    one = replace(panel_of_units(drawn.panel, np.array([0])), everyone=None)
    fit = untrained(dgd.DGD(), one, seeds=[1])
    wanted, found = tomorrow(fit), tomorrow(moved(fit))
    np.testing.assert_allclose(found[0][:1], wanted[0], rtol=1e-9)
    np.testing.assert_allclose(found[1][:1], wanted[1], rtol=1e-9)


def test_days_before_a_unit_was_there_say_nothing(fit: dgd.Fit) -> None:
    """Neither its own departure nor that of the others moves by its silence."""
    updated = moved(fit, 12)
    np.testing.assert_array_equal(updated.panel.effort[: fit.panel.days - 1, 2], 0.0)
    assert (updated.panel.effort[fit.panel.days - 1, 2] > 0).all()
    for before, state in zip(fit.states, updated.states, strict=True):
        there = np.asarray(state.environment.unit)[: fit.panel.days - fit.split.first]
        np.testing.assert_allclose(there[:, 2], 0.0, atol=1e-12)
        np.testing.assert_allclose(
            there[:, :2], np.asarray(before.environment.unit)[: len(there)], atol=1e-12
        )
    past = np.arange(fit.first_origin + 1, fit.panel.days - 2)
    np.testing.assert_array_equal(updated.predict(past, 1).arrivals[..., 2, :], 0.0)


def test_its_own_counts_move_it_day_by_day(fit: dgd.Fit) -> None:
    typical = tomorrow(moved(fit))[0][2]
    few = tomorrow(moved(fit, 1))[0][2]
    days = fit.panel.days - KNOWN
    weeks = tomorrow(moved(fit, *[1] * days))[0][2]
    busy = tomorrow(moved(fit, *[60] * days))[0][2]
    assert (weeks < few).all()
    assert (few < typical).all()
    assert (few > 0.05 * typical).all()
    assert (weeks < 0.25 * typical).all()
    assert (busy > 45).all()
    assert (busy < 75).all()


def test_its_choices_move_day_by_day_too(fit: dgd.Fit) -> None:
    """All of its arrivals show the first behaviour and no other."""
    shown = [tomorrow(moved(fit, *[20] * days))[1][2, :, 1] for days in (1, 5, 15)]
    assert (shown[0] < shown[1]).all()
    assert (shown[1] < shown[2]).all()
    assert (shown[2] > 0.5).all()


def test_days_since_and_the_whole_table_are_the_same(fit: dgd.Fit) -> None:
    counts = np.arange(3, 3 + fit.panel.days)
    since, whole = (fit.update(joined(fit.panel, counts, whole=whole)) for whole in (False, True))
    np.testing.assert_array_equal(since.panel.since, [0, 0, KNOWN])
    np.testing.assert_array_equal(whole.panel.since, since.panel.since)
    assert whole.panel.units == since.panel.units
    for here, there in zip(tomorrow(since), tomorrow(whole), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-12)


def test_another_update_knows_the_unit(fit: dgd.Fit) -> None:
    """From its first arrivals on, though it was named without any before."""
    counts = np.arange(3, 3 + fit.panel.days)
    named = fit.update(joined(fit.panel.through(fit.panel.dates[KNOWN - 1]), counts, KNOWN - 1))
    silent = fit.update(joined(fit.panel.through(fit.panel.dates[KNOWN]), 0 * counts))
    for first in (named, silent):
        again = first.update(joined(fit.panel, counts))
        assert len(again.panel.units) == 3
        assert again.panel.since[2] == KNOWN - (first is named)


def test_it_is_saved_and_loaded(fit: dgd.Fit, tmp_path) -> None:
    updated = moved(fit, 7, 9)
    updated.save(tmp_path / "model.dgd")
    again = dgd.load(tmp_path / "model.dgd")
    np.testing.assert_array_equal(again.panel.since, updated.panel.since)
    for here, there in zip(tomorrow(again), tomorrow(updated), strict=True):
        np.testing.assert_array_equal(here, there)


def test_ranges_of_a_new_unit_are_drawn(fit: dgd.Fit) -> None:
    updated = moved(fit, 7, 9)
    dates = updated.panel.period.range(updated.panel.dates[-1], 2)[1:]
    effort = pl.DataFrame([fit.panel.period.series("date", dates), pl.Series("effort", [1.0])])
    table = updated.forecast(1, effort=effort, levels=[80], paths=50).table(["unit"])
    (moon,) = table.filter((pl.col("unit") == "moon") & (pl.col("series") == "arrivals")).to_dicts()
    assert moon["low_80"] < moon["expected"] < moon["high_80"]


def test_most_effort_of_a_new_unit_is_that_of_the_others(fit: dgd.Fit) -> None:
    updated = moved(fit)
    most = most_effort(updated.panel, fit.split.train)
    np.testing.assert_array_equal(most[:2], fit.panel.effort[fit.split.train].max(0))
    np.testing.assert_array_equal(most[2], most[:2].max(0))


def test_a_part_with_the_new_unit_knows_what_is_typical(fit: dgd.Fit) -> None:
    """Features of some units are those they have among all."""
    updated = moved(fit, 7, 9)
    units = np.array([2])
    part = panel_of_units(updated.panel, units)
    np.testing.assert_allclose(
        updated.features.of_units(units).summaries(part),
        updated.features.summaries(updated.panel)[:, units],
        rtol=1e-12,
    )


def test_the_shell_names_and_forecasts_new_units(fit: dgd.Fit, tmp_path) -> None:
    model, table, effort = (tmp_path / name for name in ("model.dgd", "new.csv", "effort.csv"))
    fit.save(model)
    joined(fit.panel, np.full(fit.panel.days, 9)).to_frame("polars").write_csv(table)
    dates = fit.panel.period.range(fit.panel.dates[KNOWN], fit.panel.days - KNOWN + 2)
    known = [fit.panel.period.series("date", dates), pl.Series("effort", [1.0] * len(dates))]
    pl.DataFrame(known).write_csv(effort)
    written = tmp_path / "out.csv"
    call = ["forecast", model, "--counts", table, "--effort", effort, "--horizon", 2]
    result = done(*call, "--output", written)
    assert "new to the fit, begun as typical of their cohorts: moon" in result.stderr
    found = pl.read_csv(written)
    assert found.filter(pl.col("unit") == "moon").height == 2 * 3
    known = done("forecast", model, "--origin", "2022-02-06", "--horizon", 2)
    assert "new to the fit" not in known.stderr
