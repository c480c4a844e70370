"""What a data set of counts says of itself: a small file, written last, that holds its axes.

Whoever reads some parts of a data set learns here which dates, cohorts and behaviours all of
it has, so that panels of different parts fit together. The totals of every part are there too:
a file that was lost, added or cut shows.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dgd.errors import InputError, first_line
from dgd.files import declared
from dgd.files.atomic import write_atomically
from dgd.tables.checks import LARGEST_COUNT, MAX_BEHAVIORS
from dgd.tables.labels import Label
from dgd.tables.periods import PERIODS, period_named

MANIFEST = "manifest.json"
FORMAT = 1
"""Rises whenever data sets written before could no longer be read, or not by an earlier dgd."""
MOST_PARTITIONS = 10_000
COLUMNS = ("date", "unit", "cohort", "count")


class PartTotals(NamedTuple):
    """What one part holds."""

    rows: int
    arrivals: int
    units: int


@dataclass(frozen=True)
class CountsManifest:
    """The axes and totals of a data set of counts, as its `manifest.json` has them."""

    columns: dict[str, str]
    """What the columns `date`, `unit`, `cohort` and `count` are called."""
    behaviors: tuple[str, ...]
    context: tuple[str, ...]
    period: str
    first: str
    """The first and last date with counts in any part."""
    last: str
    cohorts: tuple[Label, ...]
    parts: tuple[PartTotals, ...]
    """Rows, arrivals and units of every part; a unit is in part `hash_bucket(unit, partitions)`."""

    @property
    def partitions(self) -> int:
        """How many parts there are."""
        return len(self.parts)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def arrivals(self) -> int:
        return sum(part.arrivals for part in self.parts)

    @property
    def units(self) -> int:
        return sum(part.units for part in self.parts)

    @property
    def names(self) -> list[str]:
        """Every column of the files, in order."""
        date, unit, cohort, count = (self.columns[name] for name in COLUMNS)
        return [date, unit, cohort, *self.context, *self.behaviors, count]

    def payload(self) -> dict[str, Any]:
        """The manifest as JSON has it."""
        totals = {name: getattr(self, name) for name in ("partitions", "rows", "arrivals", "units")}
        parts = [part._asdict() for part in self.parts]
        return {"format": FORMAT, "holds": "counts", **asdict(self), **totals, "parts": parts}

    def write(self, folder: Path) -> None:
        """Put the manifest into the folder, which is a data set from then on."""
        text = json.dumps(self.payload(), indent=1)
        write_atomically(folder / MANIFEST, text.encode())


def is_data_set(folder: Path) -> bool:
    """Whether a manifest lies in the folder."""
    return os.path.isfile(os.path.join(folder, MANIFEST))


def read_manifest(folder: Path) -> CountsManifest:
    """The manifest of a data set; a folder without one is none.

    Raises:
        InputError: The folder does not exist, has no manifest, or one that cannot be right.
    """
    file = Path(folder) / MANIFEST
    if not is_data_set(folder):
        if not os.path.isdir(folder):
            what = "is a file" if os.path.exists(folder) else "does not exist"
            raise InputError(f'folder "{folder}" {what}; name the folder of a data set.')
        raise InputError(
            f'folder "{folder}" has no {MANIFEST}, so it is no data set, or one that was never '
            "finished; count again."
        )
    try:
        facts = json.loads(file.read_text("utf-8"))
        written = declared.whole(facts, "format", 1, 10**6)
        if written == FORMAT:
            return _read(facts)
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f'"{file}" is not the manifest of a data set ({first_line(error)}); count again.'
        ) from error
    raise InputError(
        f'"{file}" was written by a newer dgd (format {written}, this one reads {FORMAT}); '
        "upgrade dgd."
    )


def _read(facts: dict[str, Any]) -> CountsManifest:
    """The facts, each taken only where it can be right."""
    declared.choice(facts, "holds", ["counts"])
    named = declared.part(facts, "columns")
    columns = {name: declared.texts({name: [named[name]]}, name)[0] for name in COLUMNS}
    behaviors, context = declared.texts(facts, "behaviors"), declared.texts(facts, "context")
    if not 1 <= len(behaviors) <= MAX_BEHAVIORS:
        raise ValueError(f"behaviors names {len(behaviors)} columns")
    names = [*columns.values(), *context, *behaviors]
    if len(set(names)) < len(names):
        raise ValueError("a column has two meanings")
    period = period_named(declared.choice(facts, "period", list(PERIODS)))
    first, last = (declared.texts({name: [facts[name]]}, name)[0] for name in ("first", "last"))
    if period.parse(first, "first") > period.parse(last, "last"):
        raise ValueError(f"first {first} is after last {last}")
    found = CountsManifest(
        columns=columns,
        behaviors=behaviors,
        context=context,
        period=period.name,
        first=first,
        last=last,
        cohorts=declared.labels(facts, "cohorts"),
        parts=_parts(facts["parts"]),
    )
    for name in ("partitions", "rows", "arrivals", "units"):
        if facts[name] != getattr(found, name):
            raise ValueError(f"{name} is not what the parts add up to")
    return found


def _parts(found: Any) -> tuple[PartTotals, ...]:
    if not isinstance(found, Sequence) or not 1 <= len(found) <= MOST_PARTITIONS:
        raise TypeError("parts is not a list of totals")
    return tuple(
        PartTotals(*(declared.whole(part, name, 0, LARGEST_COUNT) for name in PartTotals._fields))
        for part in found
    )


def checked_partitions(partitions: object) -> int:
    """The number of parts a user wants, refused where no data set could have it."""
    if not declared.is_whole(partitions) or not 1 <= partitions <= MOST_PARTITIONS:
        raise InputError(
            f"partitions is {str(partitions)[:80]}; give a whole number from 1 to "
            f"{MOST_PARTITIONS:,}."
        )
    return partitions


def part_folder(part: int) -> str:
    """The name of a part's folder."""
    return f"part={part:05d}"
