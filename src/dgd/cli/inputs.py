"""What `dgd fit` and `dgd backtest` read from the command line."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgd.cli.console import read_table
from dgd.errors import InputError

if TYPE_CHECKING:
    from dgd.estimator import DGD
    from dgd.panel.panel import Panel


def read_panel(
    counts: Path,
    *,
    behaviors: str,
    date: str,
    unit: str,
    cohort: str,
    count: str,
    context: str,
    sizes: Path | None,
    effort: Path | None,
    features: Path | None,
    period: str,
) -> "Panel":
    """The panel of a counts file; "none" stands for no unit or cohort column."""
    from dgd.panel.panel import Panel

    return Panel.from_counts(
        read_table(counts),
        date=date,
        unit=None if unit == "none" else unit,
        cohort=None if cohort == "none" else cohort,
        behaviors=names(behaviors),
        count=count,
        context=names(context),
        sizes=None if sizes is None else read_table(sizes),
        effort=None if effort is None else read_table(effort),
        features=None if features is None else read_table(features),
        period=period,
    )


def chosen_model(
    preset: str, components: int, nodes: int, epochs: int | None, more: list[str]
) -> "DGD":
    """The preset with the settings given on the command line; `more` are like dim=2."""
    from dgd.estimator import DGD

    changes: dict[str, Any] = {
        "components": components,
        "nodes": nodes,
        **settings(more, _defaults()),
    }
    if epochs is not None:
        changes["epochs"] = epochs
    if preset == "paper":
        return DGD.paper(**changes)
    if preset == "default":
        return DGD(**changes)
    raise InputError(f'preset "{preset}" is not known; choose default or paper.')


KINDS = {int: "a whole number", float: "a number", str: "a word"}


def _defaults() -> dict[str, Any]:
    from dgd.learning.settings import Settings

    return Settings().as_dict()


def settings(given: list[str], defaults: dict[str, Any]) -> dict[str, Any]:
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
