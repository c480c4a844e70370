"""The Python of docs/scenarios.md works as written."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text()
PYTHON = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.slow
def test_the_page_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    exec(compile(PYTHON, "docs/scenarios.md", "exec"), names)
    shown = capsys.readouterr().out
    for words in ("difference_low_80", "fatigue and memory", "planned_is_ahead_percent", "gain"):
        assert words[:15] in shown
