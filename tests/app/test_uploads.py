"""Uploads: as large as allowed, what they say they are, and never part of a path."""

import asyncio
import io
import json
import pickle
from collections.abc import AsyncIterator
from pathlib import Path

import polars as pl
import pytest

import dgd
from dgd.app.uploads import MEGABYTE, received
from dgd.errors import InputError
from support.visiting import Visitor, said

CSV = b"date,cohort,click,count\n2024-01-01,new,1,3\n"


def parquet() -> bytes:
    content = io.BytesIO()
    pl.read_csv(CSV).write_parquet(content)
    return content.getvalue()


def test_tables_are_taken(guest: Visitor) -> None:
    for name, content in (("counts.csv", CSV), ("counts.parquet", parquet())):
        answer = guest.upload(name, content)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert told["go"].startswith("table?id=")
        assert told["name"] == name
        page = guest.get(told["go"])
        assert page.status_code == 200
        assert name in page.text


def test_a_model_is_taken(guest: Visitor, shaken_fit: dgd.Fit, tmp_path: Path) -> None:
    shaken_fit.save(tmp_path / "own.dgd")
    answer = guest.upload("own.dgd", (tmp_path / "own.dgd").read_bytes())
    assert answer.json()["go"].startswith("model?id=")


def test_too_much_is_refused_before_all_of_it_is_read(tmp_path: Path) -> None:
    asked = []

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(100):
            asked.append(number)
            yield bytes(MEGABYTE)

    with pytest.raises(InputError, match=r"more than 2 MB.*--upload-limit"):
        asyncio.run(received(pieces(), "large.csv", tmp_path, limit=2))
    assert len(asked) == 3
    assert not list(tmp_path.iterdir())


def test_the_sentence_about_size_reaches_the_page(guest: Visitor) -> None:
    answer = guest.upload("large.csv", b"a\n" + b"1\n" * MEGABYTE)
    assert answer.status_code == 422
    assert 'File "large.csv" has more than 1 MB' in said(answer)
    assert not list(guest.desk.scratch.iterdir())


@pytest.mark.parametrize(
    "name", ["counts.xlsx", "model.pkl", "counts", "page.html", ".csv.exe", ""]
)
def test_other_endings_are_refused(guest: Visitor, name: str) -> None:
    answer = guest.upload(name, CSV)
    assert answer.status_code == 422
    assert "is neither .csv, .parquet, .dgd" in said(answer)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("counts.parquet", CSV),
        ("counts.parquet", b"PAR1"[:3]),
        ("counts.csv", parquet()),
        ("counts.csv", b"a\n\xff\xfe\n"),
        ("counts.csv", b"a\n\0\n"),
        ("model.dgd", CSV),
        ("model.dgd", pickle.dumps({"a": 1})),
        ("model.dgd", b"\xff" * 64),
        ("model.dgd", (2).to_bytes(8, "little") + b"[]"),
        ("model.dgd", (2).to_bytes(8, "little") + b"{}"),
    ],
)
def test_content_must_be_what_the_ending_says(guest: Visitor, name: str, content: bytes) -> None:
    answer = guest.upload(name, content)
    assert answer.status_code == 422
    assert "but is not" in said(answer)
    assert not list(guest.desk.scratch.iterdir())


def test_a_tensor_file_of_ours_that_is_broken_is_refused_by_its_name(guest: Visitor) -> None:
    header = json.dumps({"__metadata__": {"dgd": "x"}}).encode()
    answer = guest.upload("broken.dgd", len(header).to_bytes(8, "little") + header)
    assert answer.status_code == 422
    assert '"broken.dgd"' in said(answer)
    assert str(guest.desk.scratch) not in answer.text
    assert not list(guest.desk.scratch.iterdir())


def test_nothing_is_uploaded_in_an_empty_file(guest: Visitor) -> None:
    assert "is empty" in said(guest.upload("counts.csv", b""))


@pytest.mark.parametrize("name", ["../../up.csv", "C:\\up.csv", "/etc/up.csv", "a/b/up.csv"])
def test_names_of_uploads_are_no_paths(guest: Visitor, name: str) -> None:
    assert guest.upload(name, CSV).json()["name"] == "up.csv"
    assert list(guest.desk.folder.path.iterdir()) == []
    assert not list(guest.desk.folder.path.parent.rglob("up.csv"))


def test_nothing_is_kept_of_a_table_that_was_read(guest: Visitor) -> None:
    guest.upload("counts.csv", CSV)
    assert not list(guest.desk.scratch.iterdir())


def test_markup_in_a_name_is_text(guest: Visitor) -> None:
    page = guest.get(guest.upload("<b>x.csv", CSV).json()["go"]).text
    assert "&lt;b&gt;x.csv" in page
    assert "<b>" not in page
