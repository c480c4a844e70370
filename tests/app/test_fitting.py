"""A fit runs in a process of its own, and nothing of it is left when nobody waits for it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dgd
from dgd.app import fit_process
from dgd.app.fields import Fields
from dgd.app.fitting import FitChild, Fits, asked_fit
from dgd.app.library import Reading
from dgd.app.readings import hand_over, handed_over, read
from support.refusals import refused
from support.serving import until
from support.visiting import Visitor, said

FORM = b"train_end=2022-01-30&validation_end=2022-02-06&seeds=1&epochs=5"


@pytest.fixture
def reading(drawn: dgd.Simulated) -> Reading:
    panel = drawn.panel
    columns = {"behaviors": list(panel.behaviors), "duplicates": "refuse", "period": "day"}
    frames = {"counts": panel.to_frame("polars"), "sizes": drawn.sizes_to_frame("polars")}
    return read("counts.csv", frames, columns)


def test_a_reading_is_handed_over_whole(reading: Reading, tmp_path: Path) -> None:
    hand_over(reading, tmp_path)
    again = handed_over(tmp_path)
    assert (again.patterns == reading.panel.patterns).all()
    assert (again.size == reading.panel.size).all()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (b"&train_end=2022-02-06", "train_end 2022-02-06 is not before validation_end"),
        (b"&train_end=", "train_end"),
        (b"&seeds=a", "Seeds"),
        (b"&epochs=many", 'Most epochs is "many"'),
        (b"&nodes=100000", "nodes"),
    ],
)
def test_a_fit_that_cannot_be_right_starts_no_process(
    reading: Reading, changed: bytes, words: str
) -> None:
    with refused(words):
        asked_fit(reading, Fields.of(FORM + changed))


def test_refusals_of_a_fit_are_in_the_words_of_the_form(guest: Visitor, reading: Reading) -> None:
    known = guest.desk.library.readings.put(reading)
    answer = guest.post(f"fit?id={known}", {"train_end": "2022-02-06"})
    assert answer.status_code == 422
    assert "“Last validation day”" in said(answer)
    assert not list(guest.desk.scratch.iterdir())


def ask(reading: Reading) -> dict[str, Any]:
    return asked_fit(reading, Fields.of(FORM))


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_ended_fit_leaves_no_process_and_no_folder(reading: Reading, tmp_path: Path) -> None:
    fits = Fits()
    child = FitChild(reading, ask(reading), tmp_path)
    fits.running.add(child)
    assert runs(child.process.pid)
    fits.end()
    assert not runs(child.process.pid)
    assert not list(tmp_path.iterdir())
    assert not fits.running


def test_only_a_few_fits_run_at_once(reading: Reading) -> None:
    fits = Fits()
    fits.running |= {object(), object()}  # type: ignore[arg-type]
    with refused("2 fits are under way already"):
        fits.refuse_more()


def test_a_fit_ends_with_the_app_that_started_it(reading: Reading, tmp_path: Path) -> None:
    """Even where the app was killed and could clear nothing: its end of the pipe is closed."""
    child = FitChild(reading, ask(reading), tmp_path)
    assert child.process.stdin is not None
    child.process.stdin.close()
    until(lambda: child.process.poll() is not None, "the end of the fit")
    until(lambda: not list(tmp_path.iterdir()), "the removal of its folder")
    child.end()


def test_modules_are_not_taken_from_the_folder_of_data(
    reading: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is called like a module would otherwise be run."""
    (tmp_path / "polars.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    child = FitChild(reading, ask(reading), tmp_path)
    command = [*child.process.args[:2], "-c", "import polars; print(polars.__file__)"]  # type: ignore[index]
    child.end()
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert command[0] == sys.executable
    assert str(tmp_path) not in told.stdout
    assert not (tmp_path / "run").exists()


def test_progress_is_json_whatever_the_objective(capsys: pytest.CaptureFixture[str]) -> None:
    """Browsers read neither NaN nor Infinity."""
    for best in (1.5, float("inf"), float("nan")):
        fit_process._progress(1, 20, best)
    lines = [json.loads(line, parse_constant=pytest.fail) for line in _lines(capsys)]
    assert [line["best"] for line in lines] == [1.5, None, None]


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_a_fit_is_told_of_line_by_line_and_ends_in_a_model(
    guest: Visitor, reading: Reading
) -> None:
    known = guest.desk.library.readings.put(reading)
    fields = dict(part.split("=") for part in FORM.decode().split("&"))
    answer = guest.post(f"fit?id={known}", fields)
    lines = [json.loads(line) for line in answer.text.splitlines() if line.strip()]
    assert lines[0] == {"seeds": [1], "epochs": 5}
    assert {line["seed"] for line in lines[1:-1]} == {1}
    assert max(line["epochs"] for line in lines[1:-1]) == 5
    page = guest.get(lines[-1]["go"])
    assert page.status_code == 200
    ((_, model),) = guest.desk.library.models.items()
    assert isinstance(model.fit, dgd.Fit)
    assert model.fit.seeds == (1,)
    assert [file.suffix for file in guest.desk.scratch.iterdir()] == [".dgd"]
    assert not guest.app.fits.running
