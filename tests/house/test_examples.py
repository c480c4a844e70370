"""The examples run as written and come to the conclusions they print."""

import sys
from pathlib import Path

import polars as pl
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _examples_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.mark.slow
def test_a_price_is_recommended(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    import pricing

    options = ["--markets", "45", "--seeds", "1", "--output", str(tmp_path)]
    price = pricing.main(options)
    assert 1.0 < price < 4.0
    shown = capsys.readouterr().out
    assert f"Recommended price of b: {price:.2f}" in shown
    assert "the best price is" in shown
    endings = {file.name for file in tmp_path.iterdir()}
    kinds = ("html", "png", "svg")
    charts = {f"{name}.{kind}" for name in ("people", "demand", "profit") for kind in kinds}
    assert endings == {"model.dgd", *charts}


@pytest.mark.slow
def test_a_users_table_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """All that the example does, but for the drawing."""
    import pricing

    charts: list[str] = []
    monkeypatch.setattr(pricing, "save_charts", lambda made, _: charts.extend(made))
    markets = pricing.simulate_markets(pricing.town_world(), 30, seed=1).markets
    table = markets.rows().drop("available").with_columns(visitors=pl.lit(4000))
    table.write_csv(tmp_path / "sales.csv")
    options = ["--table", str(tmp_path / "sales.csv"), "--market-size", "visitors"]
    quick = ["--seeds", "1", "--product", "c", "--output", str(tmp_path / "out")]
    pricing.main([*options, *quick])
    shown = capsys.readouterr().out
    assert "Recommended price of c" in shown
    assert charts == ["people", "demand", "profit"]
    assert "simulated" not in shown


def test_the_best_price_is_the_one_of_the_estimates_profit():
    import pricing

    profits = pl.DataFrame(
        {"draw": [0, 0, 1, 1], "price": [1.0, 2.0, 1.0, 2.0], "profit": [5.0, 4.0, 1.0, 3.0]}
    )
    assert pricing.recommend(profits) == (1.0, (1.0, 2.0))


def test_cereal_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    import cereal

    monkeypatch.setitem(sys.modules, "pyblp", None)
    cereal.main([])
    assert "needs PyBLP" in capsys.readouterr().out


def test_cereal_finds_demand_that_falls_with_price(capsys: pytest.CaptureFixture[str]):
    """And what dgd finds by inverted shares is what PyBLP finds."""
    pytest.importorskip("pyblp", reason="PyBLP is not installed")
    import cereal

    table = cereal.main([])
    assert table is not None
    effects = dict(zip(table["model"], table["price effect"], strict=True))
    assert max(effects.values()) < 0
    ours, theirs = (effects[f"{name}, brands and inverted shares"] for name in ("dgd", "PyBLP"))
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert "F1B04 a tenth higher" in capsys.readouterr().out
