"""A trained model anchored anew is what fitting with the other settings would have given."""

import numpy as np
import pytest

import dgd
from dgd.arena.contestants import TAKEN_AWAY
from dgd.learning.settings import ANCHORING
from support.untrained import untrained

ORIGINS = np.array([34, 36])
TRAINED_ANEW = {
    "arrival_anchor": "none",
    "tilts": "weekdays",
    "departures": "none",
    "spread": "given",
}
"""Every setting of the anchor but "anchor" itself, which would hide two of them."""


def assert_same_forecasts(ours: dgd.Fit, theirs: dgd.Fit) -> None:
    assert ours.settings == theirs.settings
    one, other = (fit.predict(ORIGINS, 2) for fit in (ours, theirs))
    np.testing.assert_array_equal(one.arrivals, other.arrivals)
    np.testing.assert_array_equal(one.patterns, other.patterns)
    np.testing.assert_array_equal(one.dispersion, other.dispersion)


def test_every_setting_that_the_arena_changes_is_decided_after_training() -> None:
    changed = {name for settings in TAKEN_AWAY.values() for name in settings}
    assert changed == set(ANCHORING) == {"anchor", *TRAINED_ANEW}


@pytest.mark.slow
def test_a_variant_equals_its_fit_from_scratch_bit_by_bit(drawn, fit) -> None:
    """Trained twice, for a few epochs."""
    dates, model = drawn.panel.dates, dgd.DGD(epochs=5, **TRAINED_ANEW)
    scratch = model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2])
    again = model.reanchored(fit)
    assert_same_forecasts(again, scratch)
    assert again.anchor is not None


def test_without_an_anchor_of_patterns_a_variant_is_that_of_its_own_fit(drawn) -> None:
    """At first parameters: what comes after training is the same."""
    model = dgd.DGD(**TAKEN_AWAY["without anchor"])
    bare = untrained(dgd.DGD(anchor="none", arrival_anchor="none"), drawn.panel, seeds=[1])
    assert bare.anchor is None
    assert_same_forecasts(
        model.reanchored(bare), untrained(model, drawn.panel, seeds=[1], anchored=True)
    )


def test_a_setting_of_training_cannot_be_changed_after_it(fit) -> None:
    with pytest.raises(dgd.InputError, match=r"epochs is 6, but the fit was trained with 5.*anew"):
        dgd.DGD(epochs=6, anchor="none").reanchored(fit)
