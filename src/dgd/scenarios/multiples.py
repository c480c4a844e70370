"""The days ahead with effort or sizes of some cohorts multiplied, one multiple after another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from dgd.errors import InputError
from dgd.scenarios.cells import Cells
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from dgd.tables.labels import Label

EVERYBODY = "all"
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
"""Of what is planned, where a user names none."""


class Multiplied(NamedTuple):
    """One multiple for one choice of cohorts, and what it would bring them."""

    cohort: Label
    multiple: float
    level: float
    """The mean effort or size of a cell and day."""
    daily: Float[np.ndarray, "date series"]
    """Expected arrivals and behaviours of these cohorts, all units together."""
    seen: bool
    """Whether the training days have seen as much."""
    cohorts: Bool[np.ndarray, " cohort"]


def tried(
    expecting: Expecting,
    what: str,
    chosen: Mapping[Label, Bool[np.ndarray, " cohort"]],
    multiples: Sequence[float],
) -> Iterator[Multiplied]:
    """Every multiple of `what` ("effort" or "size") for every choice of cohorts, each by itself.

    What cohorts carry is their own, and expected counts surprise no environment: a cohort does
    not notice what is done with the others, so all are multiplied in one walk.
    """
    outlook = expecting.outlook
    planned = getattr(outlook.planned, what)
    most = getattr(outlook.panel, what)[expecting.fit.split.train].max(0)
    found = {
        multiple: expecting.series(replace(outlook.planned, **{what: multiple * planned}))
        for multiple in multiples
    }
    for label, own in chosen.items():
        for multiple in multiples:
            changed = multiple * planned[:, :, own]
            yield Multiplied(
                label,
                multiple,
                float(changed.mean()),
                found[multiple][:, :, own].sum((1, 2)),
                bool((changed <= most[:, own]).all()),
                own,
            )


def checked_multiples(given: Sequence[float] | None, name: str) -> list[float]:
    """The multiples a user names, refused where one is none; by default a wide choice."""
    if given is None:
        return list(MULTIPLES)
    several: list[Any] = [given] if isinstance(given, (str, Real)) else list(given)
    for multiple in several:
        number = isinstance(multiple, Real) and not isinstance(multiple, bool)
        if not number or not 0 <= multiple < np.inf:
            raise InputError(
                f"{name} holds {multiple!r}; give multiples of the plan, 0 or more, like [0.5, 2]."
            )
    if not several:
        raise InputError(f"{name} is empty; give multiples of the plan like [0.5, 1, 2].")
    return [float(multiple) for multiple in several]


def chosen_cohorts(
    outlook: Outlook, cohort: Label | None
) -> dict[Label, Bool[np.ndarray, " cohort"]]:
    """One cohort, "all" of them together, or without a name each by itself."""
    known = outlook.panel.cohorts
    every = np.ones(len(known), bool)
    if cohort is None:
        return {label: every & (np.arange(len(known)) == at) for at, label in enumerate(known)}
    if cohort == EVERYBODY and EVERYBODY not in known:
        return {EVERYBODY: every}
    mask = Cells(cohorts=cohort).mask(outlook.panel, outlook.dates, "response curve")
    return {cohort: np.asarray(mask.any((0, 1)))}
