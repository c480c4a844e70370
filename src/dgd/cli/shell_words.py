"""Sentences of the library in the words of the shell: its options for Python's arguments."""

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

OF_CLOCK = re.compile(r"(?<= out) of its Clock\b| (?:in|of) its Clock\b|(?<=give )its Clock ")
"""What Python calls the options of a time column together."""
MORE_VALUES = re.compile(r"^(?:, (?:or )?| or )\"([^\"\s]+)\"")
SUBJECT = (
    r"(?= (?:is|are|was|were|has|have|names|holds|weighs)\b"
    r'| "[^"]*" is (?:not (?:a|known)|neither|a folder)\b)'
)
"""What follows an argument, or its value, that a sentence begins with and speaks of."""
NUMBERS = re.compile(r"\[(-?[\d.]+(?:, -?[\d.]+)*)\](?=[;.,])")
ALIASES = {"data": "path"}
"""What Python calls an option by another name."""

_spoken: ContextVar[Mapping[str, str]] = ContextVar("options of the command")


@contextmanager
def speaking(options: Mapping[str, str]) -> Iterator[None]:
    """Let `said` know the options of the command that runs."""
    before = _spoken.set(options)
    try:
        yield
    finally:
        _spoken.reset(before)


def said(sentence: str) -> str:
    """The sentence in the words of the command that runs."""
    return in_shell_words(sentence, _spoken.get({}))


def in_shell_words(sentence: str, options: Mapping[str, str]) -> str:
    """The sentence with every argument that is among `options` written as the shell does.

    Args:
        sentence: What the library says, like `say stored_in="UTC" in its Clock`.
        options: The option of each argument, like `{"stored_in": "--stored-in"}`.

    Returns:
        `say --stored-in UTC`. What stands in quotes and names of columns stay as they are, and
        so do plain words that an option happens to share, where they do not begin the sentence.
    """
    if not options:
        return sentence
    known = dict(options) | {
        theirs: options[ours] for ours, theirs in ALIASES.items() if ours in options
    }
    names = "|".join(map(re.escape, known))
    argument = re.compile(
        rf'(?P<quoted>(?<!=)"[^"]*"|\bcolumn \S+)'
        rf"|\bto \w+\((?P<called>{names})=\.\.\.\)"
        rf'|\b(?P<name>{names})=(?:"(?P<value>[^"]*)"|True\b|(?![\w"]))'
        rf"|^(?P<subject>{names})\b{SUBJECT}"
        rf"|\b(?P<bare>{names})\b"
    )
    told, at, whole = "", 0, OF_CLOCK.sub("", sentence)
    while found := argument.search(whole, at):
        told += whole[at : found.start()]
        at = found.end()
        if found["quoted"]:
            told += found["quoted"]
        elif found["called"]:
            told += f"with {known[found['called']]}"
        elif found["subject"]:
            told += known[found["subject"]]
        elif found["bare"]:
            told += known[found["bare"]] if "_" in found["bare"] else found["bare"]
        else:
            told += known[found["name"]]
            if found["value"] is not None:
                told += " " + shlex.quote(found["value"])
                while more := MORE_VALUES.match(whole[at:]):
                    told += more[0].replace('"', "")
                    at += more.end()
    return NUMBERS.sub(lambda numbers: numbers[1].replace(", ", ","), told + whole[at:])
