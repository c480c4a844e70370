"""Killed at any moment, dgd leaves the old file or the new one, and the next call clears up.

`make fuzz` kills hundreds of times (it sets DGD_FUZZ). Where in its work a process is when it
dies is left to chance; what must hold afterwards is not.
"""

import hashlib
import os
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import dgd
from dgd.datasets.downloads import fetch
from dgd.datasets.sources import SOURCES, Source
from dgd.files.tensors import read_tensors, write_tensors
from dgd.tables.files import write_table
from support.killing import after, at_neighbor, killed, neighbors
from support.packed import tar_bytes
from support.site import Site, open_site
from support.small_counts import panel_of
from support.untrained import untrained

LONG = "DGD_FUZZ" in os.environ
SAVES, FITS, DOWNLOADS = (500, 20, 100) if LONG else (30, 3, 6)
EPOCHS = 2
TENSOR_NUMBERS = 500_000
ARCHIVE_BYTES = 8_000_000

SAVING = """
import sys
from dgd.files.tensors import read_tensors, write_tensors
one, other, target = sys.argv[1:]
files = [read_tensors(one), read_tensors(other)]
print("ready", flush=True)
while True:
    for file in files:
        write_tensors(target, *file)
"""
FITTING = """
print("ready", flush=True)
from dgd.cli import main
main()
"""
FETCHING = """
import sys
from dataclasses import replace
from pathlib import Path
from dgd.datasets.downloads import fetch
from dgd.datasets.sources import SOURCES
url, md5, folder = sys.argv[1:]
print("ready", flush=True)
fetch(replace(SOURCES["kuairand"], url=url, md5=md5), Path(folder))
"""


@pytest.fixture
def tell(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Callable[[Counter[str]], None]:
    """Prints how often each ending came, where there were many."""

    def told(endings: Counter[str]) -> None:
        if LONG:
            with capsys.disabled():
                sys.stdout.write(f"\n{request.node.name}: {dict(endings)}\n")

    return told


@pytest.mark.slow
def test_a_killed_save_leaves_the_old_file_or_the_new(
    tmp_path: Path, tell: Callable[[Counter[str]], None]
) -> None:
    target, folder = tmp_path / "models" / "model.dgd", tmp_path / "models"
    folder.mkdir()
    for name in ("one", "other"):
        numbers = np.full(TENSOR_NUMBERS, float(len(name)))
        write_tensors(tmp_path / name, "fit", {"name": name}, {"numbers": numbers})
    write_tensors(target, *read_tensors(tmp_path / "one"))
    chance, endings = Random(1), Counter[str]()
    for _ in range(SAVES):
        moment = after(chance.uniform(0, 0.04))
        assert killed(SAVING, tmp_path / "one", tmp_path / "other", target, moment=moment)
        found = read_tensors(target)
        assert np.all(found.tensors["numbers"] == len(found.facts["name"]))
        endings[found.facts["name"]] += 1
        endings["left a neighbour"] += bool(neighbors(folder))
        assert len(neighbors(folder)) <= 1, "the next writer clears what the one before left"
    write_tensors(target, *read_tensors(tmp_path / "one"))
    assert [path.name for path in folder.iterdir()] == ["model.dgd"]
    tell(endings)


@pytest.mark.slow
def test_a_killed_fit_leaves_the_old_model_or_the_new(
    tmp_path: Path, tell: Callable[[Counter[str]], None]
) -> None:
    """Killed at a random moment, while the folder is tried, or while the model is written."""
    panel, folder = panel_of(40), tmp_path / "models"
    folder.mkdir()
    counts, target = tmp_path / "counts.csv", folder / "model.dgd"
    write_table(panel.to_frame("polars"), counts)
    untrained(dgd.DGD(nodes=3, components=1, start="warmup"), panel, seeds=[1]).save(target)
    old = target.read_bytes()
    settings = ["--epochs", EPOCHS, "--nodes", 3, "--components", 1, "--set", "start=warmup"]
    ends = ["--train-end", panel.dates[27], "--validation-end", panel.dates[34]]
    call = ["fit", counts, "--behaviors", "click,like", *ends, *settings, "--seeds", "1"]
    chance, endings = Random(2), Counter[str]()
    for number in range(FITS):
        moments = [at_neighbor(folder, 2), at_neighbor(folder, 1), after(chance.uniform(0, 8))]
        moment = moments[number % len(moments)]
        died = killed(FITTING, *call, "--output", target, moment=moment)
        new = target.read_bytes() != old
        assert len(dgd.load(target).runs[0].train_objective) == (1 + EPOCHS if new else 1)
        endings[f"{'new' if new else 'old'} model, {'killed' if died else 'done'}"] += 1
        endings["left a neighbour"] += bool(neighbors(folder))
        dgd.load(target).save(target)
        assert [path.name for path in folder.iterdir()] == ["model.dgd"]
        target.write_bytes(old)
    tell(endings)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with open_site() as served:
        yield served


def test_a_killed_download_leaves_all_or_nothing(
    site: Site, tmp_path: Path, tell: Callable[[Counter[str]], None]
) -> None:
    content = Random(3).randbytes(ARCHIVE_BYTES)
    source = served_by(site, content)
    chance, endings = Random(4), Counter[str]()
    for number in range(DOWNLOADS):
        home = tmp_path / str(number)
        moment = after(chance.uniform(0, 0.2))
        killed(FETCHING, source.url, source.md5, home, moment=moment)
        log = home / source.folder / "data/log.csv"
        whole = log.exists()
        assert not whole or log.read_bytes() == content
        left = len(list(home.iterdir())) if home.exists() else 0
        endings["all" if whole else "nothing"] += 1
        endings["left something to clear"] += left > whole
        fetch(source, home)
        assert log.read_bytes() == content
        assert [path.name for path in home.iterdir()] == [source.folder]
    tell(endings)


def served_by(site: Site, content: bytes) -> Source:
    """A data set of one file with this content."""
    site.body = tar_bytes(tarfile.TarInfo("data/log.csv"), content=content)
    md5 = hashlib.md5(site.body).hexdigest()
    return replace(SOURCES["kuairand"], url=f"{site.url}/x.tar.gz", md5=md5)
