"""Response curves and pushes: what more effort brings, and how long it lasts."""

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

import dgd
from dgd.scenarios import push, response_curve, response_grid
from scenarios.known_crowds import elastic, proportional, tiring, without_feedback
from support.refusals import refused

Known = Callable[..., dgd.Fit]


def test_a_curve_is_the_power_that_was_learned(known: Known) -> None:
    fit = known(without_feedback, partial(elastic, elasticity=[0.5, 0.25]))
    table = response_curve(fit, efforts=[0, 1, 16], horizon=3)
    arrivals = table["arrivals"].to_numpy().reshape(2, 3)
    assert np.allclose(arrivals[:, 0], 0)
    assert np.allclose(arrivals[:, 2] / arrivals[:, 1], [4.0, 2.0])
    assert table["learned"].all()
    assert table["seen"].to_list() == [True, True, False] * 2


def test_one_cohort_or_all_together(known: Known) -> None:
    fit = known(without_feedback, proportional)
    each = response_curve(fit, efforts=[2], horizon=3)
    one = response_curve(fit, "devoted", efforts=[2], horizon=3)
    together = response_curve(fit, "all", efforts=[2], horizon=3)
    assert one.equals(each.filter(pl.col("cohort") == "devoted"))
    assert np.isclose(together["arrivals"].sum(), each["arrivals"].sum())
    assert not each["learned"].any()


def test_a_grid_adds_up_to_its_curve(two_seeds: dgd.Fit) -> None:
    """Summed over days a grid of effort is the response curve, of every cohort and of all."""
    grid = response_grid(two_seeds, "effort", [0.5, 1, 2], horizon=4)
    assert grid.columns == ["cohort", "multiple", "date", "series", "expected", "seen"]
    summed = grid.group_by("cohort", "multiple", "series", maintain_order=True).agg(
        pl.col("expected").sum(), pl.col("seen").all()
    )
    for cohort in ("all", "casual", "devoted"):
        curve = response_curve(two_seeds, cohort, [0.5, 1, 2], horizon=4)
        own = summed.filter(pl.col("cohort") == cohort)
        for series in ("arrivals", "click", "buy"):
            found = own.filter(pl.col("series") == series)
            assert np.allclose(found["expected"], curve[series])
            assert found["seen"].to_list() == curve["seen"].to_list()


def test_without_feedback_twice_the_people_arrive_twice_as_often(known: Known) -> None:
    grid = response_grid(known(without_feedback, proportional), "size", [1, 2], horizon=3)
    once, twice = (grid.filter(pl.col("multiple") == m)["expected"].to_numpy() for m in (1, 2))
    assert np.allclose(twice, 2 * once)
    with refused("what", "price"):
        response_grid(known(without_feedback), "price")


def test_without_feedback_a_push_lasts_its_day(known: Known) -> None:
    found = push(known(without_feedback, proportional), 2.0, horizon=6)
    assert np.allclose(found.extra[1:], 0.0, atol=1e-9)
    assert found.lasting()["days"].to_list() == [1, 1, 1]


def test_fatigue_takes_back_what_a_push_brings(known: Known) -> None:
    slow, quick = (
        push(known(partial(tiring, effect=-4.0, retention=r)), 3.0, horizon=20) for r in (0.9, 0.3)
    )
    assert (slow.extra[1:, 1:] < 0).all()
    days = [found.lasting()["days"][1] for found in (slow, quick)]
    assert days[0] > days[1] > 1
    table = slow.lasting()
    assert np.allclose(table["on_the_day"] + table["afterwards"], table["in_all"])
    assert "days" in repr(slow)
    assert slow.to_frame().columns == ["date", "arrivals", "click", "buy"]
    assert {"rows", "lasting", "notes", "multiply"} == slow.payload().keys()


def test_wrong_efforts_are_refused(plain_fit: dgd.Fit) -> None:
    with refused("efforts", "-1"):
        response_curve(plain_fit, efforts=[1, -1])
    with refused("cohort", "new"):
        response_curve(plain_fit, "new")
    with refused("multiply"):
        push(plain_fit, 1.0)
