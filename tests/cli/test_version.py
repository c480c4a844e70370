"""`dgd --version` and `python -m dgd`."""

import subprocess
import sys

import pytest

import dgd
from support.shell import done

MODULE = [sys.executable, "-m", "dgd"]
LOADED = """
import sys
from dgd.cli import main
sys.argv = ["dgd", "--version"]
try:
    main()
finally:
    print("jax" in sys.modules, file=sys.stderr)
"""


def test_the_version_is_said_in_a_line() -> None:
    assert done("--version").stdout == f"dgd {dgd.__version__}\n"


def test_the_version_does_not_wait_for_jax() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"dgd {dgd.__version__}\n"
    assert told.stderr == "False\n"


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["info", "absent.dgd"], 2), (["--help"], 0)]
)
def test_the_module_is_the_command(arguments: list[str], code: int) -> None:
    """The same words and the same exit codes; help names the way it was called."""
    told = subprocess.run([*MODULE, *arguments], capture_output=True, text=True, check=False)
    assert told.returncode == code, told.stderr
    said = {"--version": f"dgd {dgd.__version__}\n", "info": 'dgd: "absent.dgd" does not exist'}
    assert said.get(arguments[0], "Usage: python -m dgd") in told.stdout + told.stderr
