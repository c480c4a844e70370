"""Whatever is handed over, dgd gives finite numbers or refuses in one sentence.

Cases are drawn from their numbers alone, so every run tries the same; `make fuzz` tries
thousands (DGD_FUZZ says how many). They run in a process of their own, where no import hook
stands before dgd's own checks. One case alone:
`PYTHONPATH=tests python -m support.fuzzing tables 41 42 FOLDER`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.fuzzing.found import NUMBER

CASES = {"tables": 150, "table_files": 60, "model_files": 100, "command_lines": 30}
TESTS = Path(__file__).parents[1]
SECONDS = 600
LONG_SECONDS = 7200
MOST_WRONG_SHOWN = 5


def run(kind: str, number: int, folder: Path) -> dict[str, Any]:
    """The outcomes of the first cases of a kind."""
    paths = [str(TESTS), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    done = subprocess.run(
        [sys.executable, "-m", "support.fuzzing", kind, "0", str(number), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_SECONDS if "DGD_FUZZ" in os.environ else SECONDS,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "RUST_BACKTRACE": "0"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_whatever_is_handed_over_works_or_is_refused(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = int(os.environ.get("DGD_FUZZ", CASES[kind]))
    found = run(kind, number, tmp_path)
    wrong = found["wrong"]
    with capsys.disabled():
        if "DGD_FUZZ" in os.environ:
            sys.stdout.write(f"\n{kind}: {number} cases, { ({**found, 'wrong': len(wrong)}) }\n")
    assert not wrong, "\n\n".join([f"{len(wrong)} went wrong:", *wrong[:MOST_WRONG_SHOWN]])
    assert found["works"] > number / 20, "the mutations leave too little standing"
    assert found["refused"] > number / 4, "the mutations are too tame"


def test_what_fuzzing_once_found_is_refused(tmp_path: Path) -> None:
    found = run("found", NUMBER, tmp_path)
    assert found["wrong"] == []
    assert found["refused"] == NUMBER
