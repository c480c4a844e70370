"""What cohorts carry from day to day: each state by its equation, and how a new one joins."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

import dgd
from dgd import diagnostics
from dgd.diagnostics.propagation import expected_update
from dgd.model import AbstractCarriedState
from dgd.model.feedback import feedback
from dgd.model.feedback.signals import RATE_SMOOTHING
from dgd.model.first_values import first_factor
from dgd.model.held import Held
from dgd.model.sweep import carried_paths
from dgd.runtime import computing
from support.compiled import advanced, predicted
from support.objectives import objective
from support.random_crowds import BEHAVIORS, COHORTS, random_crowd, random_days
from support.untrained import untrained

SEEDS = [1, 2, 3]
FIRST = 0.6


class Restlessness(AbstractCarriedState):
    """A state that dgd does not know: x' = rho x + (1 - rho) o / (1 + o), between 0 and 1."""

    raw_retention: jax.Array
    effect: jax.Array

    name = "restlessness"

    @classmethod
    def starting(cls, shape, rng):
        return cls(first_factor(FIRST), jnp.asarray(0.05 * rng.normal(size=shape.behaviors)))

    def at_rest(self, cohorts):
        return jnp.zeros((1, cohorts))

    @property
    def retention(self):
        return jax.nn.sigmoid(self.raw_retention)

    def input(self, signal, today, reference):
        return (1.0 - self.retention) * signal.dose / (1.0 + signal.dose)

    def reach(self, start, days):
        return 1.0

    def logit_effect(self, state):
        return state[..., None] * self.effect[None, None]

    def held(self):
        return [Held("behavior", self.effect)]


# A new state touches one new file, which stands here as the class above, and one line.


@pytest.fixture(scope="module")
def one_line():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feedback, "CARRIED_STATES", (*feedback.CARRIED_STATES, Restlessness))
        yield


MODEL = dgd.DGD(epochs=4, start="warmup", expected_weight=0.0, innovations="none")
ORIGINS, HORIZON = np.arange(34, 38), 2


@pytest.fixture(scope="module")
def restless(one_line, drawn):
    dates = drawn.panel.dates
    return MODEL.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1])


def own(crowd):
    """The new state of a crowd."""
    (part,) = (part for part in crowd.feedback.carried if part.name == Restlessness.name)
    return part


def test_a_new_state_is_among_the_dynamics_and_is_trained(restless, drawn):
    dynamics = restless.dynamics("polars").filter(factor="restlessness retention")
    assert dynamics["seed"].to_list() == [1]
    assert dynamics["value"][0] != pytest.approx(FIRST, abs=1e-6)
    first = own(untrained(MODEL, drawn.panel, seeds=[1]).crowds[0]).effect
    assert (np.asarray(own(restless.crowds[0]).effect) != np.asarray(first)).all()


def without_effect(fit):
    """The same fit, in which the new state moves nothing."""
    with computing():
        crowds = [
            eqx.tree_at(lambda c: own(c).effect, crowd, jnp.asarray(np.zeros(3)))
            for crowd in fit.crowds
        ]
    return fit.with_crowds(crowds)


def test_a_new_state_is_carried_through_a_forecast(restless):
    """It stands in every day's state, goes on by what is expected, and moves what is forecast."""
    model = restless
    ours, still = (f.predict(ORIGINS, HORIZON) for f in (model, without_effect(model)))
    assert (np.abs(ours.patterns - still.patterns).max((0, 2, 3, 4, 5)) > 0).all()
    with computing():
        crowd, state = restless.crowds[0], restless.carried(0, ORIGINS[:1])
        (inputs,) = restless.ahead(restless.panel, ORIGINS[:1], 1)
        following = np.asarray(expected_update(crowd, state, inputs).carried["restlessness"])
        before = np.asarray(state.carried["restlessness"])
        rho = expit(float(own(crowd).raw_retention))
        size = np.maximum(1.0, np.asarray(crowd.reference.size))
    assert restless.states[0].carried["restlessness"].shape == (41, 3)
    assert (before > 0).all()
    dose = ours.arrivals[0, 0, :1].sum(1) / size
    np.testing.assert_allclose(following, rho * before + (1 - rho) * dose / (1 + dose), rtol=1e-11)


def test_a_new_state_survives_save_and_load(restless, tmp_path):
    restless.save(tmp_path / "restless.dgd")
    loaded = dgd.load(tmp_path / "restless.dgd")
    assert isinstance(own(loaded.crowds[0]), Restlessness)
    ours, theirs = (f.predict(ORIGINS, HORIZON) for f in (restless, loaded))
    np.testing.assert_array_equal(ours.arrivals, theirs.arrivals)
    np.testing.assert_array_equal(ours.patterns, theirs.patterns)


def test_a_new_state_is_held_by_the_regulariser(restless):
    harder = objective(behavior_penalty=2.0)
    with computing():
        crowds = (restless.crowds[0], without_effect(restless).crowds[0])
        held, free = (float(harder.penalty(crowd)) for crowd in crowds)
        size = sum(x.size for _, x in crowds[0].held())
        effect = np.asarray(own(crowds[0]).effect)
    assert held - free == pytest.approx(2.0 * (effect**2).sum() / size, rel=1e-9)


def test_a_new_state_has_its_bound_among_the_diagnostics(restless):
    table = diagnostics.state_limits(restless, 2)
    of_state = table.filter(state="restlessness")
    assert of_state["day"].to_list() == [1, 2]
    assert (of_state["largest"] > 0).all()
    assert of_state["holds"].all()


# Every state of the model


def random_start(crowd, seed):
    """Any state that a path can pass through."""
    rng = np.random.default_rng(seed + 3000)
    inside = {
        "memory": rng.uniform(size=(1, COHORTS, BEHAVIORS)),
        "fatigue": rng.uniform(size=(1, COHORTS)),
        "shift": rng.normal(size=crowd.at_rest().carried["shift"].shape),
    }
    carried = {name: jnp.asarray(value) for name, value in inside.items()}
    return eqx.tree_at(lambda s: s.carried, crowd.at_rest(), carried)


def walked(crowd, start, inputs, outcomes):
    """What is carried into each day, one `advance` after another under recorded feedback."""
    state, path = start, [start.carried]
    for t in range(len(outcomes.arrivals)):
        today = inputs.between(t, t + 1)
        expected = predicted(crowd, state, today)
        state = advanced(crowd, state, today, expected, outcomes.between(t, t + 1))
        path.append(state.carried)
    return {
        name: np.concatenate([np.asarray(carried[name]) for carried in path])
        for name in start.carried
    }


def by_equation(crowd, start, outcomes):
    """The same by the paper's equations, written out."""
    memory, fatigue, shift = jax.tree.map(np.asarray, crowd.feedback.carried)
    reference = jax.tree.map(np.asarray, crowd.reference)
    state = {name: np.asarray(value)[0] for name, value in start.carried.items()}
    path = [state]
    for counts, shown in zip(
        *map(np.asarray, (outcomes.arrivals, outcomes.behaviors)), strict=True
    ):
        contacts, smooth = counts.sum(0), RATE_SMOOTHING
        v = (shown.sum(0) + smooth * reference.rates) / (contacts + smooth)[:, None]
        o = contacts / np.maximum(1.0, reference.size)
        kept = {p.name: expit(p.raw_retention) for p in (memory, fatigue, shift)}
        m = kept["memory"] * state["memory"] + (1 - kept["memory"]) * v
        f = kept["fatigue"] * state["fatigue"] + (1 - kept["fatigue"]) * (1 - np.exp(-o))
        push = (v - reference.rates) @ shift.rate_response - np.outer(f, shift.fatigue_response)
        state = {"memory": m, "fatigue": f, "shift": kept["shift"] * state["shift"] + push}
        path.append(state)
    return {name: np.stack([of_day[name] for of_day in path]) for name in state}


swept = eqx.filter_jit(carried_paths)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_days_at_once_equal_one_day_after_another_and_the_equations(seed):
    with computing():
        crowd, (inputs, outcomes) = random_crowd(seed), random_days(seed)
        start = random_start(crowd, seed)
        at_once = swept(crowd, outcomes.totals, start)
        one_by_one = walked(crowd, start, inputs, outcomes)
        expected = by_equation(crowd, start, outcomes)
    assert set(at_once) == {"memory", "fatigue", "shift"}
    for name, path in at_once.items():
        np.testing.assert_allclose(path, expected[name], rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(one_by_one[name], expected[name], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("index", range(3))
def test_each_state_rests_at_zero_for_every_cohort(index):
    with computing():
        part = random_crowd(1).feedback.carried[index]
        rest = np.asarray(part.at_rest(5))
    assert rest.shape[:2] == (1, 5)
    assert not rest.any()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_state_goes_beyond_its_reach(seed):
    with computing():
        crowd, (_, outcomes) = random_crowd(seed, scale=1.5), random_days(seed)
        start = random_start(crowd, seed)
        paths = swept(crowd, outcomes.totals, start)
        for part in crowd.feedback.carried:
            for day, values in enumerate(np.asarray(paths[part.name])):
                reach = part.reach(start.carried[part.name], day)
                assert np.abs(values).max() <= reach * (1 + 1e-12)
