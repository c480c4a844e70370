"""Public names: quick to import, all of them there, and all that documents and examples use."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.public_names import is_public, stubs

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
}
EXAMPLES = {str(file.relative_to(ROOT)): file for file in ROOT.glob("examples/*.py")}


@pytest.mark.parametrize("module", ["dgd", "dgd.cli.app"])
def test_an_import_does_not_wait_for_jax(module: str) -> None:
    code = f"import sys, {module}; print('jax' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


@pytest.mark.parametrize("package", stubs())
def test_every_name_of_a_stub_can_be_loaded(package: str) -> None:
    loaded = importlib.import_module(package)
    names = [name for _, name in stubs()[package]]
    assert names
    assert set(names) <= set(loaded.__all__)
    for name in names:
        assert getattr(loaded, name) is not None, name


def asked_for(source: str) -> Iterator[str]:
    """Every dotted name of dgd that is imported or whose attribute is used."""
    tree, known = ast.parse(source), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "dgd":
                    known[alias.asname or "dgd"] = alias.name if alias.asname else "dgd"
                    yield alias.name
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dgd":
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            if first in known and re.fullmatch(r"[\w.]+", rest):
                yield f"{known[first]}.{rest}"


def python_of(page: Path) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))


@pytest.mark.parametrize("name", [*PAGES, *EXAMPLES])
def test_documents_and_examples_use_public_names_only(name: str) -> None:
    source = python_of(PAGES[name]) if name in PAGES else EXAMPLES[name].read_text()
    assert not [asked for asked in asked_for(source) if not is_public(asked)]


@pytest.mark.parametrize("name", PAGES)
def test_names_in_the_text_of_a_page_are_public(name: str) -> None:
    text = re.sub(r"```.*?```", "", PAGES[name].read_text(), flags=re.DOTALL)
    mentioned = set(re.findall(r"(?<![\w./-])dgd\.[A-Za-z_][\w.]*\w", text))
    assert not [dotted for dotted in sorted(mentioned) if not is_public(dotted)]


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says_of_a_public_package_is_there(name: str) -> None:
    """Written short, like `diagnostics.check`: a public name, or a module of the package."""
    packages = [name.removeprefix("dgd.") for name in stubs() if is_public(name) and "." in name]
    short = rf"`((?:{'|'.join(packages)})\.\w+)[`(]"
    for found in set(re.findall(short, PAGES[name].read_text())):
        dotted = f"dgd.{found}"
        assert is_public(dotted) or importlib.util.find_spec(dotted) is not None, dotted


def test_private_names_are_told_from_public_ones() -> None:
    public = ["dgd", "dgd.Panel", "dgd.Panel.from_counts", "dgd.baselines.GRU", "dgd.choice"]
    private = ["dgd.split.Split", "dgd.baselines.gru.GRU", "dgd.panel.panel.Panel", "dgd.nothing"]
    assert [name for name in public if not is_public(name)] == []
    assert [name for name in private if is_public(name)] == []
    source = "from dgd import choice as c\\nimport dgd\\nc.Markets.of(dgd.DGD(epochs=1).fit)"
    found = set(asked_for(source.replace("\\n", "\n")))
    assert found == {"dgd", "dgd.choice", "dgd.choice.Markets", "dgd.choice.Markets.of", "dgd.DGD"}
