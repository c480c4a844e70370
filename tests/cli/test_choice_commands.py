"""The shell's way to demand: a table in, a model file, shares and elasticities out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dgd
import dgd.choice.estimator
from dgd.choice import ChoiceFit, ChoiceModel, Markets, gaussian_world, simulate_markets
from dgd.choice.fitted_offers import FittedOffers
from dgd.learning.runs import Run
from dgd.runtime import computing
from support.random_choice import SIZES, make, offers_table, random_fit
from support.shell import assert_refused, done, run

EARLY = ["--set", "method=early stopping"]
QUICK = [*EARLY, "--set", "epochs=5", "--set", "starts=1", "--seeds", "1,2"]
COLUMNS = ["--attributes", "quality,style", "--market-size", "visitors"]


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve markets of three products, as a shop would export them."""
    markets = simulate_markets(gaussian_world(), 12, seed=5).markets
    file = tmp_path_factory.mktemp("sales") / "sales.csv"
    markets.rows().drop("available").with_columns(visitors=pl.lit(4000)).write_csv(file)
    return file


@pytest.fixture(scope="module")
def model(sales: Path) -> Path:
    file = sales.parent / "model.dgd"
    options = ["--validation", "10,11,12", "--output", file, "--json"]
    result = done("choice", "fit", sales, *COLUMNS, *QUICK, *options)
    facts = json.loads(result.stdout)
    assert facts["model"] == str(file)
    assert [row["seed"] for row in facts["seeds"]] == [1, 2]
    assert len(facts["segments"]) == 4
    return file


@pytest.fixture(scope="module")
def fit(model: Path) -> ChoiceFit:
    return dgd.load(model)


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(*_: object) -> None:
        pytest.fail("training began before the refusal")

    monkeypatch.setattr(dgd.choice.estimator, "trained", reached)


def with_levels(fit: ChoiceFit) -> ChoiceFit:
    """A random fit with an effect of every absorbed label, and as many tastes as attributes."""
    number = len(fit.markets.attribute_names)
    levels = FittedOffers.plain(fit.markets).level_count

    def fitting(run: Run) -> Run:
        demand, some = run.parameters, slice(-number, None)
        utility = replace(
            demand.utility,
            attribute_effect=demand.utility.attribute_effect[some],
            attribute_loading=demand.utility.attribute_loading[some],
            level_effect=jnp.linspace(-1.0, 1.0, levels),
        )
        center, spread = demand.scales.center[some], demand.scales.spread[some]
        scales = demand.scales._replace(center=center, spread=spread)
        return replace(run, parameters=replace(demand, utility=utility, scales=scales))

    with computing():
        return replace(fit, runs=tuple(map(fitting, fit.runs)))


# Fitting


def test_fit_holds_out_the_markets_named(fit: ChoiceFit):
    assert fit.training == tuple(map(str, range(1, 10)))
    assert fit.markets.size.tolist() == [4000] * 12
    assert fit.settings.starts == 1


@pytest.mark.slow
def test_fit_shows_progress_and_tables_to_a_person(sales: Path, tmp_path: Path):
    charts = ["--charts", tmp_path / "charts", "--products", "a"]
    output = ["--output", tmp_path / "m.dgd"]
    result = done("choice", "fit", sales, *COLUMNS, *QUICK, *output, *charts)
    assert "Types of choosers" in result.stdout
    assert "seed 2" in result.stderr
    kinds = ("html", "png", "svg")
    names = [f"{name}.{kind}" for name in ("demand", "sensitivity") for kind in kinds]
    assert sorted(file.name for file in (tmp_path / "charts").iterdir()) == names
    for name in names:
        assert f"wrote {tmp_path / 'charts' / name}" in result.stdout


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ChoiceModel, Markets, dict[str, Any]]]:
    """What a fit would have been asked for; it is refused instead."""
    found: list[tuple[ChoiceModel, Markets, dict[str, Any]]] = []

    def record(model: ChoiceModel, markets: Markets, **options: Any) -> None:
        found.append((model, markets, options))
        raise dgd.InputError("only asked.")

    monkeypatch.setattr(ChoiceModel, "fit", record)
    return found


def markets_asked(asked: list[Any], file: Path, *options: object) -> Markets:
    """The markets that `dgd choice fit` makes of a file."""
    output = ["--output", file.parent / "m.dgd", "--json"]
    assert_refused(run("choice", "fit", file, *options, *output), "only asked")
    return asked[-1][1]


def test_every_option_reaches_the_library(asked: list[Any], tmp_path: Path):
    renamed = {"market": "town", "product": "good", "price": "cost", "count": "sold"}
    offers_table().rename(renamed).drop("visitors").write_parquet(tmp_path / "t.parquet")
    pl.DataFrame({"group": list(SIZES), "size": list(SIZES.values())}).write_csv(
        tmp_path / "sizes.csv"
    )
    names = [part for ours, theirs in renamed.items() for part in (f"--{ours}", theirs)]
    table = ["--available", "available", "--outside", "70", "--attributes", "quality,style"]
    cohorts = ["--sizes", tmp_path / "sizes.csv", "--cohort", "group"]
    settings = ["--components", 3, "--dim", 1, "--nodes", 4, "--population", "discrete"]
    more = ["--set", "patience=4", "--validation", "0.4", "--seeds", "7"]
    options = [*names, *table, *cohorts, *settings, *more, "--output", tmp_path / "m.dgd"]
    assert_refused(run("choice", "fit", tmp_path / "t.parquet", *options, "--json"), "only asked")
    ((model, markets, given),) = asked
    assert model.components == 3
    assert (model.dim, model.nodes, model.population) == (1, 4, "discrete")
    assert model.patience == 4
    assert markets.columns.keys == ["town", "good"]
    assert markets.outside.tolist() == [70.0] * 5
    assert markets.cohorts == tuple(SIZES)
    assert not markets.available.all()
    assert given["validation"] == 0.4
    assert given["seeds"] == [7]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """The offers as a shop exports them, with who made them, costs, weeks and shares."""
    weeks = {"north": 9, "south": 10, "east": 11, "west": 9, "center": 10}
    table = offers_table().with_columns(
        maker=pl.when(pl.col("product") == "a").then(pl.lit("x")).otherwise(pl.lit("y")),
        cost=0.4 * pl.col("price"),
        week=pl.col("market").replace_strict(weeks),
        town=pl.col("market"),
        home=pl.col("market"),
        part=pl.col("count") / 500,
    )
    table.write_csv(tmp_path / "marked.csv")
    return tmp_path / "marked.csv"


BESIDE = [
    *("--instruments", "cost"), *("--absorb", "maker,product"), *("--firm", "maker"),
    *("--household", "home"), *("--period", "week"), *("--place", "town"),
]  # fmt: skip


def test_columns_beside_the_offers_reach_the_library(asked: list[Any], marked: Path):
    offers = ["--attributes", "quality,style", "--available", "available"]
    markets = markets_asked(asked, marked, *offers, *BESIDE, "--share", "part")
    columns = markets.columns
    assert (columns.count, columns.shares) == ("part", True)
    assert (columns.instruments, columns.absorb) == (("cost",), ("maker", "product"))
    assert (columns.firm, columns.household) == ("maker", "home")
    assert (columns.period, columns.place) == ("week", "town")
    assert markets.marks["week"].labels == (9, 10, 11), "periods are in order as numbers"
    assert markets.size.tolist() == [1.0] * 5
    everyone = markets_asked(asked, marked, *offers, "--outside", "none")
    assert not everyone.has_outside
    assert everyone.attribute_names == ("quality", "style")


def test_a_formula_says_what_options_say(asked: list[Any], marked: Path):
    rest = ["--available", "available", "--market-size", "visitors"]
    formula = "count ~ price | quality + C(maker) | cost"
    said = markets_asked(asked, marked, "--formula", formula, *rest)
    options = ["--attributes", "quality", "--absorb", "maker", "--instruments", "cost"]
    same = markets_asked(asked, marked, *options, *rest)
    assert said.columns == same.columns
    assert said.rows().equals(same.rows())


# Predicting


def test_predict_is_the_librarys_prediction(model: Path, fit: ChoiceFit, tmp_path: Path):
    output = tmp_path / "shares.csv"
    done("choice", "predict", model, "--output", output)
    theirs = fit.predict(kind="polars")
    assert_frame_equal(pl.read_csv(output, schema_overrides={"market": pl.String}), theirs)


def test_new_markets_need_no_counts(model: Path, sales: Path, tmp_path: Path):
    new = tmp_path / "new.csv"
    pl.read_csv(sales).drop("count", "visitors").filter(pl.col("market") < 3).write_csv(new)
    rows = json.loads(done("choice", "predict", model, new, "--json").stdout)["rows"]
    assert len(rows) == 2 * 4
    assert all(row["count"] == row["share"] for row in rows)
    sized = ["choice", "predict", model, new, "--market-size", 500, "--json"]
    counted = json.loads(done(*sized).stdout)["rows"]
    assert [row["count"] for row in counted] == pytest.approx([500 * r["share"] for r in rows])


def test_a_new_price_is_compared_with_the_old(model: Path, fit: ChoiceFit, tmp_path: Path):
    output = tmp_path / "changes.parquet"
    done("choice", "predict", model, "--set-price", "a=2.5", "--output", output)
    comparison = fit.compare(fit.markets.with_prices({"a": 2.5}))
    assert_frame_equal(pl.read_parquet(output), comparison.products("polars"), rel_tol=1e-12)
    both = ["--set-price", "a=2.5", "--set-price", "b=1", "--without", "c", "--json"]
    facts = json.loads(done("choice", "predict", model, *both).stdout)
    gone = [row for row in facts["rows"] if row["product"] == "c" and row["measure"] == "count"]
    assert gone
    assert all(row["changed"] == 0 for row in gone)
    assert {row["measure"] for row in facts["total"]} == {"sold", "revenue", "surplus"}


def test_a_price_far_out_is_warned_of_and_answered(model: Path):
    result = done("choice", "predict", model, "--set-price", "a=50", "--json")
    assert result.stderr.startswith("warning: price 50 of product a in market 1")
    assert json.loads(result.stdout)["rows"]


def test_cohorts_must_be_said_of_new_markets(tmp_path: Path):
    markets = make(sizes=SIZES)
    random_fit(markets).save(tmp_path / "m.dgd")
    offers_table().drop("visitors", "count").write_csv(tmp_path / "new.csv")
    pl.DataFrame({"cohort": list(SIZES), "size": [1, 1]}).write_csv(tmp_path / "sizes.csv")
    asked = ["choice", "predict", tmp_path / "m.dgd", tmp_path / "new.csv"]
    assert_refused(run(*asked), "new, old", "--sizes")
    rows = json.loads(done(*asked, "--sizes", tmp_path / "sizes.csv", "--json").stdout)["rows"]
    assert len(rows) == markets.listed.sum() + 5


def test_new_markets_need_only_what_the_fit_predicts_by(marked: Path, tmp_path: Path):
    table = pl.read_csv(marked)
    options = {
        "instruments": ["cost"],
        "absorb": ["product"],
        "firm": "maker",
        "household": "home",
        "period": "week",
        "place": "town",
    }
    fit = with_levels(random_fit(make(table, **options)))
    fit.save(tmp_path / "m.dgd")
    needed = ["market", "product", "price", "available", "quality", "style"]
    table.select(needed).write_csv(tmp_path / "new.csv")
    asked = ["choice", "predict", tmp_path / "m.dgd", tmp_path / "new.csv"]
    rows = json.loads(done(*asked, "--json").stdout)["rows"]
    assert [row["share"] for row in rows] == pytest.approx(fit.predict()["share"].to_list())
    table.select(needed).drop("style").write_csv(tmp_path / "new.csv")
    assert_refused(run(*asked), "style")
    random_maker = with_levels(random_fit(make(table, absorb=["maker"])))
    random_maker.save(tmp_path / "m.dgd")
    table.select(needed).write_csv(tmp_path / "new.csv")
    assert_refused(run(*asked), 'no column "maker"')


def test_new_markets_of_a_csv_have_the_numbers_of_the_fit(tmp_path: Path):
    number = pl.col("product").replace_strict({"a": 1, "b": 2, "c": 3, "d": 4})
    table = offers_table().with_columns(number)
    fit = with_levels(random_fit(make(table, absorb=["product"])))
    fit.save(tmp_path / "m.dgd")
    table.drop("count", "visitors").write_csv(tmp_path / "new.csv")
    asked = ["choice", "predict", tmp_path / "m.dgd", tmp_path / "new.csv"]
    rows = json.loads(done(*asked, "--json").stdout)["rows"]
    own = fit.predict()
    assert [row["product"] for row in rows] == own["product"].to_list()
    assert [row["share"] for row in rows] == pytest.approx(own["share"].to_list())
    assert "outside" in done(*asked).stdout
    diverted = done("choice", "elasticities", *asked[2:], "--diversion").stdout
    assert "outside" in diverted


def test_new_markets_have_an_outside_option_if_those_of_the_fit_had(tmp_path: Path):
    markets = make(outside=False, market_size=None, absorb=["product"])
    assert markets.attribute_names == ("quality", "style")
    fit = with_levels(random_fit(markets))
    fit.save(tmp_path / "m.dgd")
    offers_table().drop("count", "visitors").write_csv(tmp_path / "new.csv")
    asked = ["choice", "predict", tmp_path / "m.dgd", tmp_path / "new.csv"]
    rows = json.loads(done(*asked, "--json").stdout)["rows"]
    assert [row["product"] for row in rows] == offers_table()["product"].to_list()
    sized = json.loads(done(*asked, "--market-size", 100, "--json").stdout)["rows"]
    assert sum(row["count"] for row in sized) == pytest.approx(500)


# Elasticities


def test_elasticities_and_diversion_are_the_librarys(model: Path, fit: ChoiceFit, tmp_path: Path):
    for options, theirs in (([], fit.elasticities()), (["--diversion"], fit.diversion())):
        output = tmp_path / "out.csv"
        shown = done("choice", "elasticities", model, *options, "--output", output).stdout
        assert "over markets" in shown
        assert_frame_equal(pl.read_csv(output, schema_overrides={"market": pl.String}), theirs)
    rows = json.loads(done("choice", "elasticities", model, "--json").stdout)["rows"]
    assert len(rows) == 12 * 9


# Refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--attributes", "quality,charm"], ["charm"]),
        (["--validation", "1,99"], ["99", "12 markets"]),
        (["--validation", "1.5"], ["1.5"]),
        (["--set", "charm=3"], ["charm=3"]),
        (["--population", "round"], ["round"]),
        (["--seeds", "one"], ["one"]),
        (["--outside", "visitors"], ["outside", "--market-size"]),
        (["--outside", "none"], ["--market-size", "leave it out"]),
        (["--share", "part"], ['no column "part"']),
        (["--instruments", "cost"], ['no column "cost"']),
        (["--absorb", "maker"], ['no column "maker"']),
        (["--period", "week"], ['no column "week"']),
        (["--formula", "count ~ price"], ["--attributes was given beside a formula"]),
        (["--formula", "count price", "--attributes", ""], ['no "~"', "sales ~ price"]),
        (["--products", "q"], ["product q"]),
    ],
)
def test_a_bad_call_of_fit_is_refused_before_any_work(
    sales: Path, tmp_path: Path, no_training: None, options: list[str], words: list[str]
):
    output = tmp_path / "m.dgd"
    result = run("choice", "fit", sales, *COLUMNS, *EARLY, *options, "--output", output, "--json")
    assert_refused(result, *words)
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set-price", "a"], ["product=price"]),
        (["--set-price", "=3"], ["names no product"]),
        (["--set-price", "a=1", "--set-price", "a=2"], ["two prices"]),
        (["--set-price", "q=1"], ['"q"']),
        (["--without", "q"], ["product q", "a, b, c"]),
        (["--market-size", "10"], ["--market-size", "new table"]),
        (["--output", "shares.txt"], ["shares.txt"]),
    ],
)
def test_a_bad_call_of_predict_is_refused(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list, words: list[str]
):
    monkeypatch.chdir(tmp_path)
    assert_refused(run("choice", "predict", model, *options), *words)
    assert list(tmp_path.iterdir()) == []


def test_every_command_shows_an_example():
    for command in ("fit", "predict", "elasticities"):
        assert f"Example: dgd choice {command}" in done("choice", command, "--help").stdout
