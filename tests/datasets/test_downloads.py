"""Downloads arrive whole and checked, or leave nothing that could be mistaken for data."""

import hashlib
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dgd.cli import data as data_command
from dgd.datasets import sources
from dgd.datasets.archives import FetchError
from dgd.datasets.downloads import fetch
from dgd.datasets.sources import SOURCES, Source
from support.packed import CSV, tar_bytes, zip_bytes


class Site:
    """A server on this machine that can resume or not, and can break off."""

    def __init__(self) -> None:
        self.body = b""
        self.ranges = True
        self.says_length = True
        self.status = 200
        self.break_after: list[int] = []
        """How many bytes of each coming answer are sent before the connection closes."""
        self.asked: list[str | None] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        if self.status != 200:
            handler.send_error(self.status)
            return
        if start and start >= len(self.body):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(self.body)}")
            handler.end_headers()
            return
        rest = self.body[start:]
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header(
                "Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
            )
        if self.ranges:
            handler.send_header("Accept-Ranges", "bytes")
        if self.says_length:
            handler.send_header("Content-Length", str(len(rest)))
        handler.end_headers()
        handler.wfile.write(rest[: self.break_after.pop(0)] if self.break_after else rest)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.answer(self)

        def log_message(self, *arguments: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


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
