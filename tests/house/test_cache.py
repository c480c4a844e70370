"""The cache of compiled programs: kept, checked, healed, and done without."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dgd.machine import kept
from dgd.machine.kept import KeptFiles, cache_folder
from dgd.runtime import PROGRAM

pytestmark = pytest.mark.slow

WORK = """
import jax, jax.numpy as jnp
from jax import monitoring
from dgd.runtime import computing
seen = []
monitoring.register_event_listener(lambda event, **_: seen.append(event.rpartition("/")[2]))
with computing():
    one = jax.jit(lambda x: jnp.sin(x).sum() * 2)(jnp.arange(3.0))
    two = jax.jit(lambda x: jnp.outer(x, x) + 1)(jnp.arange(4.0)).sum()
print(seen.count("cache_hits"), seen.count("cache_misses"), float(one), float(two))
"""


def run(folder: Path | None, **variables: str) -> tuple[int, int, list[str]]:
    """Programs read and written by a process of its own, and its results; it warns of nothing."""
    around = {**os.environ, **variables}
    around.pop("DGD_CACHE", None)
    if folder is not None:
        around["DGD_CACHE"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", WORK],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=around,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    hits, misses, *results = done.stdout.split()
    return int(hits), int(misses), results


def flip(files: list[Path]) -> None:
    for file in files:
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)


def swap(files: list[Path]) -> None:
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[1:] + contents[:1], strict=True):
        file.write_bytes(content)


def cut(files: list[Path]) -> None:
    for file in files:
        file.write_bytes(file.read_bytes()[:20])


def empty(files: list[Path]) -> None:
    for file in files:
        file.write_bytes(b"")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, list[str]]:
    """A folder of programs, how many they are, and what they compute."""
    folder = tmp_path_factory.mktemp("programs")
    hits, misses, results = run(folder)
    assert (hits, misses) == (0, len(list(folder.iterdir())))
    assert misses > 1
    return folder, misses, results


@pytest.mark.parametrize("harm", [flip, swap, cut, empty])
def test_a_damaged_cache_heals_without_a_word(
    filled: tuple[Path, int, list[str]], harm: Callable[[list[Path]], None]
) -> None:
    """Every program is dropped, compiled anew and found again."""
    folder, programs, results = filled
    harm(sorted(folder.iterdir()))
    assert run(folder) == (0, programs, results)
    assert run(folder) == (programs, 0, results)
    assert len(list(folder.iterdir())) == programs


def test_a_program_that_can_be_neither_read_nor_replaced_is_done_without(
    filled: tuple[Path, int, list[str]],
) -> None:
    folder, programs, results = filled
    first = min(folder.iterdir())
    first.unlink()
    first.mkdir()
    assert run(folder) == (programs - 1, 1, results)
    assert len(list(folder.iterdir())) == programs
    first.rmdir()


def test_without_a_folder_it_works_without_a_word(
    filled: tuple[Path, int, list[str]], tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    nobody = {"HOME": str(in_the_way / "home"), "XDG_CACHE_HOME": ""}
    assert run(None, **nobody)[2] == filled[2]
    assert run(in_the_way)[2] == filled[2]


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    programs = KeptFiles(tmp_path / "missing", PROGRAM)
    programs.put("key", b"program")
    assert programs.get("key") is None


def test_a_user_without_a_home_has_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: str) -> str:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("DGD_CACHE", raising=False)
    monkeypatch.setattr(kept.platformdirs, "user_cache_dir", homeless)
    assert cache_folder() is None


def test_a_program_is_given_back_under_its_own_key_alone(tmp_path: Path) -> None:
    programs = KeptFiles(tmp_path, PROGRAM)
    programs.put("one", b"1")
    (tmp_path / "one.program").rename(tmp_path / "two.program")
    assert programs.get("two") is None
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_when_it_is_old(tmp_path: Path) -> None:
    old, new = tmp_path / ".unfinished-old", tmp_path / ".unfinished-new"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    KeptFiles(tmp_path, PROGRAM)
    assert list(tmp_path.iterdir()) == [new]
