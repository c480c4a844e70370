"""`dgd fit-many`: tables of many panels as a user has them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
from dgd.many.jobs import FITTED, Outcome
from support.many_panels import ASKED, LIGHT, panel
from support.shell import assert_refused, done, run
from support.small_counts import panel_of

ENDS = ["--train-end", ASKED["train_end"], "--validation-end", ASKED["validation_end"]]
BEHAVIORS = ["--behaviors", "click,like"]


def table_of(name: str, given: dgd.Panel) -> pl.DataFrame:
    return given.to_frame("polars").with_columns(pl.lit(name).alias("country"))


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """Two countries, and one whose days are too few."""
    file = tmp_path / "counts.csv"
    days = {"DE": panel(1), "FR": panel(2), "short": panel_of(10)}
    pl.concat([table_of(name, one) for name, one in days.items()]).write_csv(file)
    return file


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `fit_many` is asked with, its panels made; nothing is fitted."""
    found: dict[str, Any] = {}

    def take(panels: Any, settings: Any, **more: Any) -> dgd.ManyFits:
        found.update(more, settings=settings)
        found["panels"] = {name: make() for name, make in panels.items()}
        return dgd.ManyFits(tuple(Outcome(name, FITTED, 1.0, 2.0, "x.dgd") for name in panels))

    monkeypatch.setattr("dgd.many.fitting_many.fit_many", take)
    return found


def test_a_column_tells_panels_apart(asked: dict[str, Any], counts: Path, tmp_path: Path) -> None:
    done("fit-many", counts, "--by", "country", *BEHAVIORS, *ENDS, "--output", tmp_path / "models")
    assert list(asked["panels"]) == ["DE", "FR", "short"]
    for name, whole in {"DE": panel(1), "FR": panel(2)}.items():
        assert (asked["panels"][name].arrivals == whole.arrivals).all()
    assert asked["folder"] == tmp_path / "models"
    assert asked["seeds"] == [1, 2, 3]


def test_sizes_and_features_may_have_the_column_too(
    asked: dict[str, Any], counts: Path, tmp_path: Path
) -> None:
    cohorts = ["new", "old"]
    sizes = pl.DataFrame(
        {"country": ["DE", "DE", "FR", "FR"], "cohort": cohorts * 2, "size": [5.0, 6.0, 7.0, 8.0]}
    )
    days = pl.read_csv(counts)["date"].unique().to_list()
    effort = pl.DataFrame({"date": days, "effort": [2.0] * len(days)})
    sizes.write_csv(tmp_path / "sizes.csv")
    effort.write_csv(tmp_path / "effort.csv")
    table = pl.read_csv(counts).filter(pl.col("country") != "short")
    table.write_csv(counts)
    known = ["--sizes", tmp_path / "sizes.csv", "--effort", tmp_path / "effort.csv"]
    done("fit-many", counts, "--by", "country", *BEHAVIORS, *ENDS, *known)
    assert asked["panels"]["DE"].size[0, 0].tolist() == [5.0, 6.0]
    assert asked["panels"]["FR"].size[0, 0].tolist() == [7.0, 8.0]
    assert (asked["panels"]["FR"].effort == 2.0).all()


def test_a_folder_has_a_table_for_each_panel(asked: dict[str, Any], tmp_path: Path) -> None:
    for name, seed in {"north": 1, "south": 2}.items():
        panel(seed).to_frame("polars").write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "notes.txt").write_text("nothing to count")
    done("fit-many", tmp_path, *BEHAVIORS, *ENDS)
    assert list(asked["panels"]) == ["north", "south"]


def test_units_can_be_panels(asked: dict[str, Any], counts: Path) -> None:
    table = pl.read_csv(counts).filter(pl.col("country") == "DE").drop("country")
    table.write_csv(counts)
    done("fit-many", counts, "--by", "unit", *BEHAVIORS, *ENDS)
    assert [one.units for one in asked["panels"].values()] == [("north",), ("south",)]


def test_what_does_not_tell_panels_apart_is_refused(counts: Path, tmp_path: Path) -> None:
    call = [*BEHAVIORS, *ENDS]
    assert_refused(run("fit-many", counts, *call), "is not a folder of tables", "--by")
    assert_refused(run("fit-many", counts, "--by", "land", *call), 'no column "land"', "country")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert_refused(run("fit-many", empty, *call), "has no table that ends with .csv or .parquet")
    for ending in ("csv", "parquet"):
        (empty / f"DE.{ending}").touch()
    assert_refused(run("fit-many", empty, *call), '"DE.csv"', '"DE.parquet"', "rename one of them")


@pytest.mark.parametrize(("told", "code"), [({"warnings": ("odd",)}, 0), ({"diverged": (1,)}, 3)])
def test_only_divergence_ends_as_divergence(
    told: dict[str, Any], code: int, counts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = dgd.ManyFits((Outcome("DE", FITTED, 1.0, 2.0, "x.dgd", **told),))
    monkeypatch.setattr("dgd.many.fitting_many.fit_many", lambda *_, **__: found)
    assert run("fit-many", counts, "--by", "country", *BEHAVIORS, *ENDS).exit_code == code


@pytest.mark.slow
def test_failures_are_told_one_by_one_and_the_rest_is_written(counts: Path, tmp_path: Path) -> None:
    plain = {name: value for name, value in LIGHT.as_dict().items() if name != "epochs"}
    chosen = [word for name, value in plain.items() for word in ("--set", f"{name}={value}")]
    output = tmp_path / "models"
    call = ["fit-many", counts, "--by", "country", *BEHAVIORS, *ENDS, *chosen, "--epochs", 2]
    result = run(*call, "--seeds", 1, "--output", output)
    assert result.exit_code == 4, result.output
    assert "wrote" in result.stdout
    said = [line for line in result.stderr.splitlines() if line.startswith("dgd: ")]
    assert len(said) == 1
    assert said[0].startswith("dgd: panel short: --train-end 2024-01-14 is not a day of the panel")
    assert sorted(file.name for file in output.iterdir()) == ["DE.dgd", "FR.dgd"]
    again = run(*call, "--seeds", 1, "--output", output, "--json")
    told = json.loads(again.stdout)
    assert (told["fitted"], told["kept"], told["failed"]) == (0, 2, 1)
    assert [one["state"] for one in told["panels"]] == ["kept", "kept", "failed"]


def test_special_days_are_of_all_panels_or_of_each(
    asked: dict[str, Any], counts: Path, tmp_path: Path
) -> None:
    file = tmp_path / "special.csv"
    file.write_text("country,date,name\nDE,2022-01-12,sale\nFR,2022-01-12,fair\n", "utf-8")
    pl.read_csv(counts).filter(pl.col("country") != "short").write_csv(counts)
    known = ["--special", file, "--country", "GB"]
    done("fit-many", counts, "--by", "country", *BEHAVIORS, *ENDS, *known)
    for name, own in {"DE": "sale", "FR": "fair"}.items():
        days = asked["panels"][name].special_days
        assert (days.country, days.names) == ("GB", (own,))
