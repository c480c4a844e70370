"""Archives unpacked safely: nothing in them may reach outside its folder or fill the disk."""

import errno
import gzip
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, TypeAlias, cast

from dgd.datasets.bounded import BoundedBytes, TooMuchError
from dgd.datasets.sources import Bounds
from dgd.errors import DGDError

Member: TypeAlias = tuple[str, bool, int]
"""Name, whether it is a plain file or folder, and size in bytes."""

HEADER_BYTES = 8192
"""What a tar file may spend on each member beside its content."""
GZIP = b"\x1f\x8b"
NAMES_AT_FAULT = {
    errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.EILSEQ, errno.ENAMETOOLONG, errno.ENOTDIR,
}  # fmt: skip
"""Failures to write that come from the names in the archive, not from the disk."""


class FetchError(DGDError):
    """A download that did not arrive whole, or an archive that is not safe to unpack."""


def unpack(archive: Path, target: Path, bounds: Bounds) -> None:
    """Unpack a zip or tar file into `target`, refusing any member that could reach outside.

    Only plain files and folders with relative names are accepted; every
    member is checked before the first one is written.

    Args:
        archive: A zip file, or a tar file, gzipped or not.
        target: The folder to unpack it into.
        bounds: How many bytes and members it may have.

    Raises:
        FetchError: The archive is not whole, not safe, or too large.
        OSError: `target` cannot be written.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                _refuse_unsafe(archive, _zip_members(packed), bounds)
                packed.extractall(target)
        else:
            with _tar(archive, bounds) as bundle:
                _refuse_unsafe(archive, _tar_members(bundle), bounds)
            with _tar(archive, bounds) as bundle:
                # The first releases of Python 3.11 have no filter; the checks hold there too.
                bundle.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
                bundle.extractall(target)
    except FetchError:
        raise
    except TooMuchError as error:
        raise _too_large(archive, bounds) from error
    except Exception as error:
        # Odd archives fail in every way that there is; only the disk is not their fault.
        if isinstance(error, OSError) and error.errno not in {None, *NAMES_AT_FAULT}:
            raise
        reason = str(error).strip(". ") or type(error).__name__
        raise FetchError(
            f"{archive.name} is not a whole archive ({reason}); fetch it again."
        ) from error


@contextmanager
def _tar(archive: Path, bounds: Bounds) -> Iterator[tarfile.TarFile]:
    """The tar file, of which no more is ever read than `bounds` allow."""
    most = bounds.unpacked_bytes + bounds.members * HEADER_BYTES
    with archive.open("rb") as plain:
        zipped = plain.read(len(GZIP)) == GZIP
        plain.seek(0)
        content: BufferedIOBase = gzip.GzipFile(fileobj=plain) if zipped else plain
        bounded = cast(BinaryIO, BoundedBytes(content, most))
        with tarfile.open(fileobj=bounded, mode="r:") as bundle:
            yield bundle


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


def _refuse_unsafe(archive: Path, members: Iterator[Member], bounds: Bounds) -> None:
    total = number = 0
    for name, plain, size in members:
        if not plain:
            raise FetchError(
                f"{archive.name} holds {_shown(name)}, a link or a device; it was not unpacked: "
                "fetch it again."
            )
        windows = PureWindowsPath(name)
        if PurePosixPath(name).is_absolute() or windows.anchor or ".." in windows.parts:
            raise FetchError(
                f"{archive.name} holds {_shown(name)}, which points outside its folder; it was "
                "not unpacked: fetch it again."
            )
        total, number = total + max(size, 0), number + 1
        if total > bounds.unpacked_bytes or number > bounds.members:
            raise _too_large(archive, bounds)


def _shown(name: str) -> str:
    """A name as a message writes it, in one line however odd it is."""
    written = name.encode("unicode_escape", "backslashreplace").decode()
    return f'"{written}"' if len(written) <= 80 else f'"{written[:80]}..."'


def _too_large(archive: Path, bounds: Bounds) -> FetchError:
    return FetchError(
        f"{archive.name} unpacks to more than {bounds.unpacked_bytes:,} bytes or "
        f"{bounds.members:,} members; it was not unpacked: fetch it again."
    )
