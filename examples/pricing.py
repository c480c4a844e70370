"""What should this product cost? From market counts to a recommended price.

    python examples/pricing.py
    python examples/pricing.py --table sales.csv --attributes quality,style \
        --market-size visitors --product b --cost 0.9

Without a table, markets are simulated: three products compete in 60 towns for people of two
kinds, and prices were varied at random, as in an experiment. The decision is one product's
price; everyone else's stays where it is. The steps are those of a real decision: fit, look at
markets the fit has not seen, look at who the buyers are, then ask what each price would earn.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from dgd.choice import (
    ChoiceDemand,
    ChoiceFit,
    ChoiceModel,
    ChoiceWorld,
    Markets,
    gaussian_world,
    simulate_markets,
)
from dgd.report import demand_curve_chart, save_charts, sensitivity_chart

UNSEEN = 1 / 3
"""The last markets of the table are kept from the fit altogether."""
TODAY = 3.2
"""What the product costs today in the simulated towns."""
TRIED = 61
DRAWN = 30
"""Parameter sets that the range of the recommended price is taken from."""
TABLE_STYLE: dict[str, Any] = {
    "tbl_rows": 40,
    "tbl_cols": 12,
    "tbl_width_chars": 120,
    "tbl_hide_dataframe_shape": True,
    "tbl_hide_column_data_types": True,
    "float_precision": 3,
}


@dataclass(frozen=True)
class Decision:
    """One price to choose: of which product, at what cost, and what it is today."""

    product: str | int
    cost: float
    today: float
    prices: np.ndarray

    def base(self, markets: Markets) -> Markets:
        return markets.with_prices({self.product: self.today})

    def profits(self, fit: ChoiceFit, markets: Markets) -> pl.DataFrame:
        """One row per draw and price to try: what the product would sell and earn. Draw 0 is the
        estimate, the others are what the counts allow as well."""
        drawn = [fit.parameters[0], *(one.parameters for one in fit.draws(DRAWN))]
        curves = [
            self.profit(with_parameters(fit, parameters), markets).with_columns(draw=pl.lit(number))
            for number, parameters in enumerate(drawn)
        ]
        return pl.concat(curves)

    def profit(self, fit: ChoiceFit, markets: Markets) -> pl.DataFrame:
        """One row per price to try."""
        curve: pl.DataFrame = fit.demand_curve(self.product, self.prices, markets, "polars")
        profit = (pl.col("price") - self.cost) * pl.col("count")
        return curve.select("price", "count", profit.alias("profit"))


def with_parameters(fit: ChoiceFit, parameters: ChoiceDemand) -> ChoiceFit:
    return replace(fit, runs=(replace(fit.runs[0], parameters=parameters),))


def town_world() -> ChoiceWorld:
    """Many who watch the price, fewer who look for quality; prices from 1 to 4."""
    return gaussian_world(
        attribute_effect=(2.0, 0.8, 0.2),
        price_intercept=1.5,
        price_loading=(-0.7, 0.3),
        prices=(1.0, 4.0),
    )


def held_out_check(fit: ChoiceFit, unseen: Markets) -> pl.DataFrame:
    """How far predicted shares are from counted ones, and from the average share instead."""
    columns = unseen.columns
    size = pl.Series(columns.market, unseen.markets)
    sizes = pl.DataFrame([size, pl.Series("size", unseen.size)])
    predicted = fit.predict(unseen, "polars").rename({"share": "predicted"})
    counted = unseen.rows().join(sizes, on=columns.market)
    table = counted.join(predicted.select(*columns.keys, "predicted"), on=columns.keys)
    observed = pl.col(str(columns.count)) / pl.col("size")
    usual = observed.mean().over(columns.product)
    return table.group_by(columns.product, maintain_order=True).agg(
        observed.mean().alias("share counted"),
        pl.col("predicted").mean().alias("share predicted"),
        (pl.col("predicted") - observed).abs().mean().alias("error per market"),
        (usual - observed).abs().mean().alias("error of the average share"),
    )


def recommend(profits: pl.DataFrame) -> tuple[float, tuple[float, float]]:
    """The price with the highest profit by the estimate, and where nine tenths of the draws have
    theirs."""
    each = profits.sort("profit", descending=True).group_by("draw").first()
    best = each.filter(pl.col("draw") == 0).item(0, "price")
    low, high = (each["price"].quantile(part, "nearest") for part in (0.05, 0.95))
    return float(best), (float(low or best), float(high or best))


def comparison_table(
    fit: ChoiceFit, decision: Decision, price: float, markets: Markets
) -> pl.DataFrame:
    """Base against recommended: the product's share, sales, revenue and profit; everyone's
    sales, revenue and surplus."""
    base = decision.base(markets)
    comparison = fit.compare(markets.with_prices({decision.product: price}), base)
    columns = markets.columns
    opportunities = markets.size.sum()
    own = comparison.products("polars").filter(pl.col(columns.product) == decision.product)
    values = pl.col("base", "changed")
    sold = own.filter(pl.col("measure") == "count").select(values.sum())
    revenue = own.filter(pl.col("measure") == "revenue").select(values.sum())
    profit = revenue - decision.cost * sold
    named = {"share": sold / opportunities, "sold": sold, "revenue": revenue, "profit": profit}
    rows = [
        table.select(pl.lit(f"{decision.product}: {name}").alias("measure"), values)
        for name, table in named.items()
    ]
    every = comparison.total("polars").select(
        pl.concat_str(pl.lit("all: "), "measure").alias("measure"), values
    )
    return (
        pl.concat([*rows, every])
        .with_columns(difference=pl.col("changed") - pl.col("base"))
        .rename({"base": f"at {decision.today:g}", "changed": f"at {price:g}"})
    )


def profit_chart(profits: pl.DataFrame, decision: Decision, price: float) -> alt.TopLevelMixin:
    """Profit over price, a line per draw, the estimate's dark; today's and the recommended price
    marked."""
    lines = (
        alt.Chart(profits)
        .mark_line(strokeWidth=1.5, color="#4c78a8")
        .encode(
            x=alt.X("price:Q", title=f"price of {decision.product}", scale=alt.Scale(zero=False)),
            y=alt.Y("profit:Q", title="profit"),
            detail="draw:N",
            opacity=alt.condition("datum.draw == 0", alt.value(1.0), alt.value(0.15)),
        )
    )
    marked = pl.DataFrame({"price": [decision.today, price], "which": ["today", "recommended"]})
    rules = (
        alt.Chart(marked)
        .mark_rule(strokeWidth=1.5, color="#555555")
        .encode(x="price:Q", strokeDash=alt.StrokeDash("which:N", title=None))
    )
    title = alt.Title(f"What each price of {decision.product} would earn", anchor="start")
    return alt.layer(lines, rules).properties(width=560, height=220, title=title)


def read_markets(arguments: argparse.Namespace) -> tuple[Markets, ChoiceWorld | None]:
    """The user's table, or simulated towns with the truth behind them."""
    if arguments.table is None:
        world = town_world()
        return simulate_markets(world, arguments.markets, seed=7).markets, world
    table = pl.read_csv(arguments.table)
    attributes = [name for name in arguments.attributes.split(",") if name]
    size = arguments.market_size
    return Markets.from_table(
        table, attributes=attributes, market_size=float(size) if size.isdigit() else size
    ), None


def chosen_arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, help="CSV with market, product, price, count")
    parser.add_argument("--attributes", default="quality,style")
    parser.add_argument("--market-size", default="market_size", help="column or number")
    parser.add_argument("--product", default="b")
    parser.add_argument("--cost", type=float, default=0.9, help="of making one more")
    parser.add_argument("--today", type=float, help="price today; else the mean price offered")
    parser.add_argument("--output", type=Path, default=Path("pricing-output"))
    parser.add_argument("--markets", type=int, default=60, help="towns to simulate")
    parser.add_argument("--seeds", type=int, default=3)
    return parser.parse_args(given)


def decision_about(arguments: argparse.Namespace, known: Markets, simulated: bool) -> Decision:
    """Prices to try lie between those the product was offered at: there is evidence on them."""
    labels = {str(label): label for label in known.products}
    if arguments.product not in labels:
        raise SystemExit(f"product {arguments.product} is not among {', '.join(labels)}.")
    label = labels[arguments.product]
    rows = known.rows().filter(pl.col(known.columns.product) == label, pl.col("available"))
    offered = rows[known.columns.price].to_numpy()
    today = arguments.today or (TODAY if simulated else float(offered.mean()))
    low = max(arguments.cost, float(offered.min()))
    prices = np.round(np.linspace(low, float(offered.max()), TRIED), 2)
    return Decision(label, arguments.cost, today, prices)


def tell_what_was_learned(fit: ChoiceFit, unseen: Markets) -> None:
    print("\n2. Does it predict markets it has not seen?")
    print(held_out_check(fit, unseen))
    print("\n3. Who buys?", *fit.sentences()[:3], sep="\n   ")
    print(fit.coefficients(kind="polars"))
    print("\n4. How do sales answer to prices? Mean elasticities in the unseen markets.")
    table = fit.elasticities(unseen, "polars")
    index = unseen.columns.product
    print(table.pivot("price of", index=index, values="elasticity", aggregate_function="mean"))


def tell_the_recommendation(
    decision: Decision, profits: pl.DataFrame, price: float, own: tuple[float, float]
) -> None:
    first, last = decision.prices[0], decision.prices[-1]
    print(
        f"\n5. Recommended price of {decision.product}: {price:.2f} (90% range: {own[0]:.2f} "
        f"to {own[1]:.2f}),\n   tried from {first:.2f} to {last:.2f} at a cost of "
        f"{decision.cost:.2f}; today it is {decision.today:.2f}."
    )
    if price in (first, last):
        print("   It is the last price there is evidence on; profit may rise beyond: test it.")
    profit, distance = pl.col("profit"), (pl.col("price") - decision.today).abs()
    gains = profits.filter(pl.col("draw") == 0).select(
        profit.get(distance.arg_min()).alias("profit near today's"),
        profit.filter(pl.col("price") == price).first().alias("at the recommended"),
    )
    print(gains.with_columns(gain=pl.col("at the recommended") - pl.col("profit near today's")))


def main(given: Sequence[str] | None = None) -> float:
    """Walk through the decision and return the recommended price."""
    arguments = chosen_arguments(given)
    arguments.output.mkdir(parents=True, exist_ok=True)
    markets, world = read_markets(arguments)
    first_unseen = round(len(markets.markets) * (1 - UNSEEN))
    known = markets.select(markets.markets[:first_unseen])
    unseen = markets.select(markets.markets[first_unseen:])
    decision = decision_about(arguments, known, simulated=world is not None)
    with pl.Config(**TABLE_STYLE):
        print(f"1. {markets}; the last {len(unseen.markets)} markets are kept from the fit.")
        seeds = range(1, arguments.seeds + 1)
        fit = ChoiceModel(starts=1).fit(known, validation=0.25, seeds=seeds)
        fit.save(arguments.output / "model.dgd")
        tell_what_was_learned(fit, unseen)
        profits = decision.profits(fit, unseen)
        price, own = recommend(profits)
        tell_the_recommendation(decision, profits, price, own)
        if world is not None:
            truth = decision.profit(with_parameters(fit, world.model), unseen)
            true_price = truth.sort("profit", descending=True).item(0, "price")
            print(f"   In the world that was simulated the best price is {true_price:.2f}.")
        print("\n6. What it would change in the unseen markets:")
        print(comparison_table(fit, decision, price, unseen))
    charts: dict[str, alt.TopLevelMixin] = {
        "people": sensitivity_chart(fit),
        "demand": demand_curve_chart(fit, [decision.product], markets=unseen),
        "profit": profit_chart(profits, decision, price),
    }
    save_charts(charts, arguments.output)
    print(f"\nCharts and the model are in {arguments.output}.")
    return price


if __name__ == "__main__":
    main()
