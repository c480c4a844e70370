"""A name means one thing: no package gives a function the name of one of its modules."""

import importlib
import pkgutil
from types import ModuleType

import pytest


@pytest.mark.parametrize("package", ["dgd.counting", "dgd.datasets", "dgd.tables"])
def test_no_module_hides_behind_a_function_of_its_name(package: str) -> None:
    found = importlib.import_module(package)
    for module in pkgutil.iter_modules(found.__path__):
        importlib.import_module(f"{package}.{module.name}")
        assert isinstance(getattr(found, module.name), ModuleType), module.name
