"""Forecasts with ranges: paths add up, intervals are of what is asked, each with its receipt."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.panel.pattern_counts import PatternCounts

ORIGIN = 36
DAYS = 4


@pytest.fixture(scope="module")
def forecast(fit: dgd.Fit) -> dgd.Forecast:
    origin = fit.panel.dates[ORIGIN - 1]
    return fit.forecast(DAYS, origin=origin, levels=[50, 80], paths=300, seed=3)


def test_expected_counts_do_not_depend_on_paths(fit: dgd.Fit, forecast: dgd.Forecast) -> None:
    alone = fit.forecast(DAYS, origin=fit.panel.dates[ORIGIN - 1])
    assert alone.ranges is None
    assert np.array_equal(alone.arrivals, forecast.arrivals)
    shared = ["date", "unit", "cohort", "arrivals", "click"]
    assert alone.to_frame().select(shared).equals(forecast.to_frame().select(shared))


def test_the_same_seed_draws_the_same_paths(fit: dgd.Fit, forecast: dgd.Forecast) -> None:
    origin = fit.panel.dates[ORIGIN - 1]
    again = fit.forecast(DAYS, origin=origin, levels=[50, 80], paths=300, seed=3)
    other = fit.forecast(DAYS, origin=origin, levels=[50, 80], paths=300, seed=4)
    assert again.paths().equals(forecast.paths())
    assert not other.paths().equals(forecast.paths())


def test_parts_add_up_on_every_path(forecast: dgd.Forecast) -> None:
    paths = forecast.paths()
    drawn = forecast.ranges.drawn  # type: ignore[union-attr]
    by_path = paths.group_by("path").agg(pl.col("arrivals").sum()).sort("path")
    assert by_path["arrivals"].to_list() == drawn[..., 0].sum((1, 2, 3)).tolist()
    assert paths.height == 300 * DAYS * 6
    assert (paths["click"] <= paths["arrivals"]).all()


def test_paths_scatter_around_what_is_expected(forecast: dgd.Forecast) -> None:
    mean = forecast.ranges.drawn.mean(0)  # type: ignore[union-attr]
    sd = forecast.ranges.drawn.std(0) / np.sqrt(300)  # type: ignore[union-attr]
    expected = np.concatenate([forecast.arrivals[..., None], forecast.behavior_counts], -1)
    assert (np.abs(mean - expected) < 6 * sd + 0.1 * expected).all()
    assert mean.sum() == pytest.approx(expected.sum(), rel=0.1)


def test_wider_levels_hold_narrower_ones(forecast: dgd.Forecast) -> None:
    for table in (forecast.totals(), forecast.totals(by=["unit", "cohort", "behavior"])):
        assert (table["low_80"] <= table["low_50"]).all()
        assert (table["low_50"] <= table["high_50"]).all()
        assert (table["high_50"] <= table["high_80"]).all()
    cells = forecast.to_frame()
    assert (cells["like_low_80"] <= cells["like_high_80"]).all()
    assert (cells["arrivals_low_80"] >= 0).all()


def test_totals_are_by_whatever_is_kept_apart(forecast: dgd.Forecast) -> None:
    assert forecast.totals().height == DAYS * 4
    assert forecast.totals(by=[]).height == 1
    assert forecast.totals(by=["unit", "behavior"])["unit"].unique().sort().to_list() == [
        "north",
        "south",
    ]
    whole = forecast.totals(by=[])
    assert whole["expected"].item() == pytest.approx(forecast.arrivals.sum())
    ratios = forecast.totals(by=["unit"], ratios={"likes per click": ("like", "click")})
    rate = ratios.filter(series="likes per click")
    shown = forecast.behavior_counts.sum((0, 2))
    assert rate["expected"].to_list() == pytest.approx((shown[:, 1] / shown[:, 0]).tolist())
    assert (rate["low_80"] < rate["expected"]).all()
    assert (rate["expected"] < rate["high_80"]).all()


def test_quantiles_are_those_of_the_paths(forecast: dgd.Forecast) -> None:
    table = forecast.quantiles([0.1, 0.9], by=["date"])
    arrivals = forecast.ranges.drawn[..., 0].sum((2, 3))  # type: ignore[union-attr]
    assert table["q10"].to_list() == np.quantile(arrivals, 0.1, axis=0).tolist()
    with pytest.raises(dgd.InputError, match="from 0 to 1"):
        forecast.quantiles([10])


def test_every_interval_has_its_receipt(fit: dgd.Fit, forecast: dgd.Forecast) -> None:
    receipts = forecast.receipts()
    assert set(receipts["series"]) == {"arrivals", "click, like, share"}
    assert set(receipts["level"]) == {50.0, 80.0}
    # 28 training days, seven of them to warm up, and seven of validation
    assert receipts.filter(horizon=1)["origins"].unique().to_list() == [28]
    assert receipts["coverage"].is_between(30, 100).all()
    said = forecast.promised(["date", "behavior"])
    assert len(said) == receipts.height
    assert "80% ranges of arrivals, 1 day ahead: held" in " ".join(said)


def test_a_level_beyond_the_origins_is_refused_and_said_so(fit: dgd.Fit) -> None:
    forecast = fit.forecast(1, origin=fit.panel.dates[ORIGIN], levels=[80, 99], paths=50)
    assert forecast.totals()["low_99"].is_null().all()
    assert forecast.totals()["low_80"].is_not_null().all()
    refused = forecast.receipts().filter(level=99.0)
    assert refused["note"][0] == "refused: 99% needs 99 past origins, 28 are at hand"
    assert "refused" in " ".join(forecast.promised())


def test_what_was_not_drawn_cannot_be_asked_for(fit: dgd.Fit) -> None:
    forecast = fit.forecast(1, origin=fit.panel.dates[ORIGIN])
    for ask in (forecast.paths, forecast.receipts, lambda: forecast.quantiles([0.5])):
        with pytest.raises(dgd.InputError, match="no paths were drawn"):
            ask()
    assert forecast.promised() == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [({"levels": [0.8]}, "80 for a share"), ({"paths": 0}, "paths is 0"), ({"seed": -1}, "seed")],
)
def test_bad_wishes_are_refused_before_any_work(
    fit: dgd.Fit, no_work: None, given: dict[str, object], said: str
) -> None:
    with pytest.raises(dgd.InputError, match=said):
        fit.forecast(1, **given)  # type: ignore[arg-type]


def test_later_counts_do_not_reach_ranges(fit: dgd.Fit) -> None:
    """Days after the validation days move neither the scatter nor what intervals rest on."""
    patterns = fit.panel.patterns.copy()
    patterns[fit.split.validation_stop :] *= 50
    spoiled = replace(fit, panel=replace(fit.panel, counts=PatternCounts.of(patterns)))
    assert np.array_equal(spoiled.scatter.arrivals, fit.scatter.arrivals)
    assert np.array_equal(spoiled.past(1).drawn, fit.past(1).drawn)
    known = fit.past(1).known
    assert np.array_equal(spoiled.past(1).recorded[known], fit.past(1).recorded[known])


def test_a_fit_whose_panel_ends_with_validation_has_ranges_too(drawn: dgd.Simulated) -> None:
    """Effort of days past the panel is unknown there, and past origins must not ask for it."""
    panel = drawn.panel.through(drawn.panel.dates[34])
    panel = replace(
        panel, effort=panel.effort[:35], features=panel.features[:35], known_dates=panel.dates
    )
    short = dgd.DGD(epochs=5).fit(
        panel, train_end=panel.dates[27], validation_end=panel.dates[34], seeds=[1, 2]
    )
    effort = pl.DataFrame({"date": drawn.panel.dates[35:38], "effort": [1.0] * 3})
    assert short.forecast(3, effort=effort, levels=[80], paths=50).totals().height == 12
