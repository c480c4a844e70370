"""The windows that the data at hand allow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from dgd.datasets import Dataset, kuairand, online_retail
from dgd.errors import InputError

Tell: TypeAlias = Callable[[str], None]
"""Told in a sentence what is being done, or left out and why."""

RETAIL = {"Retail 2010": 2010, "Retail 2011": 2011}
KUAIRAND = {"Standard": "standard", "Random": "random", "KuaiRand late": "late"}
"""The late window is not the paper's; it is the one that a part of the log can fill."""


@dataclass(frozen=True)
class Windows:
    """Data sets of a folder, read when they are first asked for."""

    folder: Path | None
    tell: Tell
    """Told, in a sentence, of every window that is left out, and why."""

    @cached_property
    def retail(self) -> dict[str, Dataset]:
        loaders = {name: partial(online_retail, self.folder, y) for name, y in RETAIL.items()}
        return _readable(loaders, self.tell)

    @cached_property
    def kuairand(self) -> dict[str, Dataset]:
        loaders = {name: partial(kuairand, self.folder, w) for name, w in KUAIRAND.items()}
        return _readable(loaders, self.tell)

    @cached_property
    def by_hour(self) -> dict[str, Dataset]:
        """The KuaiRand windows with every exposure's hour beside its day."""
        return {name: kuairand(self.folder, KUAIRAND[name], by_hour=True) for name in self.kuairand}

    @property
    def all(self) -> dict[str, Dataset]:
        return {**self.kuairand, **self.retail}


def _readable(loaders: Mapping[str, Callable[[], Dataset]], tell: Tell) -> dict[str, Dataset]:
    """Those data sets whose files are there and whole."""
    found = {}
    for name, load in loaders.items():
        try:
            found[name] = load()
        except InputError as error:
            tell(f"{name} is left out: {error}")
    return found
