"""Response types: what they do adds up to what the model predicts of their cohort."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.learning import response_types
from dgd.learning.response_types import CONTACTS, OF_THE_MEAN, PER_PERSON, SHARE, rate_of
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing
from support.shaken import shaken
from support.untrained import untrained
from support.variants import VARIANTS

CASES: dict[str, dict[str, Any]] = {
    "as it is": {},
    **{name: VARIANTS[name] for name in ("matched discrete", "point", "without dynamics")},
    "separated readout": VARIANTS["separated readout"],
    "two dimensions": {"dim": 2, "nodes": 3},
}


@pytest.fixture(scope="module", params=CASES)
def any_fit(request: pytest.FixtureRequest, drawn: dgd.Simulated) -> dgd.Fit:
    """Types that differ: all trained numbers are moved far from where training starts."""
    return shaken(
        untrained(dgd.DGD(innovations="none", **CASES[request.param]), drawn.panel), scale=0.4
    )


@pytest.fixture(scope="module")
def some_fit(drawn: dgd.Simulated) -> dgd.Fit:
    return shaken(untrained(dgd.DGD(innovations="none"), drawn.panel), scale=0.4)


def predicted(fit: dgd.Fit, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The cohorts' arrivals and rates over training days, as the model predicts them."""
    crowd, days = fit.crowds[number], slice(0, fit.split.train_stop - fit.split.first)
    with computing():
        inputs, _ = recorded_days(fit.panel, fit.features, 0, fit.split.train_stop, 50.0)
        at = fit.carried(number, np.arange(fit.split.first, fit.split.train_stop) - 1)
        found = crowd.predict(at, inputs.between(days.start, days.stop))
        arrivals = np.asarray(found.arrivals).sum((0, 1))
        return arrivals, np.asarray(found.behaviors).sum((0, 1)) / arrivals[:, None]


def test_types_add_up_to_what_is_predicted_of_their_cohort(any_fit: dgd.Fit) -> None:
    table = any_fit.response_types("polars")
    people = any_fit.panel.size[any_fit.split.train].max(1).sum(0)
    for number, seed in enumerate(any_fit.seeds):
        arrivals, rates = predicted(any_fit, number)
        for g, cohort in enumerate(any_fit.panel.cohorts):
            own = table.filter(seed=seed, cohort=cohort)
            assert own[SHARE].sum() == pytest.approx(1.0, abs=1e-12)
            assert own[CONTACTS].sum() == pytest.approx(1.0, abs=1e-12)
            each = (own[SHARE] * own[PER_PERSON]).sum()
            assert each == pytest.approx(arrivals[g] / people[g], rel=1e-9)
            for h, behavior in enumerate(any_fit.panel.behaviors):
                whole = (own[CONTACTS] * own[rate_of(behavior)]).sum()
                assert whole == pytest.approx(rates[g, h], rel=1e-9)


def test_the_most_often_seen_type_comes_first(any_fit: dgd.Fit) -> None:
    for _, own in any_fit.response_types("polars").group_by("seed", "cohort"):
        assert own["type"].to_list() == list(range(1, own.height + 1))
        assert own[PER_PERSON].is_sorted(descending=True)


def test_shares_of_the_cohort_are_those_of_the_population(some_fit: dgd.Fit) -> None:
    keys = ["seed", "cohort", SHARE]
    ours, theirs = (
        table.select(keys).sort(keys)
        for table in (some_fit.response_types("polars"), some_fit.population("polars"))
    )
    assert ours.equals(theirs)


def test_blocks_of_days_change_nothing(some_fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = some_fit.response_types("polars")
    monkeypatch.setattr(response_types, "BLOCK_ELEMENTS", 1500)
    numbers = pl.selectors.float()
    in_blocks = some_fit.response_types("polars")
    np.testing.assert_allclose(in_blocks.select(numbers), whole.select(numbers), rtol=1e-11)


def test_without_sizes_arrivals_are_told_against_the_mean(some_fit: dgd.Fit) -> None:
    known = some_fit.response_types("polars")
    unknown = replace(some_fit, panel=replace(some_fit.panel, sized=False)).response_types("polars")
    assert set(known["per"]) == {"person and day"}
    assert set(unknown["per"]) == {OF_THE_MEAN}
    np.testing.assert_allclose(unknown[PER_PERSON], unknown[CONTACTS] / unknown[SHARE])
    means = unknown.group_by("seed", "cohort").agg((pl.col(SHARE) * pl.col(PER_PERSON)).sum())
    np.testing.assert_allclose(means[SHARE], 1.0)


def test_a_cohort_that_nothing_could_reach_still_has_types(some_fit: dgd.Fit) -> None:
    effort = some_fit.panel.effort.copy()
    effort[:, :, 0] = 0.0
    idle = replace(some_fit, panel=replace(some_fit.panel, effort=effort))
    table = idle.response_types("polars").filter(cohort=some_fit.panel.cohorts[0])
    assert table[CONTACTS].is_between(0, 1, closed="none").all()
    assert table[PER_PERSON].to_numpy() == pytest.approx(0.0, abs=1e-12)


def test_a_behaviour_may_bear_the_name_of_another_column(some_fit: dgd.Fit) -> None:
    assert SHARE in some_fit.panel.behaviors
    table = some_fit.response_types("polars")
    assert not np.allclose(table[SHARE], table[rate_of("share")])
