"""Settings refused when they are made, with the setting, its value and the way out."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeAlias

from dgd.errors import InputError
from dgd.model.population.gaussian_mixture import SCALE_FLOOR
from dgd.model.quadrature import MAX_NODES

Limits: TypeAlias = Mapping[str, tuple[float, float]]
"""The least and the most that each setting may be."""

LARGEST = 1e9
"""The most that a weight or a penalty may be; beyond it sums lose their digits."""
MOST_RETENTION = 0.9999
"""An average that keeps more than this forgets nothing within a lifetime of days."""
MOST_POINTS = 20_000
"""Support points per cohort: components times nodes to the power of dim."""
TRAINING_LIMITS: Limits = {
    "epochs": (1, 1e9),
    "patience": (1, 1e9),
    "learning_rate": (1e-9, 1e300),
    "clip_norm": (1e-9, LARGEST),
    "penalty_weight": (0, LARGEST),
}
"""Limits of what everything that trains has."""
POPULATION_LIMITS: Limits = {
    "components": (1, 64),
    "nodes": (1, MAX_NODES),
    "dim": (1, 4),
    "initial_scale": (SCALE_FLOOR + 0.001, 10),
}
"""Limits of a population; no component goes below the floor of scales."""

_KINDS: dict[Any, tuple[Any, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a text"),
}


class ByName:
    """Settings are given by name; a name that is not a setting is refused with the nearest."""

    def __new__(cls, *unnamed: object, **named: object) -> Any:
        if unnamed:
            raise InputError(
                f"{cls.__name__} was given {unnamed[0]!r} without a name; write name=value."
            )
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        for name in named:
            if name not in known:
                near = get_close_matches(name, known, 1)
                meant = f'did you mean "{near[0]}"?' if near else f"known are {', '.join(known)}."
                raise InputError(f'{cls.__name__} has no setting "{name}"; {meant}')
        return super().__new__(cls)


def check_settings(
    settings: Any, limits: Limits, choices: Mapping[str, Iterable[str]] | None = None
) -> None:
    """Refuse values of another kind, outside their limits, or not among those known.

    Numbers of NumPy become Python's own, so that settings compare and are stored alike.
    """
    for field in fields(settings):
        _take_kind(settings, field.name, field.type)
    for name, (least, most) in limits.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            raise InputError(f"{name} is {value}; it must lie from {least:g} to {most:g}.")
    for name, known in (choices or {}).items():
        if getattr(settings, name) not in known:
            raise InputError(
                f'{name} is "{getattr(settings, name)}"; choose one of {", ".join(known)}.'
            )


def refuse_costly_population(components: int, nodes: int, dim: int) -> None:
    """Refuse more support points than can be carried from day to day."""
    points = components * nodes**dim
    if points > MOST_POINTS:
        raise InputError(
            f"components {components}, nodes {nodes} and dim {dim} make {points:,} support points "
            f"per cohort, and every day is evaluated at each; at most {MOST_POINTS:,} can be "
            "carried: lower one of them."
        )


def _take_kind(settings: Any, name: str, kind: Any) -> None:
    if kind not in _KINDS:
        return
    wanted, said = _KINDS[kind]
    value: Any = getattr(settings, name)
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; it must be {said}.")
    if kind is not str:
        if not math.isfinite(value):
            raise InputError(f"{name} is {value}; it must be finite.")
        object.__setattr__(settings, name, int(value) if kind is int else _plain(value))


def _plain(value: Any) -> float | int:
    """A number of Python's own; whole ones stay whole, as they were written."""
    return int(value) if isinstance(value, int) else float(value)
