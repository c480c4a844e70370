"""How the pages are built: `make docs`."""

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))

from pages import run_all, with_output  # noqa: E402

import dgd  # noqa: E402

project = "dgd"
author = copyright = "The dgd authors"
version = release = dgd.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "public",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_pictures", "extensions"]
html_theme = "furo"
html_title = "dgd"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "default"

default_role = "code"  # docstrings write names between single backticks
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
napoleon_use_rtype = False
napoleon_custom_sections = [("Columns", "params_style")]
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True

nitpicky = True
nitpick_ignore_regex = [
    # Pages of other projects are not at hand where pages are built without a network.
    ("py:.*", r"(jax|jaxlib|jaxtyping|numpy|polars|altair|narwhals|equinox|optax)\..*"),
    ("py:.*", r"(collections|datetime|os|pathlib|typing|abc|functools)\..*"),
    ("py:class", r"(IntoFrame|Moment|Array|ndarray)"),  # explained on the page on the API
    # Parts that are handed on and never made by a user: they have no page of their own.
    ("py:.*", r"dgd(\.[a-z_]+){2,}\.\w+"),
]

SHORT = {
    r"~?narwhals\._native\.NativeDataFrame( \| ~?narwhals\._native\.Native\w+)+": "IntoFrame",
    r"str \| ~?datetime\.date \| ~?datetime\.datetime \| ~?numpy\.datetime64": "Moment",
    r"~?(jax\.)?jaxlib\._jax\.Array": "Array",
}
"""What unions of a reader's types are called."""

WRITTEN: dict[str, list[str]] = {}
"""The docstrings of attributes, by their names."""

RUN = [
    "tutorial",
    "guides/count-events",
    "guides/tables",
    "guides/exploring",
    "guides/fitting",
    "guides/forecasting",
    "model",
    "guides/backtesting",
    "guides/crowd",
    "guides/scenarios",
    "guides/plans",
    "guides/choice",
    "guides/report",
    "guides/large-tables",
    "guides/many",
]
"""Pages with Python in them, in the order in which they are run."""


def _run(app: Sphinx) -> None:
    app.config.dgd_printed = run_all(DOCS, RUN, DOCS / "_build" / "pages")


def _shown(app: Sphinx, name: str, source: list[str]) -> None:
    printed = app.config.dgd_printed.get(name)
    if printed is not None:
        source[0] = with_output(source[0], printed)


def _as_written(*given: Any) -> None:
    """Of an attribute "n: size of the cohort" is a sentence; Napoleon takes n for its type."""
    kind, name, lines = given[1], given[2], given[5]
    if kind in ("attribute", "property"):
        WRITTEN.setdefault(name, list(lines))
        lines[:] = WRITTEN[name]


def _short(*given: Any) -> tuple[str | None, str | None]:
    """Signatures with the names that the sources use, not what these stand for."""
    signature, returned = (_said(text) for text in given[5:7])
    return signature, returned


def _said(text: str | None) -> str | None:
    for pattern, name in SHORT.items():
        text = text and re.sub(pattern, name, text)
    return text


def setup(app: Sphinx) -> None:
    before_and_after_napoleon = (400, 600)
    for priority in before_and_after_napoleon:
        app.connect("autodoc-process-docstring", _as_written, priority=priority)
    app.connect("autodoc-process-signature", _short)
    app.add_config_value("dgd_printed", {}, "", types=[dict])
    app.connect("builder-inited", _run)
    app.connect("source-read", _shown)
