"""What the shell refuses: exit code 2, one sentence, and nothing written."""

from pathlib import Path

import polars as pl
import pytest

from support.shell import assert_refused, run
from support.shop import BEHAVIORS, ENDS, Shop, read


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--train-end", "2022-03-30"], ["--train-end 2022-03-30", "2022-02-11"]),
        (["--behaviors", "click,buy"], ['no column "buy"']),
        (["--seeds", "one"], ['"one"', "1,2,3"]),
        (["--preset", "fast"], ['"fast"', "default or paper"]),
        (["--components", "0"], ["components is 0", "from 1 to 64"]),
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
