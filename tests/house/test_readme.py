"""The README's Python works as written."""

import re
from pathlib import Path

import pytest

from support.untrained import no_training

README = Path(__file__).parents[2] / "README.md"


def run_quickstart(folder: Path) -> None:
    quickstart = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(compile(quickstart, "README.md", "exec"), names)
    table = names["forecast"].to_frame()
    assert type(table).__module__.startswith("pandas")
    assert list(table.columns[-3:]) == ["arrivals", "click", "like"]
    assert len(table) == 7 * 2 * 3
    assert (folder / "model.dgd").is_file()


def test_the_quickstart_runs_but_for_its_training(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with no_training("dgd.estimator"):
        run_quickstart(tmp_path)


@pytest.mark.long
def test_the_quickstart_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_quickstart(tmp_path)


def test_the_readme_shows_every_job_in_the_shell_with_effort():
    """Without effort the simulated crowd looks like noise; that its calls are ones which dgd
    takes, tests/house/test_docs.py holds."""
    shell = README.read_text().replace("\\\n", " ")
    shown = set(re.findall(r"^dgd (\w+)", shell, re.MULTILINE))
    assert {"simulate", "explore", "fit", "forecast", "scenario", "plan", "info", "check"} <= shown
    assert {"backtest", "report"} <= shown
    for command in ("explore", "fit", "backtest"):
        assert re.search(rf"^dgd {command} .*--effort", shell, re.MULTILINE), command


def test_the_picture_is_small_and_a_drawing():
    picture = README.parent / "docs" / "_static" / "forecast.svg"
    assert "docs/_static/forecast.svg" in README.read_text()
    assert picture.stat().st_size < 200_000
    assert picture.read_text().startswith("<svg")
