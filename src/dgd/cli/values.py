"""Values as they are written on a command line: lists, whole numbers, settings."""

import math
from collections.abc import Sequence
from typing import Any

from dgd.errors import InputError
from dgd.tables.labels import Label

KINDS = {int: "a whole number", float: "a number", str: "a word"}


def named_settings(
    options: dict[str, Any], given: list[str], defaults: dict[str, Any]
) -> dict[str, Any]:
    """Settings by options of their own and written as name=value, each given once at most.

    Args:
        options: What options of their own say; None where one was not used.
        given: Further settings, each read as the kind of value its default has.
        defaults: Every setting there is.
    """
    kinds = {name: type(value) for name, value in defaults.items()}
    found = {name: value for name, value in options.items() if value is not None}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in kinds:
            raise InputError(
                f'setting "{text}" is not known; write name=value with one of {", ".join(kinds)}.'
            )
        if name in found:
            raise InputError(f"setting {name} is given twice, {found[name]} and {value}; give one.")
        try:
            found[name] = kinds[name](value)
        except ValueError as error:
            raise InputError(
                f'setting {name} is "{value}"; it must be {KINDS[kinds[name]]}.'
            ) from error
    return found


def names(text: str) -> list[str]:
    """A list separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def known_labels(known: Sequence[Label], asked: Sequence[str]) -> list[Label]:
    """Labels as a panel has them, where a shell knows texts alone."""
    place: dict[str, Label] = {str(label): label for label in known}
    return [place.get(text, text) for text in asked]


def whole_numbers(text: str, name: str) -> list[int]:
    """Whole numbers separated by commas."""
    try:
        return [int(number) for number in names(text)]
    except ValueError as error:
        raise InputError(f'{name} "{text}" is not a list of whole numbers like 1,2,3.') from error


def finite_number(text: str, name: str, example: str) -> float:
    """One number; what is not finite is none."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f'{name} has "{text}", which is not a number; write it like {example}.')
    return number


def named_numbers(text: str, name: str, example: str) -> dict[str, float]:
    """Numbers by name, written name=number and separated by commas."""
    found: dict[str, float] = {}
    for part in names(text):
        label, equals, number = (piece.strip() for piece in part.rpartition("="))
        if not equals or not label:
            raise InputError(f'{name} has "{part}", which names nothing; write it like {example}.')
        if label in found:
            raise InputError(f'{name} names "{label}" twice; name it once.')
        found[label] = finite_number(number, name, example)
    if not found:
        raise InputError(f"{name} is empty; write it like {example}.")
    return found
