"""The app reads tables and models of its folder, and nothing else."""

import os
from pathlib import Path

import pytest

from dgd.app.folder import DEEPEST, Folder
from support.refusals import refused
from support.visiting import Visitor, said


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = (tmp_path / "data").resolve()
    (folder / "below").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for name in ("b.csv", "a.parquet", "below/model.dgd", "notes.txt", ".hidden.csv"):
        (folder / name).write_text("a\n1\n")
    return folder


def test_tables_and_models_are_listed_the_nearest_first(place: Path) -> None:
    assert list(Folder(place).listing()) == ["a.parquet", "b.csv", "below/model.dgd"]


def test_links_that_lead_outside_are_not_listed(place: Path) -> None:
    os.symlink(place.parent / "secret.csv", place / "link.csv")
    os.symlink(place.parent, place / "up")
    os.symlink(place / "b.csv", place / "inside.csv")
    listed = Folder(place).listing()
    assert "inside.csv" in listed
    assert not {"link.csv", "up/secret.csv"} & set(listed)


def test_a_link_that_is_turned_outside_is_not_followed(place: Path) -> None:
    os.symlink(place / "b.csv", place / "turned.csv")
    folder = Folder(place)
    assert "turned.csv" in folder.listing()
    (place / "turned.csv").unlink()
    os.symlink(place.parent / "secret.csv", place / "turned.csv")
    with refused('"turned.csv" is not among'):
        folder.file("turned.csv")


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "below/../../secret.csv", "/etc/passwd", "notes.txt", ".hidden.csv", ""],
)
def test_only_names_of_the_listing_are_opened(place: Path, name: str) -> None:
    with refused("is not among the tables and models of the folder"):
        Folder(place).file(name)


def test_a_file_outside_is_refused_and_says_where_to_start(place: Path) -> None:
    with refused("outside the folder", f'cd "{place.parent.resolve()}"', 'dgd serve "secret.csv"'):
        Folder(place).name_of(place.parent / "secret.csv")


def test_a_file_inside_is_known_by_its_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    assert Folder.here().name_of(Path("below/model.dgd")) == "below/model.dgd"
    for name, words in (("none.csv", "does not exist"), ("notes.txt", "neither .csv")):
        with refused(words):
            Folder.here().name_of(Path(name))


def test_folders_are_not_looked_through_without_end(place: Path) -> None:
    deep = place.joinpath(*["deep"] * (DEEPEST + 1))
    deep.mkdir(parents=True)
    (deep / "far.csv").write_text("a\n1\n")
    assert not [name for name in Folder(place).listing() if "far" in name]
    with refused("too deep"):
        Folder(place).name_of(deep / "far.csv")


def test_a_large_folder_is_looked_at_level_by_level_and_not_to_its_end(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (place / "below" / f"{number:02d}.csv").write_text("a\n1\n")
    monkeypatch.setattr("dgd.app.folder.MOST_LOOKED_AT", 10)
    listed = list(Folder(place).listing())
    assert listed[:2] == ["a.parquet", "b.csv"]
    assert 2 < len(listed) < 10


def test_a_browser_cannot_name_other_files(guest: Visitor) -> None:
    (guest.desk.folder.path.parent / "secret.csv").write_text("a\n1\n")
    for name in ("../secret.csv", str(guest.desk.folder.path.parent / "secret.csv")):
        answer = guest.post("open", {"file": name})
        assert answer.status_code == 422
        assert "is not among" in said(answer)
