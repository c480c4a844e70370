"""What weekdays, features and effort do, in words and per cent."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.learning.effects import effects_table
from dgd.model.effort import Proportional
from dgd.runtime import computing
from support.effort_worlds import elastic, elastic_world, scattered_effort
from support.untrained import untrained

COLUMNS = ["input", "on", "cohort", "per", "percent", "low", "high", "words"]


@pytest.fixture(scope="module")
def fit(uncorrected: dgd.Fit) -> dgd.Fit:
    """One with weekday effects among its features."""
    return uncorrected


@pytest.fixture(scope="module")
def table(fit: dgd.Fit) -> pl.DataFrame:
    return fit.effects("polars", draws=40)


def with_saturday(fit: dgd.Fit, *effects: float) -> list[dgd.model.Crowd]:
    """Crowds whose Saturdays change log arrivals by the given effects, whatever the scale."""
    place = fit.features.names(fit.panel).index("Saturday")
    scale = fit.features.known_scaling.scale[place]
    with computing():
        return [
            eqx.tree_at(
                lambda c: c.arrival.feature_effect,
                fit.crowds[0],
                fit.crowds[0].arrival.feature_effect.at[place].set(effect * scale),
            )
            for effect in effects
        ]


def saturday(crowds: list[dgd.model.Crowd], fit: dgd.Fit) -> dict[str, object]:
    found = effects_table(crowds, fit.features, fit.panel)
    return found.filter(input="Saturday", on="arrivals").row(0, named=True)


def test_there_is_a_row_for_everything_that_moves_something(table: pl.DataFrame) -> None:
    assert table.columns == COLUMNS
    weekdays = table.filter(pl.col("input") != "effort")
    assert len(weekdays) == 6 * (1 + 3)
    assert set(weekdays["per"]) == {"against Monday"}
    assert weekdays["cohort"].null_count() == len(weekdays)
    effort = table.filter(input="effort")
    assert effort["cohort"].to_list() == ["casual", "regular", "devoted"]
    assert set(effort["per"]) == {"doubled"}


def test_intervals_lie_around_the_effect_and_words_are_sentences(table: pl.DataFrame) -> None:
    assert (table["low"] <= table["percent"]).all()
    assert (table["percent"] <= table["high"]).all()
    assert table["words"].str.ends_with(").").all()
    assert table.filter(input="effort")["low"].min() >= 0


def test_coefficients_are_turned_back_to_the_scale_of_the_feature(fit: dgd.Fit) -> None:
    row = saturday(with_saturday(fit, *[np.log(0.88)] * 3), fit)
    assert row["percent"] == pytest.approx(-12.0)
    assert row["words"] == "On Saturdays 12 % fewer arrive than on Mondays (12 to 12 % fewer)."


def test_an_interval_with_both_signs_tells_no_difference(fit: dgd.Fit) -> None:
    row = saturday(with_saturday(fit, *np.linspace(-0.2, 0.3, 101)), fit)
    assert row["words"].startswith("On Saturdays: no difference can be told (16 % fewer to ")


def test_effort_that_was_never_varied_is_called_an_assumption(fit: dgd.Fit) -> None:
    crowds = [replace(crowd, effort=Proportional()) for crowd in fit.crowds]
    rows = effects_table(crowds, fit.features, fit.panel).filter(input="effort")
    assert rows["percent"].to_list() == [100.0, 100.0, 100.0]
    assert rows["low"].null_count() == 3
    assert rows["words"].str.contains("never varied in training").all()
    assert rows["words"].str.contains("an assumption").all()


def test_twice_the_effort_is_the_power_of_the_elasticity(fit: dgd.Fit) -> None:
    crowds = [replace(crowd, effort=elastic(0.5, usual=1.7)) for crowd in fit.crowds]
    rows = effects_table(crowds, fit.features, fit.panel).filter(input="effort")
    np.testing.assert_allclose(rows["percent"], 100 * (np.sqrt(2) - 1))
    assert rows["words"][0] == (
        "At twice the usual effort 41 % more arrive in cohort casual (41 to 41 % more)."
    )


def test_a_panel_without_effort_has_no_row_for_it(fit: dgd.Fit) -> None:
    bare = replace(fit.panel, has_effort=False)
    found = effects_table(fit.crowds, fit.features, bare)
    assert not found["input"].is_in(["effort"]).any()


def test_where_nothing_moves_anything_nothing_is_drawn(
    drawn: dgd.Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(drawn.panel, has_effort=False, effort=np.ones_like(drawn.panel.effort))
    fit = untrained(dgd.DGD(calendar="none"), plain)
    monkeypatch.setattr(dgd.Fit, "_drawn_around", lambda *_: pytest.fail("something was drawn"))
    assert fit.effects("polars").is_empty()
    assert fit.effects("polars").columns == COLUMNS


def test_own_features_are_told_per_unit_and_standing_ones_not_at_all(fit: dgd.Fit) -> None:
    panel = fit.panel
    days = np.arange(len(panel.known_dates))
    own = np.stack([np.sin(days), np.ones(len(days))], -1)
    shape = (len(days), *panel.effort.shape[1:], 2)
    features = np.broadcast_to(own[:, None, None], shape).copy()
    named = replace(panel, features=features, feature_names=("tide", "rock"))
    scaling = fit.features.known_scaling
    wider = replace(
        scaling,
        center=np.append(scaling.center, [0, 1]),
        scale=np.append(scaling.scale, [0.5, np.inf]),
    )
    maker = replace(fit.features, known_scaling=wider)
    with computing():
        crowds = []
        for crowd in fit.crowds:
            effect = jnp.insert(crowd.arrival.feature_effect, 6, jnp.array([np.log(1.2) / 2, 9.0]))
            of_behaviors = jnp.insert(crowd.response.feature_effect, 6, 0.0, axis=0)
            of_behaviors = jnp.insert(of_behaviors, 6, 0.0, axis=0)
            crowds.append(
                eqx.tree_at(
                    lambda c: (c.arrival.feature_effect, c.response.feature_effect),
                    crowd,
                    (effect, of_behaviors),
                )
            )
    found = effects_table(crowds, maker, named)
    assert not (found["input"] == "rock").any()
    row = found.filter(input="tide", on="arrivals").row(0, named=True)
    assert row["per"] == "per unit"
    assert row["percent"] == pytest.approx(20.0)
    assert row["words"] == "With every unit of tide 20 % more arrive (20 to 20 % more)."


@pytest.mark.long
def test_known_effects_are_inside_their_intervals() -> None:
    """Where nothing is carried over, so that a weekday's effect is all that happens on it; those
    of a draw share their Mondays and miss together."""
    world = elastic_world(0.5, feedback=False)
    truth = 100 * np.expm1(np.array([0.0, 0.05, 0.1, 0.25, 0.45, 0.3]))
    twice = 100 * (np.sqrt(2) - 1)
    inside: dict[str, list[bool]] = {"weekdays": [], "behaviors": [], "effort": []}
    for seed in range(6):
        panel = dgd.simulate(world, 84, seed, effort=scattered_effort(84, seed)).panel
        dates = panel.dates
        fit = dgd.DGD().fit(panel, train_end=dates[69], validation_end=dates[76], seeds=[1, 2])
        found = fit.effects("polars")
        of_effort = pl.col("input") == "effort"
        for name, rows, true in (
            ("weekdays", found.filter(~of_effort, on="arrivals"), truth),
            ("behaviors", found.filter(pl.col("on") != "arrivals"), 0.0),
            ("effort", found.filter(of_effort), twice),
        ):
            inside[name] += ((rows["low"] <= true) & (rows["high"] >= true)).to_list()
    assert np.mean(inside["weekdays"]) >= 0.8
    assert np.mean(inside["behaviors"]) >= 0.8
    assert np.mean(inside["effort"]) >= 0.7
