"""Sentences of the library in the words of the shell: its options for Python's arguments."""

import re
import shlex
from collections.abc import Mapping

OF_CLOCK = re.compile(r"(?<= out) of its Clock\b| (?:in|of) its Clock\b|(?<=give )its Clock ")
"""What Python calls the options of a time column together."""
MORE_VALUES = re.compile(r"^(?:, (?:or )?| or )\"([^\"\s]+)\"")


def in_shell_words(sentence: str, options: Mapping[str, str]) -> str:
    """The sentence with every argument that is among `options` written as the shell does.

    Args:
        sentence: What the library says, like `say stored_in="UTC" in its Clock`.
        options: The option of each argument, like `{"stored_in": "--stored-in"}`.

    Returns:
        `say --stored-in UTC`. What stands in quotes, names of columns and names
        followed by the value that was given stay as they are.
    """
    if not options:
        return sentence
    names = "|".join(map(re.escape, options))
    argument = re.compile(
        rf'(?P<quoted>(?<!=)"[^"]*"|\bcolumn \S+)'
        rf'|\b(?P<name>{names})=(?:"(?P<value>[^"]*)"|(?![\w"]))'
        rf"|\b(?P<bare>{names})\b(?! [\"\d])"
    )
    said, rest = "", OF_CLOCK.sub("", sentence)
    while found := argument.search(rest):
        said += rest[: found.start()]
        rest = rest[found.end() :]
        if found["quoted"]:
            said += found["quoted"]
        elif found["bare"]:
            said += options[found["bare"]] if "_" in found["bare"] else found["bare"]
        else:
            said += options[found["name"]]
            if found["value"] is not None:
                said += " " + shlex.quote(found["value"])
                while more := MORE_VALUES.match(rest):
                    said += more[0].replace('"', "")
                    rest = rest[more.end() :]
    return said + rest
