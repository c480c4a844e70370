"""Data sets are looked for where the user says, and checked against what is published."""

from pathlib import Path

from dgd.datasets.sources import SOURCES, data_folder


def test_the_data_folder_is_the_argument_then_the_environment_then_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("DGD_DATA", str(tmp_path))
    assert data_folder("elsewhere") == Path("elsewhere")
    assert data_folder() == tmp_path
    monkeypatch.delenv("DGD_DATA")
    assert data_folder().name == "dgd"


def test_kuairand_is_checked_against_the_published_md5():
    assert SOURCES["kuairand"].md5 == "0820331067a3784d9691136f772b35a7"
