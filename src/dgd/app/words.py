"""Sentences of the library in the words of the app's forms: labels for Python's arguments."""

import re

LABELS = {
    "train_end": "Last training day",
    "validation_end": "Last validation day",
    "warmup_end": "Last warm-up day",
    "behaviors": "Behaviours",
    "duplicates": "Rows that repeat",
    "period": "One row is one",
    "per_day": "Most effort a day",
    "per_unit": "Most effort of a unit",
    "learning_rate": "Learning rate",
    "market_size": "Market size",
    "stored_in": "Time zone of the table",
    "with_prices": "Prices",
}
"""What the forms call the arguments that the library's sentences name."""

_NAMES = "|".join(map(re.escape, LABELS))
_ARGUMENT = re.compile(
    rf'(?P<quoted>(?<!=)"[^"]*"|\bcolumn \S+)'
    rf'|\b(?P<set>{_NAMES})="(?P<value>[^"]*)"'
    rf"|\b(?P<name>{_NAMES})\b"
)
_ALSO_WORDS = {"period", "duplicates"}
"""Names that are words of their own where no value follows."""


def in_form_words(sentence: str) -> str:
    """The sentence with every argument called what the form calls it.

    What stands in quotes and names of columns stay as they are: `train_end 2022-01-01` becomes
    `“Last training day” 2022-01-01`, and `say duplicates="sum"` `say “Rows that repeat”: sum`.
    """

    def worded(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found["quoted"]
        if found["set"]:
            return f"“{LABELS[found['set']]}”: {found['value']}"
        name = found["name"]
        return name if name in _ALSO_WORDS else f"“{LABELS[name]}”"

    return _ARGUMENT.sub(worded, sentence)
