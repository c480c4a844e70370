"""What turns a function into a command: grouped options spread out, refusals said in a line."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import typer
from typer.models import OptionInfo

from dgd.cli.console import err
from dgd.cli.interrupts import INTERRUPTED, hearing_interrupts, leave
from dgd.cli.shell_words import in_shell_words, speaking
from dgd.errors import DGDError

EXIT_CODES = {
    0: "done",
    1: "an unexpected failure",
    2: "the input or the call was refused; the message says why",
    3: "training diverged; the best parameters so far were kept",
    4: "some of many panels failed; the others were fitted",
    INTERRUPTED: "interrupted by Ctrl-C",
}
DIVERGED = 3
SOME_FAILED = 4


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` as a command: a parameter that is a dataclass of options becomes those
    options; a deliberate refusal becomes one sentence and exit code 2, Ctrl-C 130."""
    groups = {
        name: hint
        for name, hint in get_type_hints(function).items()
        if isinstance(hint, type) and is_dataclass(hint)
    }

    @wraps(function)
    def run(**options: Any) -> None:
        given = {
            name: group(**{field.name: options.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        try:
            with hearing_interrupts(), speaking(shown_as):
                function(**given, **options)
        except DGDError as error:
            said = in_shell_words(str(error), shown_as)
            err.print(f"dgd: {said}", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(2) from error
        except KeyboardInterrupt:
            leave()

    parameters = _spread(function, groups)
    shown_as = _options(parameters)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(parameters: list[inspect.Parameter]) -> dict[str, str]:
    """How the shell writes each parameter that is an option."""
    shown = {}
    for parameter in parameters:
        for said in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(said, OptionInfo):
                flags = [flag for flag in said.param_decls or () if flag.startswith("--")]
                dashed = parameter.name.replace("_", "-")
                shown[parameter.name] = flags[0] if flags else f"--{dashed}"
    return shown


def _spread(function: Callable[..., None], groups: dict[str, type]) -> list[inspect.Parameter]:
    """The parameters of `function`, every group replaced by its fields; arguments come first."""
    hints = get_type_hints(function, include_extras=True)
    spread = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            spread.append((name, parameter.default, hints[name]))
            continue
        of_group = get_type_hints(groups[name], include_extras=True)
        spread += [
            (
                field.name,
                inspect.Parameter.empty if field.default is MISSING else field.default,
                of_group[field.name],
            )
            for field in fields(groups[name])
        ]
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, default, annotation in spread
    ]
