"""What the library says to Python is said to the shell in the shell's words."""

import warnings

import pytest

from dgd.cli.console import warnings_in_a_line
from dgd.cli.shell_words import in_shell_words, said, speaking

OPTIONS = {
    "stored_in": "--stored-in",
    "timezone": "--timezone",
    "time_unit": "--time-unit",
    "missing": "--missing",
    "start": "--start",
    "train_end": "--train-end",
    "as_json": "--json",
    "levels": "--levels",
    "data": "--data",
}


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        (
            'say stored_in="UTC" or stored_in="Asia/Tokyo" in its Clock.',
            "say --stored-in UTC or --stored-in Asia/Tokyo.",
        ),
        ('with time_unit="s", "ms" or "ns" in its Clock.', "with --time-unit s, ms or ns."),
        (
            "stored_in has no meaning; leave it out of its Clock.",
            "--stored-in has no meaning; leave it out.",
        ),
        ('or give its Clock timezone="UTC".', "or give --timezone UTC."),
        ('name it with missing="not known".', "name it with --missing 'not known'."),
        ("leave it out with start=.", "leave it out with --start."),
        ("as_json is wrong.", "--json is wrong."),
        ("train_end 2022-03-30 is late.", "--train-end 2022-03-30 is late."),
        ('train_end "soon" is not a date.', '--train-end "soon" is not a date.'),
        ('levels "x" is not a list.', '--levels "x" is not a list.'),
        ('start "north" has no size.', 'start "north" has no size.'),
        ('levels names "start".', '--levels names "start".'),
        ("levels is [80, 80]; give each once.", "--levels is 80,80; give each once."),
        ("levels are many, and levels help.", "--levels are many, and levels help."),
        ("cohort [1, 2] of levels is odd.", "cohort [1, 2] of levels is odd."),
        ("give them to forecast(levels=...) up to now.", "give them with --levels up to now."),
        ("name its folder with path= or DGD_DATA.", "name its folder with --data or DGD_DATA."),
        ("start 2022-04-23 is after end.", "start 2022-04-23 is after end."),
        ('column stored_in: "time_unit" is wrong.', 'column stored_in: "time_unit" is wrong.'),
        ('rest="other" is taken.', 'rest="other" is taken.'),
    ],
)
def test_arguments_become_options(python: str, shell: str) -> None:
    assert in_shell_words(python, OPTIONS) == shell


def test_warnings_speak_as_refusals_do(capsys: pytest.CaptureFixture[str]) -> None:
    with speaking(OPTIONS), warnings_in_a_line():
        warnings.warn('say missing="x" to use it.', UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: say --missing x to use it.\n"
    assert said('say missing="x".') == 'say missing="x".', "no command runs any more"


def test_a_command_without_options_says_it_as_it_is() -> None:
    assert in_shell_words('say missing="x".', {}) == 'say missing="x".'
