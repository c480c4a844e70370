"""Fits whose arrivals and patterns are corrected by innovations, from training to scenarios."""

from dataclasses import replace
from pathlib import Path

import equinox as eqx
import numpy as np
import polars as pl
import pytest

import dgd
from dgd.errors import InputError
from dgd.learning import variances
from dgd.learning.variances import _posterior
from dgd.model.sweep import observe
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing


@pytest.fixture(scope="module")
def corrected(drawn: dgd.Simulated) -> dgd.Fit:
    dates = drawn.panel.dates
    model = dgd.DGD(epochs=3)
    return model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1])


def test_settings_say_what_auto_came_to(corrected: dgd.Fit) -> None:
    settings = corrected.settings
    assert (settings.innovations, settings.calendar, settings.summaries) == (
        "learned",
        "none",
        "none",
    )


def test_events_by_their_own_context_are_corrected_by_nothing() -> None:
    settings = dgd.DGD(supervision="events").resolved()
    assert (settings["innovations"], settings["summaries"]) == ("none", "history")


def test_features_that_are_asked_for_stay() -> None:
    settings = dgd.DGD(calendar="weekday", summaries="history").resolved()
    assert (settings["calendar"], settings["summaries"]) == ("weekday", "history")


def test_the_paper_has_no_innovations() -> None:
    assert dgd.DGD.paper().resolved()["innovations"] == "none"


def test_a_saved_fit_forecasts_the_same(corrected: dgd.Fit, tmp_path: Path) -> None:
    corrected.save(tmp_path / "fit.dgd")
    origin = corrected.panel.dates[34]
    again = dgd.load(tmp_path / "fit.dgd").forecast(5, origin=origin)
    np.testing.assert_array_equal(again.arrivals, corrected.forecast(5, origin=origin).arrivals)


def test_a_counted_day_corrects_the_next_forecast(corrected: dgd.Fit) -> None:
    """A day that is three times as busy is followed by a busier forecast."""
    panel = corrected.panel
    counts = panel.patterns.copy()
    counts[34] *= 3
    busier = replace(corrected, panel=replace(panel, counts=type(panel.counts).of(counts)))
    before, after = (
        one.forecast(1, origin=panel.dates[34]).arrivals.sum() for one in (corrected, busier)
    )
    assert after > 1.05 * before


def test_forecast_and_scenario_start_from_the_same_path(corrected: dgd.Fit) -> None:
    origin = corrected.panel.dates[34]
    forecast = corrected.forecast(5, origin=origin)
    compared = corrected.scenario(
        {"what": "effort", "how": "multiply", "value": 2.0}, 5, origin=origin, paths=0
    )
    rows = compared.to_frame("polars").filter(pl.col("series") == "arrivals")
    np.testing.assert_allclose(rows["baseline"].sum(), forecast.arrivals.sum(), rtol=1e-12)


def test_drawn_futures_are_centred_on_the_forecast(corrected: dgd.Fit) -> None:
    origin = corrected.panel.dates[34]
    ranges = corrected.forecast(3, origin=origin, levels=[80], paths=4000)
    drawn = ranges.totals(by=["date"]).filter(series="arrivals")
    expected = corrected.forecast(3, origin=origin).arrivals.sum((1, 2))
    assert (drawn["low_80"].to_numpy() < expected).all()
    assert (drawn["high_80"].to_numpy() > expected).all()


def test_variances_are_at_the_mode_of_all_days_before_the_test_days(corrected: dgd.Fit) -> None:
    """No small step from them is more likely, though steps from where they start are."""
    crowd, split = corrected.crowds[0], corrected.split
    with computing():
        days = recorded_days(corrected.panel, corrected.features, 0, split.validation_stop, 50.0)
        inputs, outcomes = days
        expected = observe(crowd, *days, crowd.at_rest()).uncorrected

        def posterior(moved: float, name: str = "walk") -> tuple[float, float]:
            innovations = eqx.tree_at(
                lambda i: getattr(i.patterns, name),
                crowd.innovations,
                replace_fn=lambda x: x + moved,
            )
            given = (innovations, expected, inputs.season, outcomes)
            value, slope = _posterior(innovations.patterns, *given)
            return float(value), float(getattr(slope, name).sum())

        here = posterior(0.0)[0]
        for name in ("first", "walk", "quick", "retention", "season"):
            assert max(posterior(step, name)[0] for step in (-0.5, 0.5)) < here + 1e-3


def test_a_crowd_that_did_not_help_stays_as_it_started(
    drawn: dgd.Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever training did to the crowd, here for the worse, is taken back."""
    seen = {}
    settle = variances._at_the_mode

    def kept(crowd, *days):
        seen["crowd"] = crowd
        return settle(crowd, *days)

    monkeypatch.setattr(variances, "_at_the_mode", kept)
    real = variances.with_variances

    def spoilt(runs, attempts, objective):
        worse = tuple(
            replace(
                run,
                parameters=eqx.tree_at(
                    lambda c: c.response.free_loading, run.parameters, replace_fn=lambda x: x + 9.0
                ),
            )
            for run in runs
        )
        return real(worse, attempts, objective)

    monkeypatch.setattr("dgd.estimator.with_variances", spoilt)
    dates = drawn.panel.dates
    dgd.DGD(epochs=1).fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1], progress=False
    )
    assert np.abs(np.asarray(seen["crowd"].response.free_loading)).max() < 2.0


def test_training_is_kept_where_experience_moves_a_crowd() -> None:
    """Sixty days of a world with memory, fatigue and shift of its own."""
    panel = dgd.simulate(dgd.example_world(), 60, seed=2).panel
    ends = {"train_end": panel.dates[31], "validation_end": panel.dates[45]}
    fit = dgd.DGD(epochs=25).fit(panel, **ends, seeds=[1], progress=False)
    assert fit.runs[0].best_epoch > 0
    assert "feedback" in fit.summary("polars")["rests on"].item()


def test_evidence_names_every_part_and_finds_none_in_what_does_nothing(
    corrected: dgd.Fit,
) -> None:
    crowd = corrected.crowds[0]
    with computing():
        calm = tuple(
            eqx.tree_at(lambda memory: memory.effect, part, replace_fn=lambda x: x * 0.0)
            if part.name == "memory"
            else part
            for part in crowd.feedback.carried
        )
        idle = replace(crowd, feedback=replace(crowd.feedback, carried=calm))
    table = corrected.with_crowds([idle]).evidence("polars")
    assert {"heterogeneity", "memory", "fatigue", "shift"} <= set(table["part"])
    assert {f"innovations of {of}: cell" for of in ("arrivals", "patterns")} <= set(table["part"])
    assert table["days"].unique().to_list() == [7]
    assert table.filter(part="memory")["gain"].item() == pytest.approx(0.0, abs=1e-9)
    assert (table["standard_error"] >= 0).all()


def test_what_innovations_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match='choose supervision "counts"'):
        dgd.DGD(innovations="learned", supervision="events")


def test_few_lucky_days_are_no_gain() -> None:
    """Days that were trained on are on its side; six better ones on average do not suffice."""
    lucky = np.array([0.02, -0.01, 0.03, 0.0, 0.02, -0.005])
    assert not variances._is_gain(lucky)
    assert not variances._is_gain(np.array([0.5]))
    assert variances._is_gain(np.tile(lucky, 6))
