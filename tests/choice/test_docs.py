"""The Python of the guide on choice works as written, its commands exist, its names are public."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dgd.cli import choice

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "choice.md").read_text()
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
EXAMPLES = {file.name: file.read_text() for file in (ROOT / "examples").glob("*.py")}
PUBLIC = ("dgd", "dgd.baselines", "dgd.choice", "dgd.datasets", "dgd.diagnostics", "dgd.report")


@pytest.mark.slow
def test_the_page_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(PYTHON, "docs/guides/choice.md", "exec"), names)
    assert {file.name for file in tmp_path.iterdir()} == {"people.html", "demand.svg", "demand.dgd"}
    assert type(names["fit"].predict()).__module__.startswith("pandas")
    assert capsys.readouterr().out.startswith("Markets(48 markets, 3 products")


def test_every_command_of_the_page_exists():
    known = {command.name for command in choice.app.registered_commands}
    assert set(re.findall(r"^dgd choice (\w+)", PAGE, re.MULTILINE)) == known


def used(source: str) -> Iterator[tuple[str, str]]:
    """Every module of dgd that is imported, or whose attribute is asked for, and the name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dgd":
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            dotted = (alias.name for alias in node.names if alias.name.split(".")[0] == "dgd")
            yield from ((name, "__all__") for name in dotted)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in PUBLIC:
            yield ast.unparse(node.value), node.attr


@pytest.mark.parametrize("source", [PYTHON, *EXAMPLES.values()], ids=["page", *EXAMPLES])
def test_docs_and_examples_use_public_names_only(source: str):
    asked = set(used(source))
    assert asked
    for module, name in asked:
        assert module in PUBLIC, module
        package = importlib.import_module(module)
        public = {*package.__all__, "__all__", "report"}
        assert name in public, f"{module}.{name}"
