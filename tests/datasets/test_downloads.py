"""Downloads arrive whole and checked, or leave nothing that could be mistaken for data."""

import hashlib
import os
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dgd.cli import data as data_command
from dgd.datasets import pace, sources, turns
from dgd.datasets.archives import FetchError
from dgd.datasets.downloads import fetch
from dgd.datasets.sources import SOURCES, Bounds, Source
from support.packed import CSV, tar_bytes, zip_bytes
from support.site import Site, open_site


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with open_site() as served:
        yield served


def kuairand_like(site: Site, body: bytes | None = None) -> Source:
    site.body = body or tar_bytes(tarfile.TarInfo("KuaiRand-Pure/data/log.csv"))
    return replace(
        SOURCES["kuairand"], url=f"{site.url}/x.tar.gz", md5=hashlib.md5(site.body).hexdigest()
    )


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_download_is_checked_unpacked_and_alone_in_its_folder(site, tmp_path):
    seen = []
    source = kuairand_like(site)
    target = fetch(source, tmp_path, lambda done, total: seen.append((done, total)))
    assert (target / "KuaiRand-Pure/data/log.csv").read_bytes() == CSV
    assert left_in(tmp_path) == ["kuairand_pure"]
    assert seen[-1] == (len(site.body), len(site.body))


def test_a_zip_without_checksum_or_length_is_unpacked(site, tmp_path):
    site.body, site.says_length = zip_bytes("online_retail_II.xlsx"), False
    source = replace(SOURCES["online-retail"], url=f"{site.url}/x.zip")
    target = fetch(source, tmp_path)
    assert (target / "online_retail_II.xlsx").read_bytes() == CSV


def test_a_copy_that_is_there_is_not_fetched_again(site, tmp_path):
    source = kuairand_like(site)
    fetch(source, tmp_path)
    fetch(source, tmp_path)
    assert site.asked == [None]


def test_a_broken_transfer_goes_on_where_it_stopped(site, tmp_path):
    source = kuairand_like(site)
    site.break_after = [100]
    target = fetch(source, tmp_path)
    assert site.asked == [None, "bytes=100-"]
    assert (target / "KuaiRand-Pure/data/log.csv").read_bytes() == CSV


def test_a_later_call_resumes_what_an_earlier_one_kept(site, tmp_path):
    source = kuairand_like(site)
    site.break_after = [100, 50, 25]
    with pytest.raises(FetchError, match="175 bytes are kept, run it again to go on"):
        fetch(source, tmp_path)
    assert left_in(tmp_path) == ["kuairand_pure.tar.gz.part"]
    site.asked.clear()
    fetch(source, tmp_path)
    assert site.asked == ["bytes=175-"]
    assert left_in(tmp_path) == ["kuairand_pure"]


def test_a_server_that_cannot_resume_leaves_nothing_behind(site, tmp_path):
    source = kuairand_like(site)
    site.ranges, site.break_after = False, [100, 100, 100]
    with pytest.raises(FetchError, match="closed early"):
        fetch(source, tmp_path)
    assert left_in(tmp_path) == []


def test_a_server_that_ignores_the_range_is_read_from_the_start(site, tmp_path):
    source = kuairand_like(site)
    site.ranges = False
    (tmp_path / "kuairand_pure.tar.gz.part").write_bytes(b"old bytes")
    target = fetch(source, tmp_path)
    assert (target / "KuaiRand-Pure/data/log.csv").read_bytes() == CSV


def test_a_part_that_is_already_whole_is_used(site, tmp_path):
    source = kuairand_like(site)
    (tmp_path / "kuairand_pure.tar.gz.part").write_bytes(site.body)
    assert (fetch(source, tmp_path) / "KuaiRand-Pure/data/log.csv").read_bytes() == CSV


def test_a_part_longer_than_the_file_is_started_over(site, tmp_path):
    source = kuairand_like(site)
    (tmp_path / "kuairand_pure.tar.gz.part").write_bytes(site.body + b"more")
    assert (fetch(source, tmp_path) / "KuaiRand-Pure/data/log.csv").read_bytes() == CSV


def test_a_wrong_checksum_leaves_nothing_behind(site, tmp_path):
    source = replace(kuairand_like(site), md5="0" * 32)
    with pytest.raises(FetchError, match=f"not {'0' * 32}; the download was deleted"):
        fetch(source, tmp_path)
    assert left_in(tmp_path) == []


def test_a_truncated_archive_leaves_nothing_behind(site, tmp_path):
    source = kuairand_like(site)
    site.body = site.body[:-40]
    with pytest.raises(FetchError, match="not a whole archive"):
        fetch(replace(source, md5=None), tmp_path)
    assert left_in(tmp_path) == []


def test_a_refusal_names_the_page_to_go_to(site, tmp_path):
    source = kuairand_like(site)
    site.status = 404
    with pytest.raises(FetchError, match=r"404.*by hand from https://kuairand\.com"):
        fetch(source, tmp_path)
    assert left_in(tmp_path) == []


def test_an_error_answer_does_not_cost_the_bytes_already_here(site, tmp_path):
    source = kuairand_like(site)
    (tmp_path / "kuairand_pure.tar.gz.part").write_bytes(site.body[:100])
    site.status = 503
    with pytest.raises(FetchError, match=r"503.*100 bytes are kept"):
        fetch(source, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(site, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FetchError, match="choose another folder with --data or DGD_DATA"):
        fetch(kuairand_like(site), tmp_path / "file")


def test_a_refused_archive_leaves_nothing_behind(site, tmp_path):
    source = kuairand_like(site, tar_bytes(tarfile.TarInfo("../outside.csv")))
    with pytest.raises(FetchError, match="points outside its folder"):
        fetch(source, tmp_path / "home")
    assert left_in(tmp_path / "home") == []
    assert left_in(tmp_path) == ["home"]


def test_of_two_at_once_one_fetches_and_the_other_uses_it(site, tmp_path, monkeypatch):
    """The second begins while the first is under way, and has waited before that goes on."""
    source = kuairand_like(site)
    waiting, found = threading.Event(), []
    second = threading.Thread(target=lambda: found.append(fetch(source, tmp_path)))
    monkeypatch.setattr(turns.time, "sleep", lambda _: waiting.set())

    def begin_the_second(done: int, total: int | None) -> None:
        if not second.ident:
            second.start()
            assert waiting.wait(60)

    found.append(fetch(source, tmp_path, begin_the_second))
    second.join(60)
    assert found == [tmp_path / "kuairand_pure"] * 2
    assert site.asked == [None]
    assert left_in(tmp_path) == ["kuairand_pure"]


@pytest.mark.parametrize("says_length", [True, False])
def test_more_bytes_than_the_data_set_has_are_not_taken(site, tmp_path, says_length):
    source = replace(kuairand_like(site), bounds=Bounds(300, 10**6, 10))
    site.says_length = says_length
    with pytest.raises(FetchError, match="has at most 300; the download was deleted"):
        fetch(source, tmp_path)
    assert len(site.asked) == 1
    assert left_in(tmp_path) == []


def test_a_transfer_that_drips_is_given_up():
    clock = iter(range(0, 1000, 20))
    slow = pace.Pace(now=lambda: float(next(clock)))
    for _ in range(3):
        slow.arrived(1)
    with pytest.raises(TimeoutError, match="only 4 bytes arrived in 80 seconds"):
        slow.arrived(1)


def test_a_transfer_that_goes_on_is_never_given_up():
    clock = iter(range(0, 100_000, 20))
    steady = pace.Pace(now=lambda: float(next(clock)))
    for _ in range(1000):
        steady.arrived(pace.LEAST_BYTES // 2)


def test_a_slow_transfer_ends_in_one_sentence(site, tmp_path, monkeypatch):
    monkeypatch.setattr(pace, "WINDOW_SECONDS", -1.0)
    site.ranges = False
    with pytest.raises(FetchError, match=r"arrived in 0 seconds\); try again later, or get"):
        fetch(kuairand_like(site), tmp_path)
    assert left_in(tmp_path) == []


KILLED = """
import os, signal, sys, tempfile
from dataclasses import replace
from pathlib import Path
from dgd.datasets import downloads
from dgd.datasets.sources import SOURCES

def die(*_): os.kill(os.getpid(), signal.SIGKILL)

stage, url, md5, folder = sys.argv[1:]
tell, unpack, rename = None, downloads.unpack, Path.rename
if stage == "download":
    tell = die
elif stage == "before unpacking":
    downloads.unpack = die
elif stage == "after unpacking":
    downloads.unpack = lambda *given: (unpack(*given), die())
elif stage == "after moving":
    Path.rename = lambda *given: (rename(*given), die())
downloads.fetch(replace(SOURCES["kuairand"], url=url, md5=md5), Path(folder), tell)
"""


@pytest.mark.parametrize(
    "stage", ["download", "before unpacking", "after unpacking", "after moving"]
)
def test_killed_at_any_moment_it_leaves_all_or_nothing_and_the_next_clears_up(
    site, tmp_path, stage
):
    source = kuairand_like(site)
    given = [stage, source.url, source.md5, str(tmp_path)]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *given], check=False, timeout=120, env=dict(os.environ)
    )
    assert killed.returncode == -9
    log = tmp_path / "kuairand_pure" / "KuaiRand-Pure/data/log.csv"
    assert log.exists() == (stage == "after moving")
    assert len(left_in(tmp_path)) > 1
    fetch(source, tmp_path)
    assert log.read_bytes() == CSV
    assert left_in(tmp_path) == ["kuairand_pure"]


def run(*arguments: str):
    return CliRunner().invoke(data_command.app, ["fetch", *arguments])


def test_the_command_prints_the_folder(site, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SOURCES", {"kuairand": kuairand_like(site)})
    result = run("kuairand", "--data", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout.strip() == str(tmp_path / "kuairand_pure")


def test_the_command_takes_the_folder_from_the_environment(site, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SOURCES", {"kuairand": kuairand_like(site)})
    monkeypatch.setenv("DGD_DATA", str(tmp_path))
    assert run("kuairand").stdout.strip() == str(tmp_path / "kuairand_pure")


def test_the_command_passes_a_refusal_on_as_one_sentence(site, tmp_path, monkeypatch):
    source = replace(kuairand_like(site), md5="0" * 32)
    monkeypatch.setattr(sources, "SOURCES", {"kuairand": source})
    result = run("kuairand", "--data", str(tmp_path))
    assert result.exit_code == 2
    assert "dgd: " in result.stderr
    assert result.stdout == ""


def test_the_command_refuses_an_unknown_data_set():
    assert run("movielens").exit_code == 2
