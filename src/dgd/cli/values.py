"""Values as they are written on a command line: lists, whole numbers, settings."""

from typing import Any

from dgd.errors import InputError

KINDS = {int: "a whole number", float: "a number", str: "a word"}


def named_settings(given: list[str], defaults: dict[str, Any]) -> dict[str, Any]:
    """Settings written as name=value, each read as the kind of value its default has."""
    kinds = {name: type(value) for name, value in defaults.items()}
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in kinds:
            raise InputError(
                f'setting "{text}" is not known; write name=value with one of {", ".join(kinds)}.'
            )
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


def whole_numbers(text: str, name: str) -> list[int]:
    """Whole numbers separated by commas."""
    try:
        return [int(number) for number in names(text)]
    except ValueError as error:
        raise InputError(f'{name} "{text}" is not a list of whole numbers like 1,2,3.') from error
