"""Ready-to-eat cereal: dgd on the data every demand package is shown on.

    pip install 'differentiable-gaussian-dynamics[choice]'
    python examples/cereal.py

The data are Nevo's (2000), as PyBLP ships them: shares and prices of 24 brands in 94 city-quarters.
Firms set these prices knowing things about demand that the table does not hold. Whoever compares
prices with sales alone finds buyers who hardly mind prices; there are three answers, each printed
beside PyBLP's:

- an effect of its own for every brand takes up whatever is the same about a brand everywhere;
- a control function: what instruments leave unexplained of a price stands beside the attributes;
- inverted shares: every share is explained exactly by a quality of its own, and the price effect is
  the one at which this quality has nothing to do with the instruments. PyBLP's logit does the same.

Everyone is alike in the table, so that the ways differ in what they do about prices only; with
--types people may differ, where held-out markets say they do. That takes minutes.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import polars as pl

from dgd.choice import ChoiceFit, ChoiceModel, Markets

INSTRUMENTS = [f"demand_instruments{index}" for index in range(20)]
LEVEL = 90
EVERY = 10
"""Elasticities are of each so many markets: a range takes the table of 200 parameter sets."""


def cereal_markets(data: Any, **options: Any) -> Markets:
    """Shares as they stand in the table; no market size is needed."""
    return Markets.from_table(
        data,
        market="market_ids",
        product="product_ids",
        price="prices",
        count=None,
        share="shares",
        **options,
    )


def fits(data: Any) -> dict[str, ChoiceFit]:
    """Everyone alike, in four ways to treat prices."""
    model = ChoiceModel(population="point")
    plain = cereal_markets(data, attributes=["sugar", "mushy"])
    brands = cereal_markets(data, attributes=[], absorb=["product_ids"])
    instruments = cereal_markets(
        data, attributes=[], absorb=["product_ids"], instruments=INSTRUMENTS
    )
    inverted = ChoiceModel(population="point", quality="inverted")
    return {
        "dgd, sugar and mushiness only": model.fit(plain),
        "dgd, an effect per brand": model.fit(brands),
        "dgd, brands and control function": model.fit(instruments),
        "dgd, brands and inverted shares": inverted.fit(instruments),
    }


def row(name: str, fit: ChoiceFit) -> dict[str, Any]:
    """Price effect with its standard error, and the mean own elasticity with its mean range."""
    effect = fit.coefficients(kind="polars").row(0, named=True)
    some = fit.markets.select(fit.markets.markets[::EVERY])
    own = fit.elasticities(some, kind="polars", level=LEVEL).filter(
        pl.col("product_ids") == pl.col("price of")
    )
    means = own.select(pl.col("elasticity", "low", "high").mean()).row(0, named=True)
    return {
        "model": name,
        "price effect": -effect["estimate"],
        "error": effect["standard error"],
        "own elasticity": means["elasticity"],
        "from": means["low"],
        "to": means["high"],
    }


def pyblp_row(data: Any) -> dict[str, Any]:
    """PyBLP's logit with brand effects and its instruments for price, clustered by market."""
    import pyblp

    pyblp.options.verbose = False
    formulation = pyblp.Formulation("0 + prices", absorb="C(product_ids)")
    clustered = data.assign(clustering_ids=data["market_ids"])
    results = pyblp.Problem(formulation, clustered).solve(
        method="2s", W_type="clustered", se_type="clustered"
    )
    some = data["market_ids"].isin(data["market_ids"].unique()[::EVERY])
    own = results.extract_diagonals(results.compute_elasticities())[some]
    return {
        "model": "PyBLP, brands and inverted shares",
        "price effect": float(results.beta.item()),
        "error": float(results.beta_se.item()),
        "own elasticity": float(own.mean()),
        "from": None,
        "to": None,
    }


def one_price_up(fit: ChoiceFit, brand: str) -> pl.DataFrame:
    """A tenth on one brand's price: who gains what, in percent of the average market."""
    changed = fit.markets.with_scaled_prices({brand: 1.1})
    rows = fit.compare(changed).products("polars").filter(pl.col("measure") == "share")
    sold = rows.group_by("product_ids", maintain_order=True).agg(
        pl.col("base", "changed", "difference").mean() * 100
    )
    largest = pl.col("difference").abs()
    return sold.sort(largest, descending=True).head(8)


def main(given: Sequence[str] | None = None) -> pl.DataFrame | None:
    """Print all of it; the table of price effects is returned."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brand", default="F1B04", help="whose price to raise by a tenth")
    parser.add_argument("--types", action="store_true", help="also where people may differ")
    arguments = parser.parse_args(given)
    try:
        import pandas as pd
        import pyblp
    except ImportError as error:
        print(
            f"This example needs PyBLP, which brings the data, and pandas ({error}); install them "
            "with pip install 'differentiable-gaussian-dynamics[choice]'."
        )
        return None
    data = pd.read_csv(pyblp.data.NEVO_PRODUCTS_LOCATION)
    found = fits(data)
    controlled = found["dgd, brands and control function"]
    if arguments.types:
        name = "dgd, control function, types if earned"
        found[name] = ChoiceModel(starts=1).fit(controlled.markets, seeds=[1])
        print(found[name])
    print(controlled)
    table = pl.DataFrame([*(row(name, fit) for name, fit in found.items()), pyblp_row(data)])
    style: dict[str, Any] = {"tbl_hide_dataframe_shape": True, "tbl_hide_column_data_types": True}
    with pl.Config(float_precision=2, fmt_str_lengths=60, tbl_width_chars=110, **style):
        print(f"\nPrice effects, and mean own elasticities with {LEVEL}% ranges:")
        print(table)
        print(
            "\nWhatever makes a cereal both dear and wanted looks like people not minding its "
            "price:\nelasticities lean to zero where nothing is done about it, most where brands "
            "are left out."
        )
        print(f"\nThe price of {arguments.brand} a tenth higher everywhere, shares in percent:")
        print(one_price_up(found["dgd, brands and inverted shares"], arguments.brand))
    return table


if __name__ == "__main__":
    main()
