"""What is shown below a block of a page is what the block printed."""

import ast
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "extensions"))

import pages  # noqa: E402

PAGE = """# Page

```python
x = 20
```

Words.

```python
print(x + 1)
print("a sentence " * 12)
```

```sh
print(nothing)
```
"""


def test_blocks_run_in_order_and_share_names() -> None:
    first, second = pages.run(PAGE, "page")
    assert first == ""
    assert second.startswith("21\na sentence")


def test_output_stands_below_its_block_and_sentences_are_wrapped() -> None:
    shown = pages.with_output(PAGE, ["", "21\n" + "word " * 40 + "\n1  2" + " " * 200 + "3\n"])
    before, _, after = shown.partition(":class: output\n\n21\n")
    assert before.rstrip().endswith("````{code-block} text")
    assert before.count("```python") == 2
    lines = after.split("````")[0].splitlines()
    assert max(len(line) for line in lines if line.startswith("word")) <= pages.WIDTH
    assert f"1  2{' ' * 200}3" in lines
    assert pages.with_output(PAGE, ["", ""]) == PAGE


def test_pages_are_run_again_when_one_changes_and_not_before(tmp_path: Path) -> None:
    docs, kept = tmp_path / "docs", tmp_path / "kept"
    docs.mkdir()
    saved = "from pathlib import Path\nPath('a.svg').write_text('{}')\nprint('{}')\n"
    (docs / "one.md").write_text(f"```python\n{saved.format(1, 1)}```\n")
    assert pages.run_all(docs, ["one"], kept) == {"one": ["1\n"]}
    assert (docs / "_pictures" / "a.svg").read_text() == "1"
    (kept / "run" / "a.svg").unlink()
    assert pages.run_all(docs, ["one"], kept) == {"one": ["1\n"]}
    assert not (kept / "run" / "a.svg").exists()
    (docs / "one.md").write_text(f"```python\n{saved.format(2, 2)}```\n")
    assert pages.run_all(docs, ["one"], kept) == {"one": ["2\n"]}
    assert (docs / "_pictures" / "a.svg").read_text() == "2"


def test_a_page_that_fails_says_where() -> None:
    with pytest.raises(ZeroDivisionError) as failed:
        list(pages.run("```python\n1 / 0\n```\n", "guides/some"))
    assert "guides/some, block 1" in str(failed.traceback[-1].path)


@pytest.mark.long
def test_all_pages_run_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `make docs` runs them, without Sphinx."""
    monkeypatch.chdir(tmp_path)
    order = re.search(r"^RUN = (\[.*?^\])", (DOCS / "conf.py").read_text("utf-8"), re.M | re.S)
    assert order is not None
    told = {
        name: "\n".join(pages.run((DOCS / f"{name}.md").read_text("utf-8"), name))
        for name in ast.literal_eval(order[1])
    }
    for words in ("difference_low_80", "fatigue and memory"):
        assert words in told["guides/scenarios"]
    for words in ("planned_is_ahead_percent", "gain"):
        assert words in told["guides/plans"]
    assert "7 nodes are enough" in told["guides/crowd"]
    drawn = re.search(r"In truth (\d+), with the present plan (\d+)", told["tutorial"])
    assert drawn is not None
    assert int(drawn[1]) > int(drawn[2])
