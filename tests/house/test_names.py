"""A name means one thing: no module hides behind another thing."""

import importlib
import pkgutil
from types import ModuleType

import pytest

import dgd

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
