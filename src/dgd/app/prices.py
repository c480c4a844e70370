"""Prices of a choice fit: shares as they are, and what other prices would sell and earn."""

from urllib.parse import quote

import numpy as np
import polars as pl

from dgd.app.controls import boxes, form, slider
from dgd.app.desk import Desk, Page, cards, sentences
from dgd.app.fields import Fields
from dgd.app.library import OpenModel
from dgd.app.models import beside
from dgd.choice.fit import ChoiceFit
from dgd.choice.markets import Markets
from dgd.choice.product_labels import outside_named
from dgd.errors import InputError
from dgd.report.charts.demand_curves import demand_curve_chart, demand_curve_table
from dgd.report.charts.price_sensitivity import sensitivity_chart, sensitivity_table
from dgd.report.page.words import counted
from dgd.tables.labels import Label

ENDS, STEP, AS_IT_IS = (50.0, 150.0), 1.0, 100.0
MOST_SLIDERS, MOST_CURVES = 12, 3
MEASURES = {"sold": "sold", "revenue": "revenue", "surplus": "worth to buyers"}


def prices_page(desk: Desk, known: str) -> Page:
    """Sliders and what they do, demand curves, and how shares answer to prices."""
    model = desk.library.models.get(known)
    fit = choice_fit_of(model)
    products = _sold_most(fit.markets)
    sliders = slider("All products", "price.all", AS_IT_IS, ENDS, STEP, " %") + "".join(
        slider(str(fit.markets.products[at]), f"price.{at}", AS_IT_IS, ENDS, STEP, " %")
        for at in products
    )
    shown = [(at, fit.markets.products[at], n < MOST_CURVES) for n, at in enumerate(products)]
    body = (
        '<div class="sides"><aside>'
        + form(f"prices?id={quote(known)}", "answer", sliders, "Show", live="yes", at_once="yes")
        + '</aside><div id="answer" class="answer"></div></div>'
        + '<section class="card"><h2>Demand curves</h2>'
        + form(f"curves?id={quote(known)}", "curves", boxes("Products", "products", shown), "Draw",
               live="yes", at_once="yes")
        + '<div id="curves" class="answer"></div></section>'
        + _as_it_is(desk, fit)
    )  # fmt: skip
    lead = "What other prices would sell and earn; 100 % is the price as it is."
    return beside(model, known, "prices", "Prices", body, lead)


def answer_prices(desk: Desk, known: str, fields: Fields) -> str:
    """Demand, revenue and surplus before and after."""
    fit = choice_fit_of(desk.library.models.get(known))
    found = fit.compare(_changed(fit.markets, fields), fit.markets)
    total: pl.DataFrame = found.total("polars")
    product = fit.markets.columns.product
    every = outside_named(found.products("polars"), product)
    figures = [
        (
            MEASURES[row["measure"]],
            f"{_share(row['base'], row['changed'])}",
            f"{counted(row['changed'])}, now {counted(row['base'])}",
        )
        for row in total.iter_rows(named=True)
    ]
    return (
        "<h2>All markets together</h2>"
        + cards(figures)
        + desk.shown("By product", _by_product(every, product))
        + desk.folded("Every market and product", every, "prices")
    )


def answer_curves(desk: Desk, known: str, fields: Fields) -> str:
    """What each price of a product sells and earns."""
    fit = choice_fit_of(desk.library.models.get(known))
    products = fields.some_of("products", "Products", fit.markets.products)
    if not products:
        raise InputError("Products are empty; tick at least one.")
    return desk.charted(
        "demand",
        demand_curve_chart(fit, products),
        "What is sold and earned as the price of one product moves and all others stay.",
        demand_curve_table(fit, products),
    )


def choice_fit_of(model: OpenModel) -> ChoiceFit:
    """The fit of demand, refused where the model is one of counts."""
    if not isinstance(model.fit, ChoiceFit):
        raise InputError("this is a model of counts, which knows no prices; open its forecast.")
    return model.fit


def _as_it_is(desk: Desk, fit: ChoiceFit) -> str:
    markets = fit.markets
    product = markets.columns.product
    elasticities: pl.DataFrame = fit.elasticities(kind="polars")
    means = elasticities.group_by(product, "price of", maintain_order=True).agg(
        pl.col("elasticity").mean()
    )
    shares = outside_named(fit.predict(kind="polars"), product)
    return (
        '<section class="card"><h2>As it is</h2>'
        + desk.folded("Shares and counts", shares, "shares")
        + desk.shown("Elasticities, mean over markets", means, "elasticities over markets")
        + desk.folded("Elasticities in every market", elasticities, "elasticities")
        + _people(desk, fit)
        + "</section>"
    )


def _people(desk: Desk, fit: ChoiceFit) -> str:
    if fit.alike:
        return sentences(["everyone minds prices alike here: there are no types to tell apart"])
    words = "How many people mind prices how much."
    return desk.charted("sensitivity", sensitivity_chart(fit), words, sensitivity_table(fit))


def _changed(markets: Markets, fields: Fields) -> Markets:
    """The markets with every price that has a slider moved."""
    everybody = fields.number("price.all", "All products") / 100
    factors: dict[Label, float] = {}
    for at, product in enumerate(markets.products):
        given = fields.text(f"price.{at}")
        own = fields.number(f"price.{at}", f"Price of {product}") / 100 if given else 1.0
        factors[product] = everybody * own
    return markets.with_scaled_prices(factors)


def _by_product(every: pl.DataFrame, product: str) -> pl.DataFrame:
    """Counts and revenues of all markets together."""
    sums = (
        every.filter(pl.col("measure").is_in(["count", "revenue"]))
        .group_by(product, "measure", maintain_order=True)
        .agg(pl.col("base", "changed", "difference").sum())
    )
    shown = [counted(value) for value in sums["difference"]]
    return sums.with_columns(
        *(pl.Series(one, [counted(value) for value in sums[one]]) for one in ("base", "changed")),
        pl.Series("difference", shown),
    )


def _sold_most(markets: Markets) -> list[int]:
    """The numbers of the products that sold most, in the order of the table."""
    sold = [
        float(markets.count[markets.product == at].sum()) for at in range(len(markets.products))
    ]
    return sorted(np.argsort(-np.array(sold), kind="stable")[:MOST_SLIDERS].tolist())


def _share(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before > 0 else f"{after - before:+,.1f}"
