"""Events with a context of their own: counting, training, and equality with counts."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from jax.flatten_util import ravel_pytree

import dgd
from dgd.diagnostics.gradients import value_and_slope
from dgd.errors import InputError
from dgd.learning.starts import reference_rates
from dgd.model.context import EventContext
from dgd.model.observation import integrate
from dgd.panel.contexts import EventCounts
from dgd.panel.features import FeatureMaker
from dgd.panel.sequences import recorded_events
from dgd.runtime import computing
from support.objectives import objective
from support.random_crowds import BEHAVIORS, random_crowd, random_days
from support.shell import assert_refused, done, run

OBJECTIVE = objective(penalty_weight=0.01, behavior_penalty=3.0, calendar_penalty=2.0)
DAYS = 6


def by_event(outcomes, form):
    """The same counts as groups of events without context: one by one, or a group a cell."""
    counts = np.moveaxis(np.asarray(outcomes.patterns), 0, -1).astype(int)
    events = EventCounts.of_cells(counts)
    if form == "one by one":
        events = events.one_by_one()
        assert len(events.cell) == counts.sum()
    return replace(outcomes, events=events.groups(*counts.shape[:3]))


def without_context(crowd):
    return replace(crowd, context=EventContext(jnp.asarray(np.zeros((0, BEHAVIORS)))))


@eqx.filter_jit
@eqx.filter_value_and_grad
def told(crowd, inputs, outcomes):
    """How likely the recorded patterns are to a crowd at rest."""
    state = jax.tree.map(lambda x: jnp.repeat(x, DAYS, 0), crowd.at_rest())
    nodes = crowd.at_nodes(state, inputs)
    found = integrate(nodes, crowd.response.dependence)
    return crowd.log_likelihood(nodes, found, outcomes).sum()


@pytest.mark.parametrize("form", ["one by one", "grouped"])
def test_events_that_share_context_are_as_likely_as_their_counts(form):
    """Appendix B.1, up to the number of orderings, which no parameter moves."""
    with computing():
        crowd, (inputs, outcomes) = random_crowd(1), random_days(1)
        theirs, expected = told(crowd, inputs, outcomes)
        ours, gradient = told(without_context(crowd), inputs, by_event(outcomes, form))
        slope, expected = (np.asarray(ravel_pytree(g)[0]) for g in (gradient, expected))
    assert float(ours) == pytest.approx(float(theirs), rel=1e-13)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(slope, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_events_that_share_context_train_like_their_counts():
    """Appendix B.1 for the whole objective, both branches of feedback included."""
    with computing():
        crowd, (inputs, outcomes) = random_crowd(1), random_days(1)
        told_by_events = (without_context(crowd), inputs, by_event(outcomes, "one by one"))
        ours, slope = value_and_slope(OBJECTIVE, *told_by_events)
        theirs, expected = value_and_slope(OBJECTIVE, crowd, inputs, outcomes)
    assert ours == pytest.approx(theirs, abs=1e-13)
    np.testing.assert_allclose(slope, expected, atol=1e-14)


def test_without_context_columns_every_cell_is_one_group(drawn):
    panel = drawn.panel
    split = dgd.Split(0, 28, 35)
    maker = FeatureMaker.fitted(panel, split, reference_rates(panel, split.warmup), "none", 0.8)
    with computing():
        _, outcomes = recorded_events(panel, maker, 0, 28, 50.0)
        groups = outcomes.events
    cells = panel.arrivals[:28].ravel()
    assert groups.context.shape == (len(cells), 0)
    np.testing.assert_array_equal(groups.cell, np.nonzero(cells)[0])
    np.testing.assert_array_equal(np.asarray(groups.patterns).sum(0), cells[cells > 0])


@pytest.fixture(scope="module")
def hourly():
    """Counts whose click rate depends on an hour of the event, beside the cell."""
    rng = np.random.default_rng(4)
    rows = []
    for day in range(24):
        for cohort in ("a", "b"):
            for hour in (0.0, 1.0, 2.0):
                people = rng.poisson(30)
                clicks = rng.binomial(people, 1 / (1 + np.exp(1.5 - 1.0 * hour)))
                likes = rng.binomial(clicks, 0.5)
                for click, like, count in (
                    (0, 0, people - clicks), (1, 0, clicks - likes), (1, 1, likes),
                ):  # fmt: skip
                    if count:
                        rows.append((f"2022-01-{day + 1:02}", cohort, hour, click, like, count))
    return pl.DataFrame(
        rows, schema=["date", "cohort", "hour", "click", "like", "count"], orient="row"
    )


@pytest.fixture(scope="module")
def panel(hourly):
    return dgd.Panel.from_counts(hourly, unit=None, behaviors=["click", "like"], context=["hour"])


def test_contexts_of_a_cell_add_up_to_its_counts(panel, hourly):
    plain = dgd.Panel.from_counts(
        hourly.group_by("date", "cohort", "click", "like").agg(pl.col("count").sum()),
        unit=None,
        behaviors=["click", "like"],
    )
    np.testing.assert_array_equal(panel.patterns, plain.patterns)
    events = panel.events
    assert events.names == ("hour",)
    assert len(events.cell) == 24 * 2 * 3
    total = np.zeros_like(panel.patterns)
    np.add.at(total, tuple(events.cell.T), events.patterns)
    np.testing.assert_array_equal(total, panel.patterns)
    earlier = panel.through("2022-01-10")
    assert len(earlier.events.cell) == 10 * 2 * 3


def test_contexts_survive_the_round_trip_through_a_table(panel):
    again = dgd.Panel.from_counts(panel.to_frame(), behaviors=["click", "like"], context=["hour"])
    np.testing.assert_array_equal(again.patterns, panel.patterns)
    np.testing.assert_array_equal(again.events.context, panel.events.context)
    np.testing.assert_array_equal(again.events.patterns, panel.events.patterns)


ENDS = {"train_end": "2022-01-14", "validation_end": "2022-01-19"}
TAUGHT = {
    "supervision": "events",
    "behavior_penalty": 1.0,
    "start": "training",
    "dynamics": "none",
}


@pytest.fixture(scope="module")
def taught(panel):
    return dgd.DGD(**TAUGHT, epochs=60).fit(panel, **ENDS, seeds=[1])


def test_events_teach_what_their_context_does(taught):
    effect = np.asarray(taught.crowds[0].context.effect)
    deviation = taught.features.context_scaling.scale[0]
    assert effect.shape == (1, 2)
    assert effect[0, 0] / deviation == pytest.approx(1.0, abs=0.25)


def test_a_fit_to_events_survives_save_and_load(taught, tmp_path):
    taught.save(tmp_path / "events.dgd")
    loaded = dgd.load(tmp_path / "events.dgd")
    assert loaded.panel.events.names == ("hour",)
    np.testing.assert_array_equal(loaded.panel.events.patterns, taught.panel.events.patterns)
    ours, theirs = taught.forecast(2).to_frame("polars"), loaded.forecast(2).to_frame("polars")
    assert ours.equals(theirs)


def test_later_events_do_not_move_a_fit(taught, panel):
    until = panel.through(ENDS["validation_end"])
    assert len(until.events.cell) < len(panel.events.cell)
    short = dgd.DGD(**TAUGHT, epochs=60).fit(until, **ENDS, seeds=[1])
    ours, theirs = (np.asarray(fit.crowds[0].context.effect) for fit in (taught, short))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_without_context_columns_supervision_by_events_is_supervision_by_counts():
    world = dgd.example_world(units=["shop"], cohorts=["all"], behaviors=["click"], arrivals=10.0)
    panel = dgd.simulate(world, 24, seed=5).panel
    light = {"dynamics": "none", "calendar": "none", "expected_weight": 0.0, "start": "warmup"}
    by_events, by_counts = (
        dgd.DGD(**light, supervision=supervision, epochs=20).fit(
            panel, train_end=panel.dates[16], validation_end=panel.dates[20], seeds=[1]
        )
        for supervision in ("events", "counts")
    )
    assert by_events.runs[0].best_epoch > 0
    ours, theirs = (fit.predict(np.array([20]), 2) for fit in (by_events, by_counts))
    np.testing.assert_allclose(ours.arrivals, theirs.arrivals, rtol=1e-9)
    np.testing.assert_allclose(ours.patterns, theirs.patterns, rtol=1e-9)


def test_bad_contexts_are_refused(hourly):
    def read(table, context):
        return dgd.Panel.from_counts(table, unit=None, behaviors=["click", "like"], context=context)

    with pytest.raises(InputError, match='context is the text "hour"; give a list'):
        read(hourly, "hour")
    with pytest.raises(InputError, match='context names "click", which is in use'):
        read(hourly, ["click"])
    with pytest.raises(InputError, match='counts has no column "minute"'):
        read(hourly, ["minute"])
    with pytest.raises(InputError, match=r'counts row 1, column hour: "noon" .* is not a number'):
        read(hourly.with_columns(hour=pl.lit("noon")), ["hour"])
    with pytest.raises(InputError, match="both give a count for date"):
        read(pl.concat([hourly, hourly.head(1)]), ["hour"])


def test_events_are_counted_by_context():
    events = pl.DataFrame(
        {
            "day": ["2022-01-01"] * 5,
            "hour": [1, 1, 2, 2, 2],
            "click": [1, 1, 0, 1, 0],
        }
    )
    counts = dgd.count_events(
        events, dgd.Clock("day", timezone="UTC"), behaviors=["click"], context=["hour"]
    )
    assert counts.columns == ["date", "unit", "cohort", "hour", "click", "count"]
    assert counts.select("hour", "click", "count").rows() == [(1, 1, 2), (2, 0, 2), (2, 1, 1)]


def test_contexts_that_cannot_be_counted_are_refused():
    def count(hours):
        events = pl.DataFrame({"day": ["2022-01-01"] * 3, "hour": hours, "click": [1, 0, 1]})
        return dgd.count_events(
            events, dgd.Clock("day", timezone="UTC"), behaviors=["click"], context=["hour"]
        )

    with pytest.raises(InputError, match=r'column hour: "noon" is not a number, in 2 rows'):
        count(["noon", "noon", "1"])
    with pytest.raises(InputError, match=r"column hour is missing in 1 row; fill it in"):
        count([1, None, 2])


FIT = ["--behaviors", "click,like", "--unit", "none", "--context", "hour"]
FIT += [f"--{name.replace('_', '-')}={value}" for name, value in ENDS.items()]


def test_the_shell_fits_events(hourly, taught, tmp_path):
    hourly.write_csv(tmp_path / "counts.csv")
    chosen = [f"--set={name}={value}" for name, value in TAUGHT.items()]
    rest = ["--epochs", 2, "--seeds", 1, "--output", tmp_path / "events.dgd"]
    done("fit", tmp_path / "counts.csv", *FIT, *chosen, *rest)
    fitted = dgd.load(tmp_path / "events.dgd")
    assert fitted.settings == replace(taught.settings, epochs=2)
    assert fitted.crowds[0].context.effect.shape == (1, 2)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("colour=red", 'setting "colour=red" is not known; write name=value with one of'),
        ("nodes", 'setting "nodes" is not known'),
        ("nodes=many", 'setting nodes is "many"; it must be a whole number'),
        ("readout=both", 'readout is "both"; choose one of weighted, separated'),
    ],
)
def test_bad_settings_are_refused_in_the_shell(hourly, tmp_path, no_work, setting, message):
    hourly.write_csv(tmp_path / "counts.csv")
    assert_refused(run("fit", tmp_path / "counts.csv", *FIT, "--set", setting), message)


def test_events_are_counted_by_context_in_the_shell(tmp_path):
    pl.DataFrame({"day": ["2022-01-01"] * 3, "hour": [1, 1, 2], "click": [1, 1, 0]}).write_csv(
        tmp_path / "log.csv"
    )
    call = ["count", tmp_path / "log.csv", "--time", "day", "--timezone", "UTC"]
    done(*call, "--behaviors", "click", "--context", "hour", "--output", tmp_path / "counts.csv")
    counts = pl.read_csv(tmp_path / "counts.csv")
    assert counts.select("hour", "click", "count").rows() == [(1, 1, 2), (2, 0, 1)]
