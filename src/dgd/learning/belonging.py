"""What a checkpoint belongs to: nothing of it may differ where training goes on."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dgd.errors import few

LONGEST = 40
"""How much of a choice a refusal shows."""


@dataclass(frozen=True)
class Belonging:
    """Everything that the numbers of a fit depend on, each part under a name users know."""

    contents: Mapping[str, str]
    """Digests of what is too large to be shown."""
    choices: Mapping[str, Any]
    """What was chosen: plain values, as JSON has them."""

    @property
    def facts(self) -> dict[str, Any]:
        """As a file keeps it and gives it back."""
        kept: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return kept

    def differences(self, facts: Mapping[str, Any]) -> list[str]:
        """In which parts a file's `facts` are those of another fit, in words."""
        ours = self.facts
        contents = _unequal(facts["contents"], ours["contents"])
        choices = {
            name: f"{name} ({_short(facts['choices'], name)} there, "
            f"{_short(ours['choices'], name)} here)"
            for name in _unequal(facts["choices"], ours["choices"])
        }
        return [*contents, *choices.values()]


def _unequal(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    return [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]


def _short(choices: Mapping[str, Any], name: str) -> str:
    said = choices.get(name, "none")
    if isinstance(said, dict):
        said = " ".join(f"{key} {value}" for key, value in said.items())
    if isinstance(said, list):
        said = few(said)
    return "none" if said is None else str(said)[:LONGEST]
