"""One direction of flow: packages import only those below them, and no module reaches back."""

import re
from functools import cache
from pathlib import Path

import grimp
import pytest

import dgd
from support.public_names import stubs

ORDER = (
    "errors",
    "machine",
    "runtime",
    "files",
    "processes",
    "tables",
    "parts",
    "model",
    "panel",
    "learning",
    "forecasting",
    "scoring",
    "scenarios",
    "large",
    "fit",
    "estimator",
    "counting",
    "baselines",
    "choice",
    "storage",
    "many",
    "diagnostics",
    "simulation",
    "datasets",
    "paper",
    "arena",
    "report",
    "app",
    "cli",
    "__main__",
)
"""Lowest first. The names of `dgd` itself lead everywhere; only the shell uses them."""

SOURCE = Path(dgd.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
"""Lines of a file: one idea, whole."""


@cache
def imports() -> dict[str, set[str]]:
    """Every module and those it imports: deferred imports, those for types, and lazy names too."""
    graph = grimp.build_graph("dgd", cache_dir=None)
    found = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    for package, names in stubs().items():
        found[package] |= {f"{package}.{module}".rstrip(".") for module, _ in names} - {package}
    return found


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "dgd"


def test_deferred_imports_and_lazy_names_are_seen() -> None:
    assert "dgd.storage" in imports()["dgd.cli.check"]
    assert "dgd.forecasting.protocol" in imports()["dgd.cli.backtest"]
    assert "dgd.scoring.backtesting" in imports()["dgd"]


def test_the_page_on_architecture_names_the_same_order() -> None:
    table = PAGE.read_text().split("<!-- order of packages -->")[1].split("\n\n")[1]
    assert tuple(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == ORDER


def test_every_package_has_its_place_in_the_order() -> None:
    assert {package_of(module) for module in imports()} == {"dgd", *ORDER}


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_those_below_it(package: str) -> None:
    allowed = {*ORDER[: ORDER.index(package) + 1], *({"dgd"} if package == "cli" else ())}
    wrong = [
        f"{module} imports {imported}"
        for module, modules in imports().items()
        for imported in modules
        if package_of(module) == package and package_of(imported) not in allowed
    ]
    assert not wrong


def test_no_module_reaches_back_to_itself() -> None:
    """Peel off what imports nothing that is left; a cycle never comes off."""
    left = {module: set(modules) for module, modules in imports().items()}
    while True:
        free = {module for module, modules in left.items() if not modules & left.keys()}
        if not free:
            break
        left = {module: modules for module, modules in left.items() if module not in free}
    assert not left, sorted(left)


def test_only_reports_are_looked_up_by_name() -> None:
    """Names that are looked up are not among the imports: pages, which stand on everything, and
    what a process of the app runs, which is of its own room."""
    named = {
        str(file.relative_to(SOURCE)): found
        for file in SOURCE.rglob("*.py")
        if (found := re.findall(r"""["'](dgd\.[a-z_.]+)["']""", file.read_text()))
    }
    assert named == {
        "learning/trained.py": ["dgd.report.page.reporting"],
        "app/fitting.py": ["dgd.app.fit_process"],
    }
