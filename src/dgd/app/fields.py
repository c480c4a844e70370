"""What a form sends, read field by field; what cannot be right is refused by the field's label."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qs

from dgd.errors import InputError
from dgd.tables.refusing import shown

MOST_FIELDS = 5000
Chosen = TypeVar("Chosen")


@dataclass(frozen=True)
class Fields:
    """The fields of a form by their names."""

    given: Mapping[str, Sequence[str]]

    @staticmethod
    def of(body: bytes) -> "Fields":
        """The fields of a form as browsers encode them."""
        try:
            text = body.decode("ascii")
            return Fields(parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
        except ValueError as error:
            raise InputError("this is not what a form sends; load the page again.") from error

    def text(self, name: str) -> str:
        """What stands in the field, empty where it was not sent."""
        found = self.given.get(name, [""])
        return found[-1].strip()

    def several(self, name: str) -> list[str]:
        """Every box that is ticked under the name."""
        return [value for value in self.given.get(name, []) if value]

    def whole(self, name: str, label: str) -> int:
        text = self.text(name)
        try:
            return int(text)
        except ValueError as error:
            raise InputError(f"{label} is {_said(text)}; give a whole number.") from error

    def number(self, name: str, label: str) -> float:
        text = self.text(name)
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise InputError(f"{label} is {_said(text)}; give a number.")
        return found

    def optional_whole(self, name: str, label: str) -> int | None:
        return self.whole(name, label) if self.text(name) else None

    def optional_number(self, name: str, label: str) -> float | None:
        return self.number(name, label) if self.text(name) else None

    def wholes(self, name: str, label: str) -> list[int]:
        """Whole numbers separated by commas."""
        text = self.text(name)
        try:
            return [int(part) for part in text.split(",") if part.strip()]
        except ValueError as error:
            raise InputError(
                f"{label} is {_said(text)}; give whole numbers separated by commas, like 1,2,3."
            ) from error

    def wholes_of(self, name: str, label: str) -> list[int]:
        """The whole numbers of the boxes that are ticked."""
        try:
            return [int(one) for one in self.several(name)]
        except ValueError as error:
            raise InputError(f"{label} are not whole numbers; choose again.") from error

    def one_of(self, name: str, label: str, choices: Sequence[Chosen]) -> Chosen | None:
        """The choice whose number was sent, or none."""
        text = self.text(name)
        if not text:
            return None
        if not text.isdecimal() or int(text) >= len(choices):
            raise InputError(f"{label} is {_said(text)}, which is not offered; choose again.")
        return choices[int(text)]

    def some_of(self, name: str, label: str, choices: Sequence[Chosen]) -> list[Chosen]:
        """The choices whose numbers were sent, in the order of the form."""
        numbers = self.several(name)
        strange = [one for one in numbers if not one.isdecimal() or int(one) >= len(choices)]
        if strange:
            raise InputError(
                f"{label} has {_said(strange[0])}, which is not offered; choose again."
            )
        wanted = {int(one) for one in numbers}
        return [choice for number, choice in enumerate(choices) if number in wanted]


def _said(text: str) -> str:
    return shown(text) if text else "empty"
