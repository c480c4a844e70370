"""Data sets from the shell: `dgd count` writes them, and commands read them like tables."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.cli.options import AheadOptions, PanelOptions
from dgd.parts.manifest import read_manifest
from support.shell import assert_refused, run
from support.small_counts import panel_of
from support.untrained import untrained
from support.visit_log import visits

COUNT = ["--time", "at", "--timezone", "Europe/Berlin", "--unit", "shop", "--cohort", "group"]
MORE = ["--behaviors", "click,like", "--missing", "unknown", "--end", "2022-03-31"]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("log") / "log.parquet"
    visits().write_parquet(file)
    return file


@pytest.fixture(scope="module")
def folder(log: Path) -> Path:
    target = log.parent / "counts"
    result = run("count", log, *COUNT, *MORE, "--output", target, "--partitions", 5, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["partitions"], facts["units"], facts["counted"]) == (5, 23, 892)
    assert facts["patterns"] == read_manifest(target).rows
    return target


def test_commands_read_a_data_set_as_they_read_its_table(log: Path, folder: Path) -> None:
    table = log.parent / "counts.csv"
    assert run("count", log, *COUNT, *MORE, "--output", table).exit_code == 0
    told = [
        run("explore", counts, "--behaviors", "click,like", "--json") for counts in (table, folder)
    ]
    assert told[0].exit_code == 0, told[0].output
    assert told[0].stdout == told[1].stdout


def test_the_summary_says_how_many_units_and_parts(log: Path, tmp_path: Path) -> None:
    result = run("count", log, *COUNT, *MORE, "--output", tmp_path / "set", "--partitions", 5)
    assert "814 rows, 23 units, 5 partitions" in result.stdout


def test_options_may_repeat_the_manifest_but_not_contradict_it(folder: Path) -> None:
    same = PanelOptions(folder, "click,like", date="date", period="day", context=" ,")
    assert same.read().behaviors == ("click", "like")
    call = ["explore", folder, "--behaviors", "click,like"]
    assert_refused(run(*call, "--period", "week"), '--period is "week"', 'has "day"; leave it out')
    assert_refused(run(*call, "--unit", "shop"), '--unit is "shop"', 'has "unit"')
    assert_refused(run(*call, "--context", "hour"), '--context is "hour"')
    assert_refused(run("explore", folder, "--behaviors", "buy"), '--behaviors names "buy"')


def test_start_and_end_reach_beyond_the_counts(folder: Path) -> None:
    found = PanelOptions(folder, "click,like", start="2022-03-01", end="2022-04-02").read()
    assert [str(found.dates[0]), str(found.dates[-1])] == ["2022-03-01", "2022-04-02"]


def test_newer_counts_may_be_a_data_set(tmp_path: Path) -> None:
    panel = panel_of(40)
    earlier = panel.through(panel.dates[37])
    untrained(dgd.DGD(nodes=3), earlier, seeds=(1,)).save(tmp_path / "fit.dgd")
    dgd.partition_counts(panel.to_frame(), tmp_path / "counts", behaviors=panel.behaviors)
    fit, _ = AheadOptions(tmp_path / "fit.dgd", counts=tmp_path / "counts").read()
    assert fit.panel.dates[-1] == panel.dates[-1]
    np.testing.assert_array_equal(fit.panel.patterns, panel.patterns)


def test_partitions_go_to_a_folder_of_their_own(log: Path, tmp_path: Path) -> None:
    call = ["count", log, *COUNT, *MORE, "--partitions", 5]
    assert_refused(run(*call, "--output", tmp_path / "a.csv"), "ends in .csv", "name one without")
    (tmp_path / "notes").write_text("mine")
    assert_refused(run(*call, "--output", tmp_path), "holds other files")
    assert_refused(run(*call[:-1], 0, "--output", tmp_path / "a"), "--partitions is 0")
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_data_set_is_not_counted_into_itself(folder: Path) -> None:
    before = read_manifest(folder)
    part = next(folder.glob("part=*"))
    files = str(part / "*.parquet")
    call = ["count", files, "--time", "date", "--behaviors", "click", "--output", folder]
    assert_refused(run(*call, "--partitions", 2), "holds the input", "name another folder")
    assert read_manifest(folder) == before
    assert pl.read_parquet(part / "*.parquet", hive_partitioning=False).height
