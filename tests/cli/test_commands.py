"""The shell: tables in, tables and model files out, exit codes that mean what they say."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
import dgd.estimator
from dgd.cli.app import app
from dgd.learning.loop import DIVERGED, REASONS
from support.shell import assert_refused, done, run

BEHAVIORS = "click,like,share"
ENDS = ["--train-end", "2022-01-30", "--validation-end", "2022-02-06"]
DAWN = "from signal import *; signal(SIGINT, default_int_handler); "
SHELL = [sys.executable, "-c", DAWN + "from dgd.cli import main; main()"]
"""The `dgd` command as a process of its own, which hears Ctrl-C whatever started us."""


@dataclass(frozen=True)
class Shop:
    """What one round through the shell has written."""

    folder: Path
    suffix: str
    simulated: dict[str, Any]
    fitted: dict[str, Any]

    def table(self, name: str) -> Path:
        return self.folder / "world" / f"{name}.{self.suffix}"

    @property
    def model(self) -> Path:
        return self.folder / "model.dgd"

    def fit(self, *options: object) -> list[object]:
        """The arguments of a fit to this world."""
        tables = ["--sizes", self.table("sizes"), "--effort", self.table("effort")]
        return ["fit", self.table("counts"), "--behaviors", BEHAVIORS, *ENDS, *tables, *options]


def read(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


def open_shop(folder: Path, suffix: str) -> Shop:
    world = ["--days", 40, "--arrivals", 15, "--seed", 3, "--format", suffix]
    simulated = done("simulate", *world, "--output", folder / "world", "--json")
    shop = Shop(folder, suffix, json.loads(simulated.stdout), {})
    options = ["--epochs", 5, "--seeds", "1", "--output", shop.model, "--json"]
    fitted = done(*shop.fit(*options))
    assert fitted.stderr == ""
    return replace(shop, fitted=json.loads(fitted.stdout))


@pytest.fixture(scope="module", params=["csv", "parquet"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return open_shop(tmp_path_factory.mktemp("shop"), request.param)


@pytest.fixture(scope="module")
def csv_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A simulated world without a model."""
    folder = tmp_path_factory.mktemp("csv")
    done("simulate", "--days", 40, "--arrivals", 15, "--seed", 3, "--output", folder / "world")
    return Shop(folder, "csv", {}, {})


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(*_: object) -> None:
        pytest.fail("training began before the refusal")

    monkeypatch.setattr(dgd.estimator, "best_models", reached)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dgd.DGD, dgd.Panel, dict[str, Any]]]:
    """What the shell asks of the library, without the training."""
    calls = []

    def record(model: dgd.DGD, panel: dgd.Panel, **options: Any) -> None:
        calls.append((model, panel, options))
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(dgd.DGD, "fit", record)
    return calls


# The round trip


def test_simulate_writes_the_drawn_world(shop: Shop, drawn: dgd.Simulated) -> None:
    facts = shop.simulated
    assert set(facts) == {"files", "days", "seed", "arrivals", "behaviors"}
    assert facts["days"] == 40
    assert facts["seed"] == 3
    assert facts["arrivals"] == drawn.panel.arrivals.sum()
    assert facts["behaviors"] == list(drawn.panel.behaviors)
    assert facts["files"] == {
        name: str(shop.table(name)) for name in ("counts", "sizes", "effort", "truth")
    }
    counts = read(shop.table("counts")).drop("date")
    assert counts.rows() == drawn.panel.to_frame().drop("date").rows()
    assert read(shop.table("truth"))["probability"].sum() == pytest.approx(40 * 2 * 3)


def test_fit_tells_every_seed(shop: Shop) -> None:
    assert shop.fitted["model"] == str(shop.model)
    (seed,) = shop.fitted["seeds"]
    keys = {"seed", "start", "epoch kept", "validation objective", "epochs run", "ended because"}
    assert set(seed) == keys
    assert seed["seed"] == 1
    assert seed["epochs run"] == 6
    assert seed["ended because"] == "all epochs done"


def test_the_shell_fits_what_the_library_fits(shop: Shop, fit: dgd.Fit) -> None:
    """Cohorts come sorted from a table, so a seed's small differences fall on other cohorts."""
    expected = fit.summary("polars")["validation objective"][0]
    assert shop.fitted["seeds"][0]["validation objective"] == pytest.approx(expected, abs=0.05)


def test_forecast_writes_the_librarys_forecast(shop: Shop, tmp_path: Path) -> None:
    output = tmp_path / f"forecast.{shop.suffix}"
    origin = ["--horizon", 2, "--origin", "2022-02-06"]
    result = done("forecast", shop.model, *origin, "--output", output)
    assert str(output) in result.stdout
    expected = dgd.load(shop.model).forecast(2, origin="2022-02-06").to_frame("polars")
    assert read(output).drop("date").rows() == expected.drop("date").rows()
    assert read(output).columns == expected.columns


def test_forecast_prints_its_rows_as_json(shop: Shop) -> None:
    result = done("forecast", shop.model, "--horizon", 2, "--origin", "2022-02-06", "--json")
    answer = json.loads(result.stdout)
    assert answer["origin"] == "2022-02-06"
    assert len(answer["rows"]) == 2 * 2 * 3
    keys = ["date", "horizon", "unit", "cohort", "arrivals", *BEHAVIORS.split(",")]
    assert list(answer["rows"][0]) == keys
    assert answer["rows"][0]["date"] == "2022-02-07"


def test_forecast_gives_joint_patterns_that_sum_to_one(shop: Shop) -> None:
    options = ["--horizon", 1, "--origin", "2022-02-06", "--patterns", "--json"]
    rows = pl.DataFrame(json.loads(done("forecast", shop.model, *options).stdout)["rows"])
    totals = rows.group_by("unit", "cohort").agg(pl.col("probability").sum(), pl.len())
    assert totals["len"].to_list() == [8] * 6
    assert totals["probability"].to_list() == pytest.approx([1.0] * 6)


def test_forecast_reads_the_effort_of_days_to_come(shop: Shop, tmp_path: Path) -> None:
    days = pl.date_range(pl.date(2022, 2, 12), pl.date(2022, 2, 14), eager=True).alias("date")
    sums = []
    for effort in (1.0, 3.0):
        path = tmp_path / "ahead.csv"
        pl.DataFrame([days, pl.Series("effort", [effort] * 3)]).write_csv(path)
        result = done("forecast", shop.model, "--horizon", 3, "--effort", path, "--json")
        rows = json.loads(result.stdout)["rows"]
        sums.append(sum(row["arrivals"] for row in rows if row["horizon"] == 1))
    assert sums[1] == pytest.approx(3 * sums[0])


def test_info_tells_everything_as_json(shop: Shop) -> None:
    facts = json.loads(done("info", shop.model, "--json").stdout)
    keys = "panel units cohorts behaviors ranges settings training population dynamics"
    assert set(facts) == set(keys.split())
    assert facts["ranges"] == {
        "warm-up": "none",
        "training": "2022-01-03 to 2022-01-30",
        "validation": "2022-01-31 to 2022-02-06",
        "test": "2022-02-07 to 2022-02-11",
    }
    assert facts["settings"]["epochs"] == 5
    assert facts["training"] == shop.fitted["seeds"]
    assert len(facts["population"]) == 3 * facts["settings"]["components"]


def test_info_is_readable_for_a_person(shop: Shop) -> None:
    shown = done("info", shop.model).stdout
    for word in ("40 days", "training: 2022-01-03", "Response types", "memory retention"):
        assert word in shown


# Options


def test_options_reach_the_library(csv_shop: Shop, asked: list[Any]) -> None:
    options = ["--components", 3, "--nodes", 5, "--epochs", 9, "--seeds", "4, 5"]
    run(*csv_shop.fit(*options, "--warmup-end", "2022-01-09"))
    ((model, panel, given),) = asked
    assert (model.components, model.nodes, model.epochs) == (3, 5, 9)
    assert given["seeds"] == [4, 5]
    assert given["warmup_end"] == "2022-01-09"
    assert given["train_end"] == "2022-01-30"
    assert panel.sized
    assert panel.has_effort


def test_columns_may_be_named_or_absent(csv_shop: Shop, tmp_path: Path, asked: list[Any]) -> None:
    table = read(csv_shop.table("counts")).group_by("date", "click").agg(n=pl.col("count").sum())
    table.rename({"date": "when"}).write_csv(tmp_path / "own.csv")
    columns = ["--date", "when", "--unit", "none", "--cohort", "none", "--count", "n"]
    run("fit", tmp_path / "own.csv", "--behaviors", "click", *columns, *ENDS)
    ((_, panel, _),) = asked
    assert panel.units == panel.cohorts == ("all",)
    assert panel.arrivals.sum() == table["n"].sum()


def test_the_paper_preset_is_the_librarys(csv_shop: Shop, asked: list[Any]) -> None:
    run(*csv_shop.fit("--preset", "paper"))
    assert asked[0][0] == dgd.DGD.paper()


# Refusals


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--train-end", "2022-03-30"], ["train_end 2022-03-30", "2022-02-11"]),
        (["--behaviors", "click,buy"], ['no column "buy"']),
        (["--seeds", "one"], ['"one"', "1,2,3"]),
        (["--preset", "fast"], ['"fast"', "default or paper"]),
        (["--components", "0"], ["components is 0", "at least 1"]),
        (["--period", "month"], ['"month"', "hour, day or week"]),
        (["--sizes", "absent.csv"], ['"absent.csv"', "does not exist"]),
    ],
)
def test_a_refused_fit_leaves_the_old_model(
    csv_shop: Shop, tmp_path: Path, options: list[str], words: list[str]
) -> None:
    model = tmp_path / "model.dgd"
    model.write_text("the old model")
    assert_refused(run(*csv_shop.fit("--output", model, *options)), *words)
    assert model.read_text() == "the old model"
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.usefixtures("no_training")
def test_an_output_that_cannot_be_written_is_refused_before_training(
    csv_shop: Shop, tmp_path: Path
) -> None:
    assert_refused(run(*csv_shop.fit("--output", tmp_path / "nowhere" / "model.dgd")), "nowhere")
    assert_refused(run(*csv_shop.fit("--output", tmp_path)), str(tmp_path))


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("absent.csv", None, ["absent.csv", "does not exist", "check the path"]),
        ("counts.xlsx", b"PK", ["counts.xlsx", "neither .csv nor .parquet"]),
        ("counts.parquet", b"not parquet", ["counts.parquet", "cannot be read"]),
        ("empty.csv", b"", ["empty.csv", "cannot be read"]),
    ],
)
def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, name: str, content: bytes | None, words: list[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    arguments = ["fit", tmp_path / name, "--behaviors", "click", *ENDS]
    assert_refused(run(*arguments, "--output", tmp_path / "model.dgd"), *words)
    assert not (tmp_path / "model.dgd").exists()


@pytest.mark.usefixtures("no_training")
def test_a_bad_row_is_named_in_the_shell(csv_shop: Shop, tmp_path: Path) -> None:
    table = read(csv_shop.table("counts"))
    bad = table.with_columns(count=pl.when(pl.int_range(pl.len()) == 6).then(-4).otherwise("count"))
    bad.write_csv(tmp_path / "bad.csv")
    result = run("fit", tmp_path / "bad.csv", "--behaviors", BEHAVIORS, *ENDS, "--json")
    assert_refused(result, "counts row 7", "column count", "-4", "negative")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizon", "0"], ["horizon is 0", "at least one day"]),
        (["--horizon", "7"], ["effort for 2022-02-12", "up to 2022-02-18"]),
        (["--origin", "2023-01-01"], ["origin 2023-01-01", "choose one in that range"]),
        (["--effort", "absent.csv"], ["absent.csv", "does not exist"]),
    ],
)
def test_a_refused_forecast_leaves_the_old_table(
    shop: Shop, tmp_path: Path, options: list[str], words: list[str]
) -> None:
    output = tmp_path / "forecast.csv"
    output.write_text("the old forecast")
    assert_refused(run("forecast", shop.model, "--output", output, *options), *words)
    assert output.read_text() == "the old forecast"
    assert list(tmp_path.iterdir()) == [output]


def test_a_forecast_to_an_unknown_ending_is_refused(shop: Shop, tmp_path: Path) -> None:
    output = tmp_path / "forecast.xlsx"
    options = ["--horizon", 1, "--origin", "2022-02-06", "--output", output]
    assert_refused(run("forecast", shop.model, *options), "neither .csv nor .parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["forecast", "info"])
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, command: str) -> None:
    foreign = tmp_path / "foreign.dgd"
    foreign.write_bytes(b"something else entirely")
    assert_refused(run(command, foreign), "foreign.dgd", "not a dgd model")
    assert_refused(run(command, tmp_path / "absent.dgd"), "absent.dgd", "does not exist")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "xlsx"], ['"xlsx"', "csv or parquet"]),
        (["--days", "0"], ["days is 0", "at least one"]),
        (["--arrivals", "-5"], ["arrivals", "-5"]),
    ],
)
def test_a_refused_simulation_writes_nothing(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    assert_refused(run("simulate", "--output", tmp_path / "world", *options), *words)
    assert list(tmp_path.iterdir()) == []


def test_a_world_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "world"
    file.write_text("a file")
    assert_refused(run("simulate", "--days", 2, "--output", file), str(file))
    assert file.read_text() == "a file"


def test_a_call_that_lacks_an_option_exits_with_2(tmp_path: Path) -> None:
    result = run("fit", tmp_path / "counts.csv")
    assert result.exit_code == 2
    assert "--behaviors" in result.stderr


def test_a_diverged_fit_is_written_and_exits_with_3(
    csv_shop: Shop, tmp_path: Path, fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = tuple(replace(run, reason=REASONS[DIVERGED]) for run in fit.runs)
    monkeypatch.setattr(dgd.DGD, "fit", lambda *_, **__: replace(fit, runs=runs))
    result = run(*csv_shop.fit("--output", tmp_path / "model.dgd", "--json"))
    assert result.exit_code == 3
    assert json.loads(result.stdout)["seeds"][0]["ended because"].startswith("diverged")
    assert dgd.load(tmp_path / "model.dgd").diverged == (1, 2)


# Help


@pytest.mark.parametrize("command", [info.callback.__name__ for info in app.registered_commands])
def test_every_commands_help_shows_an_example(command: str) -> None:
    shown = " ".join(done(command, "--help").stdout.split())
    assert f"Example: dgd {command}" in shown


def test_the_help_documents_commands_and_exit_codes() -> None:
    shown = done("--help").stdout
    for word in ("simulate", "fit", "forecast", "info", "demo", "Exit codes", "130: "):
        assert word in shown


# Real processes


def process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*SHELL, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_command_runs_as_a_process(tmp_path: Path) -> None:
    result = process("simulate", "--days", 3, "--output", tmp_path / "world", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["days"] == 3
    files = sorted(path.name for path in (tmp_path / "world").iterdir())
    assert files == ["counts.csv", "effort.csv", "sizes.csv", "truth.csv"]


def read_until(running: subprocess.Popen[bytes], word: bytes, seconds: float) -> bytes:
    """Standard error up to `word`; rich draws its bars there as for a terminal."""
    assert running.stderr is not None
    seen, end = b"", time.monotonic() + seconds
    while word not in seen:
        part = os.read(running.stderr.fileno(), 65536)
        assert part, f"the command ended too early: {seen.decode()}"
        assert time.monotonic() < end, f"no progress: {seen.decode()}"
        seen += part
    return seen


def test_ctrl_c_leaves_the_shell_with_130_and_no_model(csv_shop: Shop, tmp_path: Path) -> None:
    model = tmp_path / "model.dgd"
    slow = ["--nodes", 100, "--components", 12, "--seeds", "1", "--epochs", 1_000_000]
    running = subprocess.Popen(
        [*SHELL, *map(str, csv_shop.fit(*slow, "--output", model))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},
    )
    try:
        read_until(running, b"validation", seconds=120)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    finally:
        running.kill()
    assert running.returncode == 130, err.decode()
    assert b"interrupted; no result was written" in err
    assert b"Traceback" not in err
    assert b"wrote" not in out
    assert list(tmp_path.iterdir()) == []
