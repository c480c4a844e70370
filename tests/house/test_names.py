"""A name means one thing: no two classes share one, and no module hides behind another thing."""

import ast
import importlib
import pkgutil
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import pytest

import dgd

SOURCE = Path(dgd.__file__).parent
PACKAGES = [
    "dgd",
    *(module.name for module in pkgutil.walk_packages(dgd.__path__, "dgd.") if module.ispkg),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_hides_behind_a_thing_of_its_name(package: str) -> None:
    found = importlib.import_module(package)
    for module in pkgutil.iter_modules(found.__path__):
        importlib.import_module(f"{package}.{module.name}")
        assert isinstance(getattr(found, module.name), ModuleType), module.name


def test_every_class_is_defined_once() -> None:
    defined = defaultdict(list)
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(str(file.relative_to(SOURCE)))
    assert {"Panel", "Crowd", "ChoiceFit"} <= defined.keys()
    assert not {name: files for name, files in defined.items() if len(files) > 1}
