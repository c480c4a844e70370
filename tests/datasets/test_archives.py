"""A hostile archive is refused before anything is written."""

import tarfile

import pytest

from dgd.datasets import archives
from dgd.datasets.archives import FetchError, unpack
from support.packed import tar_bytes, zip_bytes


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
        unpack(archive, home)
    assert list(home.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "home"]


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1000)
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(tar_bytes(tarfile.TarInfo("log.csv")))
    with pytest.raises(FetchError, match="unpacks to more than 1,000 bytes"):
        unpack(archive, tmp_path)
