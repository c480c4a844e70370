"""The `dgd` command called inside the test's own process."""

from typer.testing import CliRunner, Result

from dgd.cli.app import app


def run(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(argument) for argument in arguments])


def done(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def assert_refused(result: Result, *words: str) -> None:
    """Exit code 2, nothing on standard output, one sentence on standard error."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("dgd: ")
    assert result.stderr.endswith(".\n")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
