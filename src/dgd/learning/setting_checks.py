"""Settings refused when they are made, with the setting, its value and the way out."""

import math
from collections.abc import Iterable, Mapping

from dgd.errors import InputError


def refuse_below_one(settings: object, names: Iterable[str]) -> None:
    for name in names:
        if getattr(settings, name) < 1:
            raise InputError(f"{name} is {getattr(settings, name)}; it must be at least 1.")


def refuse_not_positive(settings: object, names: Iterable[str]) -> None:
    for name in names:
        if not 0 < getattr(settings, name) < math.inf:
            raise InputError(f"{name} is {getattr(settings, name)}; it must be positive.")


def refuse_negative(settings: object, names: Iterable[str]) -> None:
    for name in names:
        if not 0 <= getattr(settings, name) < math.inf:
            raise InputError(f"{name} is {getattr(settings, name)}; it must not be negative.")


def refuse_unknown(settings: object, choices: Mapping[str, Iterable[str]]) -> None:
    for name, known in choices.items():
        if getattr(settings, name) not in known:
            raise InputError(
                f'{name} is "{getattr(settings, name)}"; choose one of {", ".join(known)}.'
            )
