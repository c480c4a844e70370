"""What is public: the names that the stubs of dgd's packages list."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dgd

SOURCE = Path(dgd.__file__).parent


@cache
def stubs() -> dict[str, list[tuple[str, str]]]:
    """Every package with a stub, and the (module, name) pairs that it lists."""
    return {
        ".".join(["dgd", *file.parent.relative_to(SOURCE).parts]): list(_listed(file))
        for file in sorted(SOURCE.rglob("__init__.pyi"))
    }


def _listed(stub: Path) -> Iterator[tuple[str, str]]:
    """A subpackage that is listed as a whole counts as a module and a name at once."""
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module or alias.name, alias.name


def is_public(dotted: str) -> bool:
    """Whether a name like `dgd.baselines.GRU` can be reached through stubs alone; what lies
    behind a class or a function is its own affair."""
    package, *rest = dotted.split(".")
    for name in rest:
        if name in ("__version__", "__all__", "__file__"):
            return True
        if name not in {listed for _, listed in stubs()[package]}:
            return False
        package = f"{package}.{name}"
        if package not in stubs():
            return True
    return True
