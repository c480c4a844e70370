"""The drawing library is bundled once, kept, checked when it is read, and done without a folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from dgd.report.charts import page
from dgd.report.charts.page import drawing_library

BUNDLED = "const vega = 1; // é"


@pytest.fixture(autouse=True)
def bundles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """How often the library is bundled, in a process that has not asked for it yet."""
    made: list[str] = []

    def bundle(*, vl_version: str) -> str:
        made.append(vl_version)
        return BUNDLED

    monkeypatch.setattr(page.vl_convert, "javascript_bundle", bundle)
    monkeypatch.setattr(page, "drawing_library", drawing_library.__wrapped__)
    monkeypatch.setenv("DGD_CACHE", str(tmp_path / "cache" / "of dgd"))
    return made


def kept(folder: Path) -> list[Path]:
    return list((folder / "cache" / "of dgd").iterdir())


def test_another_process_finds_what_was_bundled(bundles: list[str], tmp_path: Path) -> None:
    assert [page.drawing_library() for _ in range(2)] == [BUNDLED] * 2
    assert len(bundles) == 1
    (file,) = kept(tmp_path)
    assert page.vega_lite_version() in file.name
    assert page.version("vl-convert-python") in file.name


@pytest.mark.parametrize("harm", [b"", b"cut", b"0" * 32 + b"other", None])
def test_what_is_unsound_is_made_anew(
    harm: bytes | None, bundles: list[str], tmp_path: Path
) -> None:
    page.drawing_library()
    (file,) = kept(tmp_path)
    sound = file.read_bytes()
    file.write_bytes(sound[:-1] + b"!" if harm is None else harm)
    assert page.drawing_library() == BUNDLED
    assert len(bundles) == 2
    assert file.read_bytes() == sound


def test_another_version_is_bundled_anew(
    bundles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.drawing_library()
    monkeypatch.setattr(page, "version", lambda _: "99.0")
    page.drawing_library()
    assert len(bundles) == len(kept(tmp_path)) == 2


def test_nothing_is_kept_where_the_cache_is_off(
    bundles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DGD_CACHE", "off")
    assert [page.drawing_library() for _ in range(2)] == [BUNDLED] * 2
    assert len(bundles) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_done_without(
    bundles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    for name in (str(in_the_way), str(in_the_way / "below"), "/proc/1/none"):
        monkeypatch.setenv("DGD_CACHE", name)
        assert page.drawing_library() == BUNDLED
    assert len(bundles) == 3


def test_a_page_does_not_wait_for_jax() -> None:
    code = "import sys, dgd.report.charts.files; print('jax' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
