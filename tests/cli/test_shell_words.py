"""What the library says to Python is said to the shell in the shell's words."""

import pytest

from dgd.cli.shell_words import in_shell_words

OPTIONS = {
    "stored_in": "--stored-in",
    "timezone": "--timezone",
    "time_unit": "--time-unit",
    "missing": "--missing",
    "start": "--start",
    "train_end": "--train-end",
    "as_json": "--json",
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
        ("train_end 2022-03-30 is late.", "train_end 2022-03-30 is late."),
        ("start 2022-04-23 is after end.", "start 2022-04-23 is after end."),
        ('column stored_in: "time_unit" is wrong.', 'column stored_in: "time_unit" is wrong.'),
        ('rest="other" is taken.', 'rest="other" is taken.'),
    ],
)
def test_arguments_become_options(python: str, shell: str) -> None:
    assert in_shell_words(python, OPTIONS) == shell


def test_a_command_without_options_says_it_as_it_is() -> None:
    assert in_shell_words('say missing="x".', {}) == 'say missing="x".'
