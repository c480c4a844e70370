"""A folder is whole or absent, whatever happens to its writer."""

from pathlib import Path

import pytest

from dgd.errors import InputError, OutputError
from dgd.files.atomic import neighbor_of
from dgd.files.folders import folder_made_whole

MARK = "mark"


def fill(folder: Path, text: str) -> None:
    with folder_made_whole(folder, MARK) as beside:
        (beside / MARK).write_text(text)


def fail_after_writing(folder: Path, error: Exception) -> None:
    with folder_made_whole(folder, MARK) as beside:
        (beside / MARK).write_text("half")
        raise error


def test_a_folder_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with folder_made_whole(folder, MARK) as beside:
        (beside / MARK).write_text("1")
        assert not folder.exists()
    assert (folder / MARK).read_text() == "1"
    fill(folder, "2")
    assert (folder / MARK).read_text() == "2"
    assert list(folder.parent.iterdir()) == [folder]


def test_an_empty_folder_is_filled_and_a_link_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    fill(link, "1")
    assert link.is_symlink()
    assert (real / MARK).read_text() == "1"


def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    fill(tmp_path / "folder", "1")
    with pytest.raises(RuntimeError):
        fail_after_writing(tmp_path / "folder", RuntimeError())
    assert (tmp_path / "folder" / MARK).read_text() == "1"
    assert len(list(tmp_path.iterdir())) == 1


def test_faults_of_the_disk_are_told_in_a_sentence(tmp_path: Path) -> None:
    full = OSError(28, "No space left on device")
    with pytest.raises(OutputError, match=r"could not be written \(No space left on device\)"):
        fail_after_writing(tmp_path / "folder", full)
    assert not any(tmp_path.iterdir())


def test_what_a_killed_writer_moved_aside_is_put_back(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    fill(folder, "1")
    folder.rename(tmp_path / ".folder.replaced")
    with pytest.raises(RuntimeError), folder_made_whole(folder, MARK):
        raise RuntimeError
    assert (folder / MARK).read_text() == "1"


def test_what_killed_writers_left_is_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    name = neighbor_of(folder).name.split(".")
    name[-3] = str(2**22 + 1)
    dead = tmp_path / ".".join(name)
    (dead / "inner").mkdir(parents=True)
    fill(folder, "1")
    assert list(tmp_path.iterdir()) == [folder]


def test_other_things_in_the_way_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path):
        with pytest.raises(InputError), folder_made_whole(place, MARK):
            pytest.fail("nothing may be written")
    assert (tmp_path / "file").read_text() == "mine"
