"""The Python of docs/choice.md works as written, and its commands exist."""

import re
from pathlib import Path

from dgd.cli import choice

PAGE = (Path(__file__).parents[2] / "docs" / "choice.md").read_text()


def test_the_page_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile("\n".join(blocks), "docs/choice.md", "exec"), names)
    assert {file.name for file in tmp_path.iterdir()} == {"people.html", "demand.png", "demand.dgd"}
    assert type(names["fit"].predict()).__module__.startswith("pandas")
    assert capsys.readouterr().out.startswith("Markets(48 markets, 3 products")


def test_every_command_of_the_page_exists():
    known = {command.name for command in choice.app.registered_commands}
    assert set(re.findall(r"^dgd choice (\w+)", PAGE, re.MULTILINE)) == known
