"""The help of every command shows how it is called."""

import pytest

from dgd.cli.app import app
from support.shell import done

NAMES = [info.callback.__name__.replace("_", "-") for info in app.registered_commands]


@pytest.mark.parametrize("command", NAMES)
def test_every_commands_help_shows_an_example(command: str) -> None:
    shown = " ".join(done(command, "--help").stdout.split())
    assert f"Example: dgd {command}" in shown


def test_the_help_documents_commands_and_exit_codes() -> None:
    shown = done("--help").stdout
    for word in ("simulate", "fit", "forecast", "info", "demo", "Exit codes", "130: "):
        assert word in shown
