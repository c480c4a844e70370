"""Every Python block of the pages is run, in order, and what it prints is shown below it.

Pages are run in one folder, the earlier ones first: what a page saves, a later one may load, and
the charts that a page saves as SVG are the pictures it shows. What was printed and drawn is kept
until a page or a source file changes.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
OUTPUT = """
````{{code-block}} text
:class: output

{}
````
"""
WIDTH = 96
WIDE = {"POLARS_FMT_MAX_COLS": "12", "POLARS_TABLE_WIDTH": "100", "POLARS_FMT_STR_LEN": "60"}


def wide() -> None:
    """Frames are printed whole, as far as a page is wide."""
    os.environ |= WIDE
    with contextlib.suppress(ImportError):
        import pandas as pd

        pd.options.display.width = 100
        pd.options.display.max_columns = 12
        pd.options.display.precision = 2


def blocks(text: str) -> list[str]:
    """The Python blocks of a page."""
    return BLOCK.findall(text)


def run(text: str, name: str) -> Iterator[str]:
    """What each block of a page prints, one after the other, in the folder where one stands."""
    names: dict[str, object] = {"__name__": name}
    for number, block in enumerate(blocks(text), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, f"{name}, block {number}", "exec"), names)
        yield printed.getvalue()


def with_output(text: str, printed: Sequence[str]) -> str:
    """A page with what each of its blocks printed shown below it."""
    told = iter(printed)

    def shown(block: re.Match[str]) -> str:
        output = "\n".join(map(_wrapped, next(told).rstrip().splitlines()))
        return block[0] + (OUTPUT.format(output) if output else "")

    return BLOCK.sub(shown, text)


def _wrapped(line: str) -> str:
    """A sentence as long as a page is wide; the lines of tables stay as they are."""
    if "  " in line.strip() or "│" in line:
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def run_all(docs: Path, names: Sequence[str], kept: Path) -> dict[str, list[str]]:
    """What the pages of these names print, from `kept` where nothing has changed since; their
    pictures are then in docs/_pictures."""
    pictures, told = docs / "_pictures", kept / "printed.json"
    state = _digest(docs, names)
    if told.is_file() and pictures.is_dir():
        known: dict[str, dict[str, list[str]]] = json.loads(told.read_text("utf-8"))
        if state in known:
            return known[state]
    folder = kept / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wide()
    texts = {name: (docs / f"{name}.md").read_text("utf-8") for name in names}
    with contextlib.chdir(folder):
        printed = {name: list(run(text, name)) for name, text in texts.items()}
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    for drawn in folder.glob("*.svg"):
        shutil.copy(drawn, pictures)
    told.write_text(json.dumps({state: printed}), "utf-8")
    return printed


def _digest(docs: Path, names: Sequence[str]) -> str:
    """Of everything that decides what is printed."""
    source = docs.parent / "src"
    files = [*sorted(source.rglob("*.py")), *(docs / f"{name}.md" for name in names)]
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()
