"""One name, one thing: what choice calls its own is called otherwise in the core."""

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import dgd.choice
import dgd.report.charts

SOURCE = Path(dgd.__file__).parent
PRIVATE = {"TrainingData"}
"""Every estimator's own word for what its loss is handed."""


def names(file: Path) -> set[str]:
    """The classes and type aliases of a module."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {part.id for part in node.targets if isinstance(part, ast.Name)}
    return {name for name in found if name[0].isupper() and not name.isupper()}


def test_no_class_of_choice_has_the_name_of_one_of_the_core():
    files = set(SOURCE.rglob("*.py"))
    own = {file for file in files if "choice" in file.relative_to(SOURCE).as_posix()}
    choice, core = (set().union(*map(names, part)) for part in (own, files - own))
    assert {"Markets", "Utility", "ChoiceDemand"} <= choice
    assert choice & core <= PRIVATE


@pytest.mark.parametrize("package", [dgd.choice, dgd.report.charts], ids=lambda p: p.__name__)
def test_no_module_is_hidden_by_another_thing_of_its_name(package: ModuleType):
    for module in pkgutil.iter_modules(package.__path__):
        found = importlib.import_module(f"{package.__name__}.{module.name}")
        assert getattr(package, module.name) is found, module.name
        assert module.name not in getattr(package, "__all__", ())
