"""A hostile archive is refused before anything is written."""

import gzip
import io
import random
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from dgd.datasets.archives import FetchError, unpack
from dgd.datasets.sources import Bounds
from support.packed import CSV, tar_bytes, zip_bytes

ROOMY = Bounds(archive_bytes=1_000_000, unpacked_bytes=1_000_000, members=10)


def hostile_tar(name: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, "/etc/passwd"
    return tar_bytes(tarfile.TarInfo("first.csv"), member)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (hostile_tar("../outside.csv"), "points outside its folder"),
        (hostile_tar("data/../../outside.csv"), "points outside its folder"),
        (hostile_tar("/outside.csv"), "points outside its folder"),
        (hostile_tar("C:\\outside.csv"), "points outside its folder"),
        (hostile_tar("..\\outside.csv"), "points outside its folder"),
        (hostile_tar("log.csv", tarfile.SYMTYPE), "a link or a device"),
        (hostile_tar("log.csv", tarfile.LNKTYPE), "a link or a device"),
        (hostile_tar("log.csv", tarfile.FIFOTYPE), "a link or a device"),
        (hostile_tar("log.csv", tarfile.CHRTYPE), "a link or a device"),
        (zip_bytes("../outside.csv"), "points outside its folder"),
        (zip_bytes("/outside.csv"), "points outside its folder"),
        (zip_bytes("log.csv", b"/etc/passwd", 0o120777), "a link or a device"),
    ],
)
def test_a_hostile_archive_is_refused_before_anything_is_written(tmp_path, body, message):
    archive, home = tmp_path / "archive", tmp_path / "home"
    archive.write_bytes(body)
    home.mkdir()
    with pytest.raises(FetchError, match=message):
        unpack(archive, home, ROOMY)
    assert list(home.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "home"]


def many(count: int) -> bytes:
    return tar_bytes(*(tarfile.TarInfo(f"{k}.csv") for k in range(count)), content=b"1")


def zip_of_many(count: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as bundle:
        for k in range(count):
            bundle.writestr(f"{k}.csv", b"1")
    return packed.getvalue()


def zip_bomb(size: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("log.csv", bytes(size))
    return packed.getvalue()


def header_bomb(size: int, kind: bytes) -> bytes:
    """A member whose name is that long, as zeros that pack to nothing."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, size
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as bundle:
        bundle.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(size // 1_000_000):
            bundle.write(bytes(1_000_000))
    return packed.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        tar_bytes(tarfile.TarInfo("log.csv"), content=bytes(1_000_001)),
        many(11),
        zip_of_many(11),
        zip_bomb(1_000_001),
        header_bomb(100_000_000, tarfile.GNUTYPE_LONGNAME),
        header_bomb(100_000_000, tarfile.XHDTYPE),
    ],
    ids=["bytes", "members", "zip members", "zip bytes", "long name", "long header"],
)
def test_an_archive_that_would_fill_disk_or_memory_is_refused(tmp_path, body):
    archive, home = tmp_path / "x.tar.gz", tmp_path / "home"
    archive.write_bytes(body)
    home.mkdir()
    tracemalloc.start()
    try:
        with pytest.raises(FetchError, match="unpacks to more than 1,000,000 bytes or 10 members"):
            unpack(archive, home, ROOMY)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert list(home.iterdir()) == []


def encrypted_zip() -> bytes:
    body = bytearray(zip_bytes("log.csv"))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", body, body.index(mark) + place, 1)
    return bytes(body)


def zip_with_method(method: int) -> bytes:
    body = bytearray(zip_bytes("log.csv"))
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", body, body.index(mark) + place, method)
    return bytes(body)


def file_and_folder() -> bytes:
    return tar_bytes(tarfile.TarInfo("log"), tarfile.TarInfo("log/inside.csv"))


ODD = {
    "nothing": b"",
    "a web page": b"<html>not found</html>" * 100,
    "another gzip": gzip.compress(CSV),
    "cut gzip": tar_bytes(tarfile.TarInfo("log.csv"))[:-30],
    "encrypted zip": encrypted_zip(),
    "unknown compression": zip_with_method(99),
    "wrong compression": zip_with_method(14),
    "cut zip": zip_bytes("log.csv")[60:],
    "a file that is a folder": file_and_folder(),
    "a name too long": tar_bytes(tarfile.TarInfo("x" * 3000)),
}


def refusal(archive: Path, home: Path) -> str | None:
    """What is said of an archive that cannot be unpacked; nothing but a refusal is caught."""
    home.mkdir()
    try:
        unpack(archive, home, ROOMY)
    except FetchError as error:
        return str(error)
    return None


@pytest.mark.parametrize("what", ODD)
def test_an_odd_archive_ends_in_one_sentence(tmp_path, what):
    (tmp_path / "archive").write_bytes(ODD[what])
    said = refusal(tmp_path / "archive", tmp_path / "home")
    assert said is not None
    assert said.startswith("archive is not a whole archive (")
    assert said.endswith("fetch it again.")
    assert "\n" not in said


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_bytes_changed_at_random_never_end_in_a_traceback(tmp_path, kind):
    rng = random.Random(1)
    sound = zip_bytes("log.csv", b"1,2")
    if kind == "tar":
        sound = gzip.decompress(tar_bytes(tarfile.TarInfo("log.csv"), content=b"1,2"))[:2048]
    for number in range(200):
        body = bytearray(sound)
        for _ in range(3):
            body[rng.randrange(min(len(body), 600))] = rng.randrange(256)
        (tmp_path / "archive").write_bytes(body)
        said = refusal(tmp_path / "archive", tmp_path / str(number))
        assert said is None or "fetch it again" in said
