"""Refusals in the shell speak of options; those in Python of arguments."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dgd
from support.python_words import python_words
from support.shell import assert_refused, run
from support.shop import BEHAVIORS, ENDS, Shop

SOURCE = Path(dgd.__file__).parent
SHELLS = ("cli", "app", "paper", "arena")
"""What only the shell calls speaks of its options, and the app of how it is started."""


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--train-end", "2022-02-10"], ["--train-end 2022-02-10", "--validation-end"]),
        (["--train-end", "soon"], ['--train-end "soon"']),
        (["--warmup-end", "2022-02-10"], ["--warmup-end", "--train-end"]),
        (["--seeds", "1,1"], ["--seeds is 1,1;"]),
        (["--components", "0"], ["--components is 0"]),
        (["--period", "hour"], ["--period day", "--start and --end"]),
        (["--duplicates", "add"], ["--duplicates is"]),
    ],
)
def test_a_refused_fit_names_the_options(
    csv_shop: Shop, options: list[str], words: list[str]
) -> None:
    result = run(*csv_shop.fit(*options))
    assert_refused(result, *words)
    assert not python_words(result.stderr)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizons", "0,1"], ["--horizons is 0,1;"]),
        (["--levels", "80,80"], ["--levels is 80,80;"]),
        (["--test-start", "2022-01-09"], ["--test-start 2022-01-09", "--validation-end"]),
        (["--paths", "-1"], ["--paths is -1"]),
    ],
)
def test_a_refused_backtest_names_the_options(
    csv_shop: Shop, options: list[str], words: list[str]
) -> None:
    call = ["backtest", csv_shop.table("counts"), "--behaviors", BEHAVIORS, *ENDS]
    result = run(*call, *options)
    assert_refused(result, *words)
    assert not python_words(result.stderr)


def test_a_refused_forecast_names_the_options(shop: Shop) -> None:
    for options, words in (
        (["--horizon", 30], ["with --effort", "up to"]),
        (["--horizon", 0], ["--horizon is 0"]),
        (["--levels", "0"], ["--levels holds 0"]),
        (["--by", "people"], ['--by names "people"']),
        (["--patterns", "--levels", "80"], ["leave out --levels and --by"]),
    ):
        result = run("forecast", shop.model, *options)
        assert_refused(result, *words)
        assert not python_words(result.stderr)


def sentences(file: Path) -> Iterator[str]:
    """What the refusals and warnings of a module say, as far as it is written there."""
    for node in ast.walk(ast.parse(file.read_text())):
        named = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2]
        if isinstance(node, ast.Call) and named in ("InputError", "warn") and node.args:
            parts = [
                part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)
            ]
            yield " ".join(part for part in parts if isinstance(part, str))


def test_the_library_speaks_of_no_options() -> None:
    """What the shell alone calls may; a command between backticks is one to be run there."""
    for file in SOURCE.rglob("*.py"):
        if file.relative_to(SOURCE).parts[0] not in SHELLS:
            for sentence in sentences(file):
                told = re.sub(r"`[^`]*`", "", sentence)
                assert not re.search(r"(?<!\w)--[a-z]", told), f"{file.name}: {sentence}"


def test_sentences_are_found_where_they_are_written() -> None:
    found = list(sentences(SOURCE / "panel" / "continuing.py"))
    assert any("start= from when on" in sentence for sentence in found)


@pytest.mark.parametrize(
    "sentence",
    [
        "say start= from when on.",
        "ask forecast() for levels=[80].",
        "give it to forecast(effort=...).",
        "levels is [80, 80]; give each once.",
        "make one with dgd.Panel.from_counts(table).",
        "train_end 2022-01-01 is late.",
        'objective is x; give weights like {"like": 1.0}.',
    ],
)
def test_words_of_python_are_known(sentence: str) -> None:
    assert python_words(sentence)


def test_words_of_users_and_of_the_shell_are_none() -> None:
    sentence = 'price "a_b=[1]" has no number; write product=price like a=2.5, --levels 80,95.'
    assert not python_words(sentence)
