"""Futures that share their chances: each alone is drawn rightly, and differences are real."""

from dataclasses import replace

import numpy as np
import pytest

import dgd
from dgd.forecasting import futures
from dgd.forecasting.futures import paths_at_once
from dgd.forecasting.rollout import expected_days
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing

DAY, DAYS, PATHS = 36, 3, 400


@pytest.fixture(scope="module")
def ahead(fit: dgd.Fit) -> list:
    with computing():
        return days_ahead(fit.panel, fit.features, np.array([DAY]), DAYS)


def doubled(ahead: list) -> list:
    with computing():
        return [replace(day, size=2 * day.size) for day in ahead]


def test_equal_futures_are_equal_path_by_path(fit: dgd.Fit, ahead: list) -> None:
    one, other = fit.draw_futures([ahead, ahead], DAY, fit.panel, PATHS, seed=1)
    assert one.shape == (PATHS, DAYS, 2, 3, 8)
    assert np.array_equal(one, other)


def test_a_future_is_drawn_alike_with_and_without_company(fit: dgd.Fit, ahead: list) -> None:
    alone = fit.draw_futures([ahead], DAY, fit.panel, PATHS, seed=1)[0]
    first = fit.draw_futures([ahead, doubled(ahead)], DAY, fit.panel, PATHS, seed=2)[0]
    assert first.sum() == pytest.approx(alone.sum(), rel=0.06)


def test_more_people_bring_more_on_every_path(fit: dgd.Fit, ahead: list) -> None:
    """Twice the people are about twice the arrivals, and hardly a path has fewer."""
    base, more = fit.draw_futures([ahead, doubled(ahead)], DAY, fit.panel, PATHS, seed=1)
    first_day = base[:, 0].sum((1, 2, 3)), more[:, 0].sum((1, 2, 3))
    assert (first_day[1] >= first_day[0]).all()
    assert first_day[1].mean() == pytest.approx(2 * first_day[0].mean(), rel=0.03)
    # far less noise than two draws apart would have
    apart = fit.draw_futures([ahead], DAY, fit.panel, PATHS, seed=5)[0][:, 0].sum((1, 2, 3))
    shared = (first_day[1] - 2 * first_day[0]).std()
    assert shared < 0.8 * (first_day[1] - 2 * apart).std()


def test_thinned_counts_are_drawn_as_if_alone(fit: dgd.Fit, ahead: list) -> None:
    """Half the people: mean and scatter of the thinned future are those of its own draw."""
    twice = doubled(ahead)
    fewer = fit.draw_futures([twice, ahead], DAY, fit.panel, 4 * PATHS, seed=1)
    ratio = fewer[1][:, 0].sum((1, 2, 3)) / 1.0
    more = fewer[0][:, 0].sum((1, 2, 3)) / 1.0
    assert 2 * ratio.mean() == pytest.approx(more.mean(), rel=0.03)
    busy = (more.var() - more.mean()) / more.mean() ** 2
    assert ratio.var() == pytest.approx(ratio.mean() + busy * ratio.mean() ** 2, rel=0.2)


def test_paths_that_do_not_fit_at_once_are_drawn_in_turns(
    fit: dgd.Fit, ahead: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fit.draw_futures([ahead], DAY, fit.panel, PATHS, seed=1)[0]
    monkeypatch.setattr(futures, "MOST_AT_ONCE", 100 * fit.panel.patterns[0].size)
    turns = fit.draw_futures([ahead, ahead], DAY, fit.panel, PATHS - 1, seed=1)
    assert turns[0].shape == (PATHS - 1, DAYS, 2, 3, 8)
    assert np.array_equal(*turns)
    assert len(np.unique(turns[0].reshape(PATHS - 1, -1), axis=0)) == PATHS - 1
    assert turns[0].sum() == pytest.approx(whole.sum(), rel=0.06)


@pytest.mark.parametrize(
    ("paths", "crowds", "size", "found"),
    [(2000, 3, 100, 2001), (2000, 3, 10_000, 183), (10, 32, 100, 32), (7, 2, 10**9, 2)],
)
def test_turns_are_alike_and_hold_as_many_of_every_crowd(
    paths: int, crowds: int, size: int, found: int
) -> None:
    assert paths_at_once(paths, crowds, size) == found


def test_crowds_may_be_given(fit: dgd.Fit, ahead: list) -> None:
    own = fit.draw_futures([ahead], DAY, fit.panel, 50, seed=1)[0]
    given = fit.draw_futures([ahead], DAY, fit.panel, 50, seed=1, crowds=fit.crowds)[0]
    assert np.array_equal(own, given)


def test_paths_scatter_around_the_forecast(fit: dgd.Fit, ahead: list) -> None:
    found = fit.draw_futures([ahead], DAY, fit.panel, 4 * PATHS, seed=3)[0][:, 0]
    expected = fit.predict(np.array([DAY]), 1).averaged()
    counts = (expected.arrivals[..., None] * expected.patterns)[0, 0, 0]
    error = found.std(0) / np.sqrt(len(found))
    assert (np.abs(found.mean(0) - counts) < 5 * error + 0.02 * counts).all()


def test_drawn_days_and_scores_have_one_dispersion(fit: dgd.Fit, uncorrected: dgd.Fit) -> None:
    """With innovations r is that of past forecasts, without it is the setting's."""
    for one in (fit, uncorrected):
        scored = one.predict(np.array([DAY]), DAYS).dispersion
        drawn = one.scatter.dispersion(DAYS)
        np.testing.assert_allclose(np.broadcast_to(scored, drawn.shape), drawn, rtol=1e-12)
    np.testing.assert_allclose(uncorrected.scatter.dispersion(1), uncorrected.settings.dispersion)


def test_paths_that_are_led_go_where_all_units_go(fit: dgd.Fit, ahead: list) -> None:
    """Whatever is drawn, expected counts are those of the path that all units are expected on."""
    origins = np.array([DAY])
    with computing():
        first = [fit.carried(number, origins) for number in range(2)]
        pairs = zip(fit.crowds, first, strict=True)
        paths = [expected_days(crowd, state, ahead) for crowd, state in pairs]
        led = [
            [
                {name: x[min(step + 1, DAYS - 1)] for name, x in path.carried.carried.items()}
                for step in range(DAYS)
            ]
            for path in paths
        ]
        leading = [futures.stacked(same) for same in zip(*led, strict=True)]
        many = (futures.stacked(fit.crowds), futures.stacked(first))
        walk = futures._Walk(*many, ahead, np.zeros(5, int), leading)
        for step in range(DAYS):
            means = walk.means(step)
            for number, path in enumerate(paths):
                day = path.prediction.arrivals[step, 0]
                same = np.broadcast_to(day, (5, *day.shape))
                np.testing.assert_allclose(means[number].sum(-1), same, rtol=1e-9)
            walk.advance(step, np.full(means.shape, 1000))


def test_some_units_are_drawn_around_what_the_whole_fit_expects(fit: dgd.Fit) -> None:
    part, origin = fit.of_units(["south"]), fit.panel.dates[DAY]
    whole = fit.forecast(DAYS, origin=origin).arrivals[:, 1:]
    found = part.forecast(DAYS, origin=origin, paths=4 * PATHS)
    np.testing.assert_allclose(found.arrivals, whole, rtol=1e-9)
    drawn = found.ranges.drawn[..., 0]  # type: ignore[union-attr]
    error = drawn.std(0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(0) - whole) < 5 * error + 0.02 * whole).all()
