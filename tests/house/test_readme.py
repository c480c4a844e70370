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


@pytest.mark.slow
def test_the_quickstart_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_quickstart(tmp_path)


def test_every_command_of_the_readme_exists():
    from dgd.cli.app import app

    known = {command.callback.__name__ for command in app.registered_commands}
    known |= {group.typer_instance.info.name for group in app.registered_groups}
    shown = set(re.findall(r"^dgd (\w+)", README.read_text(), re.MULTILINE))
    assert shown <= known
    assert {"simulate", "fit", "forecast", "info", "backtest"} <= shown
