"""A trained model anchored anew is what fitting with the other settings would have given."""

import numpy as np
import pytest

import dgd
from dgd.arena.contestants import TAKEN_AWAY
from dgd.learning.settings import ANCHORING

ORIGINS = np.array([34, 36])
CHANGES = [
    {"arrival_anchor": "none", "tilts": "weekdays", "departures": "none"},
    {"anchor": "none", "spread": "given"},
]
"""Every setting of the anchor, in as few fits as show that none of them reaches training."""


def test_every_setting_that_the_arena_changes_is_decided_after_training() -> None:
    changed = {name for settings in TAKEN_AWAY.values() for name in settings}
    assert changed == set(ANCHORING) == {name for settings in CHANGES for name in settings}


@pytest.mark.parametrize("changed", CHANGES, ids=str)
def test_a_variant_equals_its_fit_from_scratch_bit_by_bit(changed, drawn, fit) -> None:
    dates, model = drawn.panel.dates, dgd.DGD(epochs=5, **changed)
    scratch = model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2])
    again = model.reanchored(fit)
    assert again.settings == scratch.settings
    ours, theirs, whole = (one.predict(ORIGINS, 2) for one in (again, scratch, fit))
    np.testing.assert_array_equal(ours.arrivals, theirs.arrivals)
    np.testing.assert_array_equal(ours.patterns, theirs.patterns)
    np.testing.assert_array_equal(ours.dispersion, theirs.dispersion)
    assert not np.array_equal(ours.patterns, whole.patterns)


def test_anchoring_anew_and_back_changes_nothing(fit) -> None:
    away = dgd.DGD(epochs=5, anchor="none", arrival_anchor="none").reanchored(fit)
    assert away.anchor is None
    back = dgd.DGD(epochs=5).reanchored(away)
    np.testing.assert_array_equal(
        back.predict(ORIGINS, 2).patterns, fit.predict(ORIGINS, 2).patterns
    )


def test_a_setting_of_training_cannot_be_changed_after_it(fit) -> None:
    with pytest.raises(dgd.InputError, match=r"epochs is 6, but the fit was trained with 5.*anew"):
        dgd.DGD(epochs=6, anchor="none").reanchored(fit)
