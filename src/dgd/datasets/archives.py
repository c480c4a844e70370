"""Archives unpacked safely: nothing in them may reach outside the folder they are given."""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

from dgd.errors import DGDError

MAX_UNPACKED_BYTES = 2 << 30

Member: TypeAlias = tuple[str, bool, int]
"""Name, whether it is a plain file or folder, and size in bytes."""


class FetchError(DGDError):
    """A download that did not arrive whole, or an archive that is not safe to unpack."""


def unpack(archive: Path, target: Path) -> None:
    """Unpack a zip or tar file into `target`, refusing any member that could reach outside.

    Only plain files and folders with relative names are accepted; every
    member is checked before the first one is written.

    Args:
        archive: A zip or tar file.
        target: The folder to unpack it into.

    Raises:
        FetchError: The archive is not whole, not safe, or too large.
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
