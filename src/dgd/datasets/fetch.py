"""Where the public data sets live, and how they are brought home safely.

A download is checked, resumed after a break where the server allows it, and
unpacked into a folder of its own that appears only when it is complete.
"""

import hashlib
import os
import stat
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path, PurePosixPath, PureWindowsPath
from ssl import SSLError

from platformdirs import user_data_dir

from dgd.errors import DGDError, InputError

CHUNK = 1 << 18
ATTEMPTS = 3
TIMEOUT_SECONDS = 30
MAX_UNPACKED_BYTES = 2 << 30

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and, where the server says, their total."""


class FetchError(DGDError):
    """A download that did not arrive whole, or an archive that is not safe to unpack."""


@dataclass(frozen=True)
class Source:
    """One published data set: who publishes it, and the archive that holds it."""

    title: str
    folder: str
    """Its folder inside the data folder."""
    url: str
    page: str
    """Where its authors describe and publish it."""
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
    ),
    "kuairand": Source(
        title="KuaiRand-Pure",
        folder="kuairand_pure",
        url="https://zenodo.org/records/10439422/files/KuaiRand-Pure.tar.gz",
        page="https://kuairand.com (files: https://zenodo.org/records/10439422)",
        md5="0820331067a3784d9691136f772b35a7",
    ),
}


def data_folder(path: str | Path | None = None) -> Path:
    """The folder that holds the data sets: `path`, else DGD_DATA, else the user's own."""
    given = path or os.environ.get("DGD_DATA") or user_data_dir("dgd")
    return Path(given).expanduser()


def missing(name: str, file: str, folder: Path) -> InputError:
    """The answer to a file of the data set `name` that is not in `folder`."""
    source = SOURCES[name]
    return InputError(
        f"{file} of {source.title} is not in {folder}; get it with `dgd data fetch {name}` or "
        f"from {source.page}, and name its folder with path, --data or DGD_DATA."
    )


def fetch(source: Source, folder: Path, progress: Progress | None = None) -> Path:
    """Bring `source` into `folder` unless it is there already; return its own folder.

    A transfer that breaks is kept and continued by the next call where the
    server can resume; otherwise, and whenever a check fails, nothing is left behind.
    """
    target = folder / source.folder
    if target.is_dir() and any(target.iterdir()):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{source.archive}.part"
        _download(source, part, progress or _silent)
        try:
            _check_md5(source, part)
            _unpack_whole(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise FetchError(
            f"{source.title} could not be stored in {folder} ({error}); choose another folder "
            "with --data or DGD_DATA."
        ) from error
    return target


def _silent(done: int, total: int | None) -> None:
    """Show nothing."""


def _download(source: Source, part: Path, progress: Progress) -> None:
    """Fill `part`, going on from the bytes it already has."""
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            if _transfer(source, part, progress):
                return
            reason = "the connection closed early"
        except urllib.error.HTTPError as error:
            if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if error.headers.get("Content-Range") == f"bytes */{_held(part)}":
                    return
                part.unlink()
            reason = f"the server answered {error.code} {error.reason}"
        except (urllib.error.URLError, HTTPException, SSLError, TimeoutError, ConnectionError) as e:
            reason = str(getattr(e, "reason", e)) or type(e).__name__
    held = _held(part)
    way_out = f"{held:,} bytes are kept, run it again to go on" if held else "try again later"
    raise FetchError(
        f"{source.url} did not arrive whole ({reason}); {way_out}, or get {source.title} by hand "
        f"from {source.page}."
    )


def _held(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _transfer(source: Source, part: Path, progress: Progress) -> bool:
    """One request; says whether `part` is whole, and deletes what could not be resumed."""
    held = _held(part)
    headers = {"User-Agent": "dgd"} | ({"Range": f"bytes={held}-"} if held else {})
    request = urllib.request.Request(source.url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {held}-")
        held = held if resumed else 0
        length = answer.headers.get("Content-Length")
        total = held + int(length) if length else None
        resumable = resumed or answer.headers.get("Accept-Ranges") == "bytes"
        whole = False
        try:
            with part.open("ab" if resumed else "wb") as file:
                while chunk := answer.read(CHUNK):
                    file.write(chunk)
                    held += len(chunk)
                    progress(held, total)
            whole = total is None or held == total
        finally:
            if not (whole or resumable):
                part.unlink(missing_ok=True)
    return whole


def _check_md5(source: Source, archive: Path) -> None:
    if source.md5 is None:
        return
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != source.md5:
        raise FetchError(
            f"{source.url} has md5 {found}, not {source.md5}; the download was deleted: try "
            f"again, or get {source.title} from {source.page}."
        )


def _unpack_whole(archive: Path, target: Path) -> None:
    """Unpack beside `target` and move there only when everything went well."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        whole = Path(scratch) / "whole"
        whole.mkdir()
        unpack(archive, whole)
        if target.is_dir():
            target.rmdir()
        whole.rename(target)


def unpack(archive: Path, target: Path) -> None:
    """Unpack a zip or tar file into `target`, refusing any member that could reach outside.

    Only plain files and folders with relative names are accepted; every
    member is checked before the first one is written.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                _refuse_unsafe(archive, _zip_members(packed))
                packed.extractall(target)
        else:
            with tarfile.open(archive, "r:*") as bundle:
                _refuse_unsafe(archive, _tar_members(bundle))
                # The first releases of Python 3.11 have no filter; the checks above hold there too.
                bundle.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
                bundle.extractall(target)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FetchError(
            f"{archive.name} is not a whole archive ({error}); fetch it again."
        ) from error


def _as_it_is(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    del path
    return member


Member = tuple[str, bool, int]
"""Name, whether it is a plain file or folder, and size in bytes."""


def _zip_members(packed: zipfile.ZipFile) -> Iterator[Member]:
    for entry in packed.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        yield entry.filename, kind in (0, stat.S_IFREG, stat.S_IFDIR), entry.file_size


def _tar_members(bundle: tarfile.TarFile) -> Iterator[Member]:
    for entry in bundle:
        yield entry.name, entry.isreg() or entry.isdir(), entry.size


def _refuse_unsafe(archive: Path, members: Iterator[Member]) -> None:
    total = 0
    for name, plain, size in members:
        if not plain:
            raise FetchError(
                f'{archive.name} holds "{name}", a link or a device; it was not unpacked.'
            )
        windows = PureWindowsPath(name)
        if PurePosixPath(name).is_absolute() or windows.anchor or ".." in windows.parts:
            raise FetchError(
                f'{archive.name} holds "{name}", which points outside its folder; it was not '
                "unpacked."
            )
        total += size
        if total > MAX_UNPACKED_BYTES:
            raise FetchError(
                f"{archive.name} unpacks to more than {MAX_UNPACKED_BYTES:,} bytes; it was not "
                "unpacked."
            )
