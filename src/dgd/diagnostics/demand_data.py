"""Can markets tell what demand is asked for? Their columns, prices and own elasticities."""

import numpy as np
import polars as pl

from dgd.choice.extrapolation import FAR
from dgd.choice.fit import ChoiceFit
from dgd.choice.identification import (
    ODD,
    odd_price_words,
    odd_prices,
    unlearnable_columns,
    unlearnable_words,
)
from dgd.choice.markets import Markets
from dgd.choice.product_labels import label_column
from dgd.diagnostics.demand_nodes import OwnSubstitution
from dgd.diagnostics.examined import Care, Examined, HeldAgainst

COLUMNS, ELASTICITIES, PRICES = (
    "Columns that follow from others",
    "Own elasticities",
    "Prices that were seen",
)
PRODUCT = "product"
ELASTIC = -1.0
"""Above this own elasticity a higher price earns more."""
INELASTIC_SALES = 0.1
"""The part of sales that may answer so little to their price."""


def examined_columns(fit: ChoiceFit) -> Examined:
    """Which columns, the price among them, others explain: their effects are not determined."""
    markets = _trained_on(fit)
    names = unlearnable_columns(markets)
    known = [*markets.attribute_names, markets.columns.price]
    table = pl.DataFrame({"column": known, "follows": [name in names for name in known]})
    care = []
    if names:
        what, _, advice = unlearnable_words(names).rpartition(": ")
        care.append(Care("columns follow from others", what, float(len(names)), advice))
    held = HeldAgainst("columns that follow from others", float(len(names)), 0.0, not names)
    return Examined(COLUMNS, table, (held,), tuple(care))


def examined_prices(fit: ChoiceFit) -> Examined:
    """Prices that may be wrong, and prices beyond those that were trained on."""
    markets = _trained_on(fit)
    odd = odd_prices(markets)
    care = []
    if len(odd):
        what, _, advice = odd_price_words(markets, odd).rpartition(": ")
        care.append(Care("odd prices", what, float(len(odd)), advice))
    held = [
        HeldAgainst("prices far from their product's others", float(len(odd)), 0.0, not len(odd))
    ]
    beyond = _beyond(fit)
    if len(markets.markets) < len(fit.markets.markets):
        far = "prices beyond those trained on, in widths of their range"
        held.append(HeldAgainst(far, beyond, FAR, beyond <= FAR))
    if beyond > FAR:
        low, high = fit.price_range
        where = f"prices from {low:g} to {high:g} were trained on"
        advice = "what is said about prices beyond them is extrapolated"
        care.append(Care("prices far outside", where, beyond, advice))
    return Examined(PRICES, _price_table(markets, odd), tuple(held), tuple(care))


def examined_elasticities(fit: ChoiceFit, found: OwnSubstitution) -> Examined:
    """How much of what is sold answers to its own price by less than one per cent per cent."""
    markets = fit.markets
    at = markets.available & np.isfinite(found.elasticity) & (markets.price > 0)
    product, elasticity = markets.product[at], found.elasticity[at]
    sold = (markets.size[:, None] * found.share)[at]
    rows = pl.DataFrame(
        [
            label_column(PRODUCT, markets.products, product),
            pl.Series("elasticity", elasticity),
            pl.Series("sold", sold),
        ]
    )
    inelastic, weight = pl.col("elasticity") > ELASTIC, pl.col("sold")
    table = rows.group_by(PRODUCT, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("offers"),
        ((pl.col("elasticity") * weight).sum() / weight.sum()).alias("mean elasticity"),
        pl.col("elasticity").min().alias("most elastic"),
        pl.col("elasticity").max().alias("least elastic"),
        inelastic.sum().cast(pl.Int64).alias("inelastic offers"),
        (weight.filter(inelastic).sum() / weight.sum()).alias("inelastic part of sales"),
    )
    few = elasticity > ELASTIC
    part = float(sold[few].sum() / sold.sum()) if sold.sum() > 0 else 0.0
    bounded = part <= INELASTIC_SALES
    held = HeldAgainst("part of sales whose demand is inelastic", part, INELASTIC_SALES, bounded)
    care = []
    if few.any():
        where = (
            f"own elasticity above {ELASTIC:g} in {few.sum():,} of {len(few):,} offers, which make "
            f"{100 * part:.0f} % of sales"
        )
        advice = (
            "there a higher price earns more, and no firm that sets its best price stays: see "
            "whether the price effect is understated, or whether prices are set by others"
        )
        care.append(Care("inelastic demand", where, part, advice))
    return Examined(ELASTICITIES, table, (held,), tuple(care))


def _trained_on(fit: ChoiceFit) -> Markets:
    return fit.markets.select(fit.training)


def _beyond(fit: ChoiceFit) -> float:
    """How far the prices of the fit's markets leave those trained on, in widths of their range."""
    low, high = fit.price_range
    least, most = fit.markets.price_range
    return max(low - least, most - high, 0.0) / (high - low) if high > low else 0.0


def _price_table(markets: Markets, odd: np.ndarray) -> pl.DataFrame:
    """One row per product: its prices, how far the farthest is from the usual one, and how many
    are odd."""
    at = markets.available
    strange = np.zeros(at.shape, bool)
    strange[tuple(odd.T)] = True
    product = label_column(PRODUCT, markets.products, markets.product[at])
    rows = pl.DataFrame(
        [product, pl.Series("price", markets.price[at]), pl.Series("odd", strange[at])]
    )
    price = pl.col("price")
    farthest = pl.max_horizontal(
        pl.col("highest") / pl.col("median"), pl.col("median") / pl.col("lowest")
    )
    positive = (pl.col("lowest") > 0) & (pl.col("median") > 0)
    return (
        rows.group_by(PRODUCT, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("offers"),
            price.min().alias("lowest"),
            price.median().alias("median"),
            price.max().alias("highest"),
            pl.col("odd").sum().cast(pl.Int64).alias(f"over {ODD:g} times off"),
        )
        .with_columns(pl.when(positive).then(farthest).alias("farthest, times the median"))
    )
