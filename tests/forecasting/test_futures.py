"""Futures that share their chances: each alone is drawn rightly, and differences are real."""

from dataclasses import replace

import numpy as np
import pytest

import dgd
from dgd.forecasting import futures
from dgd.forecasting.futures import paths_at_once
from dgd.forecasting.pool import Pool, fading
from dgd.panel.continuing import repeated_through
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


def test_shares_fade_beyond_what_was_earned() -> None:
    found = fading(0.8, 7, 28)
    assert (found[:7] == 0.8).all()
    assert found[13] == pytest.approx(0.4)
    assert found[27] == pytest.approx(0.1)
    assert (np.diff(found[6:]) < 0).all()


def test_a_pool_without_anchor_is_the_model() -> None:
    model = np.array([[[1.0]]])
    assert Pool.of_the_model(3).arrivals_at(2, model) is model


def test_far_ahead_forecasts_flatten_to_the_anchor(anchored: dgd.Fit) -> None:
    """However much the model has earned, a season ahead it is hardly heard."""
    fit = anchored
    assert fit.anchor is not None
    believed = replace(fit.anchor, pattern_share=1.0, arrival_share=1.0, reach=7)
    trusting, panel = replace(fit, anchor=believed), repeated_through(fit.panel, DAY + 121)
    origins = np.array([DAY])
    near, far = trusting.predict(origins, 120, panel), believed.pool(panel, origins, 120)
    assert far.patterns is not None
    assert far.arrivals is not None
    model = fit.unanchored.predict(origins, 3, panel)
    np.testing.assert_allclose(near.patterns[:, 2], model.patterns[:, 2])
    np.testing.assert_allclose(near.patterns[0, -1], far.patterns[-1], atol=1e-4)
    np.testing.assert_allclose(near.arrivals[0, -1], far.arrivals[-1], rtol=1e-3)
