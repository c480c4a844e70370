"""Formulas as MathML, made while the pages are built, so that no page loads a script for them."""

import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
HATS = {"\u02c6", "^", "~", "\u02c9", "\u02d9"}
"""Hat, tilde, bar and dot, as the converter writes them."""


def mathml(formula: str, *, block: bool = False) -> str:
    """A formula of TeX as an element of MathML."""
    # The converter knows the sizes of brackets by their left and right forms alone.
    sized = re.sub(r"\\([bB]igg?)(?![a-zA-Z])", r"\\\1l", formula)
    made = str(tex2mathml(sized, as_block=block)).replace("&ApplyFunction;", "\u2061")
    ElementTree.register_namespace("", NAMESPACE)
    tree = ElementTree.fromstring(made)
    for found in list(tree.iter(f"{{{NAMESPACE}}}munderover")):
        _index_beside_the_hat(found)
    return ElementTree.tostring(tree, encoding="unicode")


def _index_beside_the_hat(element: ElementTree.Element) -> None:
    """Where a letter has a hat and an index, the converter puts the index below it."""
    letter, index, hat = list(element)
    if (hat.text or "").strip() not in HATS:
        return
    element.tag = f"{{{NAMESPACE}}}msub"
    for child in (letter, index, hat):
        element.remove(child)
    hatted = ElementTree.SubElement(element, f"{{{NAMESPACE}}}mover", {"accent": "true"})
    hatted.extend([letter, hat])
    element.append(index)


def _inline(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
