"""A result is written whole, where it was meant to go, or kept and its place named."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import dgd
from dgd.files import atomic
from dgd.files.atomic import check_target, write_atomically
from support.refusals import refused


def partials(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(atomic.PARTIAL)]


def test_the_mode_of_a_private_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "model.dgd"
    file.write_bytes(b"old")
    file.chmod(0o600)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "model.dgd", tmp_path / "model.dgd"
    link.symlink_to(target)
    for content in (b"first", b"second"):
        check_target(link)
        write_atomically(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for odd in (pipe, Path(os.devnull)):
        for use in (check_target, lambda path: write_atomically(path, b"x")):
            with refused(str(odd), "not a plain file", "name a file"):
                use(odd)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_no_result_replaces_its_input(tmp_path: Path) -> None:
    log, link = tmp_path / "log.csv", tmp_path / "link.csv"
    log.write_text("everything")
    link.symlink_to(log)
    for output in (log, link, tmp_path / "." / "log.csv"):
        with refused("is the input", "name another file"):
            check_target(output, [None, tmp_path / "other.csv", log])
    check_target(tmp_path / "new.csv", [log])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.csv", "log.csv"]


def test_a_folder_that_takes_nothing_is_found_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, "_create", full)
    with refused(str(tmp_path), "No space left on device", "name another"):
        check_target(tmp_path / "model.dgd")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.dgd"
    file.touch(mode=0o400)
    with refused("may not be written to"):
        check_target(file)


def test_what_cannot_be_written_is_kept_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = tmp_path / "model.dgd", atomic._write

    def fail_once(target: Path, content: bytes) -> None:
        if target == file:
            raise OSError(5, "Input/output error")
        write(target, content)

    monkeypatch.setattr(atomic, "_write", fail_once)
    with pytest.raises(dgd.OutputError, match=r"Input/output error.*the result is in") as failure:
        write_atomically(file, b"a day of training")
    kept = Path(str(failure.value).split('"')[3])
    assert kept.read_bytes() == b"a day of training"
    assert not file.exists()


def test_the_next_save_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    """A process that has ended left its part; one that runs, and other files, are let alone."""
    file = tmp_path / "model.dgd"
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead = int(child.stdout)
    stem = atomic._stem(file)
    left = [f"{stem}{dead}.aa{atomic.PARTIAL}", f"{stem}{dead}.bb{atomic.PARTIAL}"]
    mine = f"{stem}{os.getpid()}.cc{atomic.PARTIAL}"
    other = f".other.dgd.{dead}.dd{atomic.PARTIAL}"
    for name in (*left, mine, other):
        (tmp_path / name).write_bytes(b"half")
    write_atomically(file, b"whole")
    assert sorted(partials(tmp_path)) == sorted([mine, other])


def test_a_very_long_name_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / ("m" * 250)
    check_target(file)
    write_atomically(file, b"content")
    assert file.read_bytes() == b"content"
