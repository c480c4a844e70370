"""What is carried from day to day: the model's own states, and words that they bear out."""

from dataclasses import fields

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.forecasting.rollout import states_at_dawn
from dgd.learning.carried_days import COLUMNS
from dgd.learning.feedback_moves import half_life, moves_table
from dgd.learning.feedback_words import feedback_sentences
from dgd.model.crowd import Crowd
from dgd.model.feedback.fatigue import Fatigue
from dgd.runtime import computing
from support.shaken import shaken
from support.untrained import untrained


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(dim=2, nodes=3, innovations="none"), drawn.panel), scale=0.4)


def test_every_number_that_is_carried_has_its_row(some_fit: dgd.Fit) -> None:
    table, panel = some_fit.feedback("polars"), some_fit.panel
    assert tuple(table.columns) == COLUMNS
    days = panel.days - some_fit.split.first + 1
    series = len(panel.cohorts) * (len(panel.behaviors) + 1 + 2) + 1 + len(panel.units)
    assert table.height == len(some_fit.seeds) * days * series
    assert table["state"].unique(maintain_order=True).to_list() == [
        "memory",
        "fatigue",
        "shift",
        "environment",
    ]
    assert table["date"].max() > panel.period.series("", panel.dates).max()
    for number, seed in enumerate(some_fit.seeds):
        own, state = table.filter(seed=seed), some_fit.states[number]
        for h, name in enumerate(panel.behaviors):
            found = own.filter(state="memory", of=name, who=panel.cohorts[1])["value"]
            np.testing.assert_array_equal(found, np.asarray(state.carried["memory"])[:, 1, h])
        shift = own.filter(state="shift", of="dimension 2", who=panel.cohorts[0])["value"]
        np.testing.assert_array_equal(shift, np.asarray(state.carried["shift"])[:, 0, 1])
        unit = own.filter(state="environment", of="unit", who=panel.units[1])["value"]
        np.testing.assert_array_equal(unit, np.asarray(state.environment.unit)[:, 1])
        common = own.filter(state="environment", who="all")["value"]
        np.testing.assert_array_equal(common, np.asarray(state.environment.common))


def test_memory_stands_beside_the_rate_it_settles_at(some_fit: dgd.Fit) -> None:
    table = some_fit.feedback("polars")
    memory = table.filter(state="memory", seed=1, of=some_fit.panel.behaviors[2])
    rates = np.asarray(some_fit.crowds[0].reference.rates)
    for g, cohort in enumerate(some_fit.panel.cohorts):
        assert memory.filter(who=cohort)["reference"].unique().to_list() == [rates[g, 2]]
    assert table.filter(pl.col("state") != "memory")["reference"].is_null().all()


class Restlessness(Fatigue):
    """A state that dgd does not know, with two numbers a cohort and no word for them."""

    name = "restlessness"

    def at_rest(self, cohorts: int) -> jax.Array:
        return jnp.zeros((1, cohorts, 2))

    def input(self, signal, today, reference):  # type: ignore[no-untyped-def]
        added = super().input(signal, today, reference)
        return jnp.stack([added, 2 * added], -1)

    def logit_effect(self, state: jax.Array) -> jax.Array:
        return super().logit_effect(state.sum(-1))


def test_a_new_state_is_told_like_the_others(some_fit: dgd.Fit) -> None:
    with computing():
        crowds = []
        for crowd in some_fit.crowds:
            fatigue = crowd.feedback.carried[1]
            more = (*crowd.feedback.carried, Restlessness(fatigue.raw_retention, fatigue.effect))
            crowds.append(eqx.tree_at(lambda c: c.feedback.carried, crowd, more))
    restless = some_fit.with_crowds(crowds)
    table = restless.feedback("polars").filter(state="restlessness")
    assert table["of"].unique(maintain_order=True).to_list() == ["1", "2"]
    assert any("restlessness" in text.lower() for text in restless.feedback_in_words())


def test_without_dynamics_nothing_is_carried(drawn: dgd.Simulated) -> None:
    still = untrained(dgd.DGD(dynamics="none"), drawn.panel)
    table = still.feedback("polars")
    assert table.is_empty()
    assert tuple(table.columns) == COLUMNS
    assert still.feedback_in_words() == (
        "Nothing is carried from one day to the next: every day starts afresh.",
    )


def without(crowd: Crowd, number: int) -> Crowd:
    """The same crowd, in which one state takes nothing in."""

    class Resting(type(crowd.feedback.carried[number])):
        def input(self, signal, today, reference):  # type: ignore[no-untyped-def]
            return jnp.zeros_like(super().input(signal, today, reference))

    part = crowd.feedback.carried[number]
    resting = Resting(*(getattr(part, field.name) for field in fields(part)))
    carried = crowd.feedback.carried
    others = (*carried[:number], resting, *carried[number + 1 :])
    return eqx.tree_at(lambda c: c.feedback.carried, crowd, others)


@pytest.mark.parametrize("number", [0, 1, 2], ids=["memory", "fatigue", "shift"])
def test_a_swing_is_what_would_be_missing_without_the_state(some_fit: dgd.Fit, number: int) -> None:
    """Fatigue has its share in the shift that it drives."""
    panel, crowd, state = some_fit.panel, some_fit.crowds[0], some_fit.states[0]
    shape = (len(panel.cohorts), len(panel.behaviors))
    with computing():
        table = moves_table(some_fit.crowds, some_fit.seeds, some_fit.states, panel.behaviors)
        part = crowd.feedback.carried[number]
        bare = states_at_dawn(without(crowd, number), *some_fit._recorded)
        missing = [
            np.asarray(
                crowd.feedback.logit_effect(one, *shape)
                + crowd.moved(one) @ crowd.response.loading.T
                - crowd.feedback.environment.logit_effect(one.environment)[:, None]
            )
            for one in (state, bare)
        ]
        kept = float(part.retention)
    difference = missing[0] - missing[1]
    later = difference[min(int(np.ceil(3 * half_life(kept))), len(difference) // 2) :]
    low, high = np.quantile(later, (0.05, 0.95), axis=0)
    expected = 100 * np.expm1((high - low).max(0))
    found = table.filter(seed=1, state=part.name)["percent"].to_list()
    np.testing.assert_allclose(found[1:], expected, rtol=1e-6)
    assert part.name != "memory" or found[0] == 0.0, "memory moves no arrivals"


# Words, from tables made by hand


def said(kept: dict[str, list[float]], moved: dict[str, dict[str, float]]) -> tuple[str, ...]:
    """Sentences on factors of two seeds, and what both find that each state moves."""
    dynamics = pl.DataFrame(
        [(n, name, value) for name, values in kept.items() for n, value in enumerate(values)],
        schema=["seed", "factor", "value"],
        orient="row",
    )
    moves = pl.DataFrame(
        [
            (seed, state, on, float(percent))
            for seed in (0, 1)
            for state, by in moved.items()
            for on, percent in by.items()
        ],
        schema=["seed", "state", "on", "percent"],
        orient="row",
    )
    return feedback_sentences(dynamics, moves, "day")


def test_what_lasts_is_told_by_its_half_life() -> None:
    kept = {"memory retention": [0.5 ** (1 / 6)] * 2}
    assert said(kept, {"memory": {"arrivals": 0.0, "click": 12.0}}) == (
        "Half of what people remember is gone after 6 days. Between its low and its high days it "
        "moves the odds of click by up to 12 %.",
    )


def test_how_long_something_lasts_is_not_told_where_it_moves_nothing() -> None:
    (text,) = said({"fatigue retention": [0.9] * 2}, {"fatigue": {"arrivals": 0.1, "click": 1.9}})
    assert text == "Fatigue hardly moves anything here, so how long it lasts cannot be told."


def test_half_lives_of_seeds_that_disagree_are_told_by_their_ends() -> None:
    kept = {"shift retention": [0.5 ** (1 / 2), 0.5 ** (1 / 20)]}
    (text,) = said(kept, {"shift": {"arrivals": 5.0, "click": 250.0}})
    assert "gone after 2 to 20 days, as seeds have it" in text
    assert "the odds of click by a factor of up to 3.5 and arrivals by up to 5 %" in text


def test_the_environment_is_told_by_what_a_surprise_does() -> None:
    kept = {"environment retention": [0.5 ** (1 / 3)] * 2, "common correction": [0.5] * 2}
    (text,) = said(kept, {"environment": {"arrivals": 30.0}})
    assert text == (
        "After a day with 10 % more arrivals than expected, 4.9 % more are expected of the next; "
        "half of that is gone after 3 days. Between its low and its high days it moves arrivals "
        "by up to 30 %."
    )
