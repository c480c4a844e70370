"""Where the public data sets are published, and where they are kept at home."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_dir

from dgd.errors import InputError


@dataclass(frozen=True)
class Bounds:
    """What an archive may grow to before it can no longer be the published one."""

    archive_bytes: int
    unpacked_bytes: int
    members: int


@dataclass(frozen=True)
class Source:
    """One published data set: who publishes it, and the archive that holds it."""

    title: str
    folder: str
    """Its folder inside the data folder."""
    url: str
    page: str
    """Where its authors describe and publish it."""
    bounds: Bounds
    """Well above what is published, and far below what would fill a disk."""
    md5: str | None = None

    @property
    def archive(self) -> str:
        return self.folder + (".zip" if self.url.endswith(".zip") else ".tar.gz")


SOURCES: Mapping[str, Source] = {
    "online-retail": Source(
        title="Online Retail II",
        folder="online_retail_ii",
        url="https://archive.ics.uci.edu/static/public/502/online+retail+ii.zip",
        page="https://archive.ics.uci.edu/dataset/502/online+retail+ii",
        bounds=Bounds(archive_bytes=200_000_000, unpacked_bytes=400_000_000, members=20),
    ),
    "kuairand": Source(
        title="KuaiRand-Pure",
        folder="kuairand_pure",
        url="https://zenodo.org/records/10439422/files/KuaiRand-Pure.tar.gz",
        page="https://kuairand.com (files: https://zenodo.org/records/10439422)",
        bounds=Bounds(archive_bytes=500_000_000, unpacked_bytes=1_500_000_000, members=200),
        md5="0820331067a3784d9691136f772b35a7",
    ),
}


def data_folder(path: str | Path | None = None) -> Path:
    """The folder that holds the data sets: `path`, else DGD_DATA, else the user's own."""
    given = path or os.environ.get("DGD_DATA") or user_data_dir("dgd")
    return Path(given).expanduser()


def missing_file(name: str, file: str, folder: Path) -> InputError:
    """The answer to a file of the data set `name` that is not in `folder`."""
    source = SOURCES[name]
    return InputError(
        f"{file} of {source.title} is not in {folder}; get it with `dgd data fetch {name}` or "
        f"from {source.page}, and name its folder with path= or DGD_DATA."
    )
