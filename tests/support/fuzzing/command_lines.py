"""Command lines with any options and values; none of them trains or fetches anything."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer

import dgd
from dgd.cli.app import app
from dgd.tables.files import write_table
from support.fuzzing.odd_values import any_of
from support.fuzzing.outcomes import Case, fault_of
from support.fuzzing.tables import clean
from support.python_words import python_words
from support.random_choice import make as make_markets
from support.random_choice import offers_table, random_fit
from support.shell import run
from support.small_counts import panel_of
from support.untrained import untrained

Words = list[str]

TRAINS = {
    "fit": ["--epochs", "0"],
    "fit-many": ["--epochs", "0"],
    "choice fit": ["--epochs", "0"],
    "backtest": ["--seeds", "x"],
}
"""What refuses a call of each command that would train, once everything else was taken."""
SLOW = ("check",)
LEFT_OUT = ("demo", "reproduce", "serve")
VALUES = [
    "", " ", "0", "1", "-1", "3", "7", "2.5", "1e5", "1e400", "nan", "inf", "1" + 22 * "0", "none",
    "date", "unit", "click,like", "click,click", "click", "count", "a,b", "1,2", "2022-04-08",
    "2022-04-05", "9999-12-31", "2022-02-30", "0001-01-01", "day", "week", "hour", "sum", "csv",
    "parquet", "UTC", "Europe/Berlin", "../..", "/", "/dev/null", "x" * 3000, "\0", "a\nb", "=",
    "a=1", "dim=2", "nodes=1000000", "[bold]", "\N{PILE OF POO}", "--", "--json", "\udcff", "north",
    "a=2.5",
]  # fmt: skip


def prepare(folder: Path) -> Callable[[np.random.Generator], Case]:
    """What draws a case, with tables and models that some of the values name."""
    files = [folder / "absent.csv", folder]
    for name, columns in clean().items():
        files.append(folder / f"{name}.csv")
        write_table(pl.DataFrame(columns), files[-1])
    files.append(folder / "offers.parquet")
    write_table(offers_table(), files[-1])
    files.append(folder / "changes.csv")
    write_table(pl.DataFrame({"what": ["effort"], "how": ["multiply"], "value": [2.0]}), files[-1])
    files.append(folder / "data set")
    counts = pl.DataFrame(clean()["counts"])
    dgd.partition_counts(counts, files[-1], behaviors=["click", "like"], partitions=3)
    models = [folder / "fit.dgd", folder / "choice.dgd", folder / "effort.dgd"]
    untrained(dgd.DGD(nodes=3), panel_of(40), seeds=(1,)).save(models[0])
    random_fit(make_markets()).save(models[1])
    untrained(dgd.DGD(nodes=3), _with_effort(panel_of(40)), seeds=(1,)).save(models[2])
    (folder / "results").mkdir()
    named = [str(file) for file in (*files, *models)]
    main = typer.main.get_command(app)
    commands = dict(_leaves(main, ()))
    return lambda rng: _case(rng, commands, named, folder)


def _with_effort(panel: dgd.Panel) -> dgd.Panel:
    effort = pl.DataFrame({"date": panel.dates.tolist(), "effort": [1.0, 1.5] * 20})
    return dgd.Panel.from_counts(panel.to_frame(), behaviors=panel.behaviors, effort=effort)


def _leaves(group: Any, before: tuple[str, ...]) -> Any:
    """Every command with the words that call it."""
    for name, found in group.commands.items():
        words = (*before, name)
        if hasattr(found, "commands"):
            yield from _leaves(found, words)
        elif name not in LEFT_OUT:
            yield words, found


def _case(
    rng: np.random.Generator,
    commands: dict[tuple[str, ...], Any],
    named: Words,
    folder: Path,
) -> Case:
    called = any_of(rng, [words for words in commands if words != SLOW or rng.random() < 0.3])
    usual = _usual(" ".join(called), folder)
    words = [*called, *usual]
    for parameter in commands[called].params:
        if rng.random() < (0.05 if parameter.name == "charts" else 0.25):
            words += _given(rng, parameter, named, folder)
    if rng.random() < 0.1:
        del words[int(rng.integers(1, len(words)))]
    words += TRAINS.get(" ".join(called), [])
    if called == ("data", "fetch"):
        words[2:3] = ["absent"]
    return Case(ascii(words), lambda: _check(words))


def _usual(name: str, folder: Path) -> Words:
    """What the command needs to work."""
    counts, offers = str(folder / "counts.csv"), str(folder / "offers.parquet")
    fit, choice = str(folder / "fit.dgd"), str(folder / "choice.dgd")
    effort = str(folder / "effort.dgd")
    change = ["--change", str(folder / "changes.csv"), "--paths", "20", "--levels", "80"]
    terms = ["--budget", "9", "--objective", "like=1", "--starts", "2", "--after", "0"]
    behaviors = ["--behaviors", "click,like"]
    ends = ["--train-end", "2022-04-04", "--validation-end", "2022-04-06"]
    return {
        "simulate": ["--output", str(folder / "world"), "--days", "5"],
        "count": [counts, "--time", "date", *behaviors, "--output", str(folder / "counted.csv")],
        "explore": [counts, *behaviors],
        "fit": [counts, *behaviors, *ends, "--output", str(folder / "new.dgd")],
        "fit-many": [counts, "--by", "unit", *behaviors, *ends, "--output", str(folder / "many")],
        "backtest": [counts, *behaviors, *ends],
        "forecast": [fit, "--horizon", "2"],
        "scenario": [effort, *change, "--horizon", "2"],
        "plan": [effort, *terms, "--horizon", "2"],
        "report": [choice, "--output", str(folder / "report.html")],
        "info": [fit],
        "check": [fit],
        "choice fit": [offers, "--attributes", "quality", "--output", str(folder / "new.dgd")],
        "choice predict": [choice],
        "choice elasticities": [choice],
        "data fetch": ["absent"],
    }[name]


def _given(rng: np.random.Generator, parameter: Any, named: Words, folder: Path) -> Words:
    """A parameter with a value; what is written to stays in the folder."""
    value = any_of(rng, [*VALUES, *named, *named])
    if not hasattr(parameter, "is_flag"):
        return [value]
    flag = parameter.opts[0]
    if parameter.is_flag:
        return [flag]
    if flag in ("--output", "--charts"):
        endings = ["out.csv", "out.parquet", "out.txt", "", "a/b/c.csv", "model.dgd"]
        value = str(folder / "results" / any_of(rng, endings))
    if flag in ("--days", "--horizon") and value == "1e5":
        value = "100"
    return [flag, value]


def _check(words: Words) -> None:
    """Done with finite numbers, or refused on standard error and nowhere else."""
    result = run(*words)
    if result.exit_code == 2:
        *before, said = result.stderr.strip().splitlines()
        assert "Traceback" not in result.stderr
        if any("Usage:" in line or "Error ─" in line for line in before):
            raise dgd.InputError("a wrong call.")
        assert said.startswith("dgd: "), result.stderr
        assert all(line.startswith(("counting", "warning: ")) for line in before), result.stderr
        assert result.stdout == ""
        assert not fault_of(said), said
        assert not python_words(said), said
        raise dgd.InputError("a refusal.")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    if "--json" in words and result.stdout.startswith(("{", "[")):
        finite(json.loads(result.stdout))


def finite(value: Any) -> None:
    """No number in a document is anything but finite."""
    if isinstance(value, float):
        assert math.isfinite(value)
    elif isinstance(value, dict):
        for inner in value.values():
            finite(inner)
    elif isinstance(value, list):
        for inner in value:
            finite(inner)
