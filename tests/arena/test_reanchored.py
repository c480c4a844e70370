"""A trained model anchored anew is what fitting with the other settings would have given."""

import numpy as np
import pytest

import dgd
from dgd.arena.contestants import TAKEN_AWAY

ORIGINS = np.array([34, 36])


@pytest.mark.parametrize("name", TAKEN_AWAY)
def test_a_variant_equals_its_fit_from_scratch_bit_by_bit(name: str, drawn, fit) -> None:
    """The default of the arena with one part taken away, trained for a few epochs."""
    dates, model = drawn.panel.dates, dgd.DGD(epochs=5, **TAKEN_AWAY[name])
    scratch = model.fit(drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=[1, 2])
    again = model.reanchored(fit)
    assert again.settings == scratch.settings
    ours, theirs = again.predict(ORIGINS, 3), scratch.predict(ORIGINS, 3)
    np.testing.assert_array_equal(ours.arrivals, theirs.arrivals)
    np.testing.assert_array_equal(ours.patterns, theirs.patterns)
    np.testing.assert_array_equal(ours.dispersion, theirs.dispersion)


def test_every_part_that_is_taken_away_changes_the_forecast(drawn, fit) -> None:
    whole = fit.predict(ORIGINS, 3)
    for changed in TAKEN_AWAY.values():
        if changed == {"departures": "none"}:
            continue  # where the model has earned no share, nothing is taken away
        part = dgd.DGD(epochs=5, **changed).reanchored(fit).predict(ORIGINS, 3)
        same = [
            np.array_equal(getattr(whole, name), getattr(part, name))
            for name in ("arrivals", "patterns", "dispersion")
        ]
        assert not all(same), changed


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
