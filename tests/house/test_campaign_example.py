"""From a raw log to a decision, in pandas and in the shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*command: object, cwd: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    made = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.long
def test_a_log_becomes_a_recommendation_in_the_shell(tmp_path):
    told = run("bash", EXAMPLES / "campaign.sh", "week", "--epochs", 5, cwd=tmp_path)
    expected = dict(re.findall(r"campaign for (\w+) customers: ([\d.]+) purchases", told))
    assert set(expected) == {"new", "regular"}
    assert all(20 < float(purchases) < 500 for purchases in expected.values())
    assert (tmp_path / "week" / "model.dgd").is_file()


@pytest.mark.slow
def test_a_log_becomes_the_right_recommendation_in_pandas(tmp_path):
    told = run(sys.executable, EXAMPLES / "campaign.py", cwd=tmp_path)
    recommended = re.search(r"Recommended: campaign for (\w+) customers", told)
    right = re.search(r"better for (\w+) customers", told)
    assert recommended
    assert right
    assert recommended[1] == right[1]
