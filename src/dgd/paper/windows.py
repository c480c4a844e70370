"""The windows that the data at hand allow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from dgd.datasets import Dataset, kuairand, online_retail
from dgd.errors import InputError

RETAIL = {"Retail 2010": 2010, "Retail 2011": 2011}
KUAIRAND = {"Standard": "standard", "Random": "random", "KuaiRand late": "late"}
"""The late window is not the paper's; it is the one that a part of the log can fill."""


@dataclass(frozen=True)
class Windows:
    """Data sets of a folder, read when they are first asked for."""

    folder: Path | None

    @cached_property
    def retail(self) -> dict[str, Dataset]:
        return _readable(
            {name: partial(online_retail, self.folder, y) for name, y in RETAIL.items()}
        )

    @cached_property
    def kuairand(self) -> dict[str, Dataset]:
        return _readable({name: partial(kuairand, self.folder, w) for name, w in KUAIRAND.items()})

    @property
    def all(self) -> dict[str, Dataset]:
        return {**self.kuairand, **self.retail}


def _readable(loaders: Mapping[str, Callable[[], Dataset]]) -> dict[str, Dataset]:
    """Those data sets whose files are there."""
    found = {}
    for name, load in loaders.items():
        try:
            found[name] = load()
        except InputError:
            continue
    return found
