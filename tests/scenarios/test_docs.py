"""The Python of docs/guides/scenarios.md works as written."""

import re
from pathlib import Path

import polars as pl
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "scenarios.md").read_text()
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.slow
def test_the_page_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    with pl.Config(tbl_cols=-1, tbl_width_chars=1000, fmt_str_lengths=100):
        exec(compile(PYTHON, "docs/guides/scenarios.md", "exec"), names)
    shown = capsys.readouterr().out
    for words in ("difference_low_80", "fatigue and memory", "planned_is_ahead_percent", "gain"):
        assert words in shown
