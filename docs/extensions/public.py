"""References to classes where they are defined lead to the public names that they have."""

import ast
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SOURCE = Path(__file__).parents[2] / "src" / "dgd"


def public_names() -> dict[str, str]:
    """Where a public name is defined, and the shortest name that it can be reached by."""
    found: dict[str, str] = {}
    for stub in sorted(SOURCE.rglob("__init__.pyi"), key=lambda file: -len(file.parts)):
        package = ".".join(["dgd", *stub.parent.relative_to(SOURCE).parts])
        for node in ast.parse(stub.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    found[f"{package}.{node.module}.{alias.name}"] = f"{package}.{alias.name}"
    return found


def _resolved(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """A reference by the place of definition, as one by the public name."""
    known: dict[str, str] = app.config.dgd_public_names
    target = known.get(node["reftarget"])
    if target is None or node["refdomain"] != "py":
        return None
    domain = env.get_domain("py")
    for role in ("class", "func", "data", "obj"):
        made = domain.resolve_xref(env, node["refdoc"], app.builder, role, target, node, content)
        if made is not None:
            return made
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("dgd_public_names", public_names(), "env", types=[dict])
    app.connect("missing-reference", _resolved)
    return {"parallel_read_safe": True}
