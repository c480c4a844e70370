"""`dgd serve` as a process: one line, this machine only, and nothing left behind."""

import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.serving import serving, started
from support.shell import assert_refused, run


def test_it_prints_one_address_listens_here_only_and_leaves_nothing(
    world: Path, tmp_path: Path
) -> None:
    with serving(world, tmp_path / "tmp", "counts.csv") as app:
        assert app.address.startswith("http://127.0.0.1:")
        assert "/table?id=" in app.address
        with urllib.request.urlopen(app.address) as page:
            assert "counts.csv" in page.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://{app.host}/")
        number = int(app.host.split(":")[1])
        with socket.socket() as other, pytest.raises(OSError, match="refused"):
            other.connect(("127.0.0.2", number))
        assert list(app.temporary.glob("dgd-app-*"))
        assert app.end() == 0
        assert not list(app.temporary.glob("dgd-app-*"))
        assert app.process.stderr is not None
        assert app.process.stderr.read() == ""


def test_it_ends_quietly_when_it_is_told_to(world: Path, tmp_path: Path) -> None:
    with serving(world, tmp_path / "tmp") as app:
        assert app.end(signal.SIGTERM) == 0
        assert not list(app.temporary.glob("dgd-app-*"))


def test_a_file_outside_the_folder_is_refused_before_anything_is_served(
    world: Path, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    process = started(tmp_path / "here", tmp_path / "tmp", world / "counts.csv")
    out, err = process.communicate(timeout=90)
    assert process.returncode == 2
    assert out == ""
    assert "outside the folder" in err
    assert f'cd "{world.resolve()}"' in err


def test_calls_that_cannot_be_right_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run("serve", "missing.dgd", "--no-open"), '"missing.dgd" does not exist')
    assert_refused(run("serve", "--no-open", "--upload-limit", 0), "--upload-limit is 0")
    assert_refused(run("serve", "--no-open", "--port", 99999999), "port 99999999", "0 for any")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_refused(run("serve", "--no-open", "--port", port), f"port {port}", "choose another")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else find(name)
    )
    words = "pip install 'differentiable-gaussian-dynamics[app]'"
    assert_refused(run("serve", "--no-open"), "the app needs uvicorn", words)
