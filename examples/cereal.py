"""Ready-to-eat cereal: dgd on the data every demand package is shown on.

    pip install 'differentiable-gaussian-dynamics[choice]'
    python examples/cereal.py

The data are Nevo's (2000), as PyBLP ships them: 24 brands in 94 city-quarters, shares and
prices. dgd learns from counts, so shares are multiplied by a market size that we choose.

Read the elasticities with care. Firms set these prices knowing things about demand that the
table does not hold, so that prices are endogenous. PyBLP answers with instruments; dgd has
none. A 0/1 attribute per brand takes up whatever is the same about a brand everywhere, which
is most of it; what changes from city to city stays in the price effect. Both ways, and
PyBLP's logit with instruments, are printed beside each other.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dgd.choice import ChoiceFit, ChoiceModel, Markets

MARKET_SIZE = 20_000


def cereal_table(data: Any) -> tuple[pl.DataFrame, list[str]]:
    """Counts, and a 0/1 column for every brand but the first, which the constant stands for."""
    table = pl.DataFrame(
        {name: data[name].to_numpy() for name in ("prices", "shares", "sugar", "mushy")}
        | {name: data[name].tolist() for name in ("market_ids", "product_ids")}
    )
    brands = table["product_ids"].unique(maintain_order=True).to_list()[1:]
    marks = {f"is {brand}": (pl.col("product_ids") == brand).cast(pl.Float64) for brand in brands}
    count = (pl.col("shares") * MARKET_SIZE).round()
    return table.with_columns(count=count, **marks), list(marks)


def fitted(table: pl.DataFrame, attributes: Sequence[str], epochs: int, seeds: int) -> ChoiceFit:
    markets = Markets.from_table(
        table,
        attributes=attributes,
        market="market_ids",
        product="product_ids",
        price="prices",
        market_size=MARKET_SIZE,
    )
    model = ChoiceModel(epochs=epochs, starts=1)
    return model.fit(markets, validation=0.25, seeds=range(1, seeds + 1))


def own_elasticities(fit: ChoiceFit) -> np.ndarray:
    rows = fit.elasticities(kind="polars").filter(pl.col("product_ids") == pl.col("price of"))
    return rows["elasticity"].to_numpy()


def pyblp_own_elasticities(data: Any) -> np.ndarray:
    """PyBLP's logit with brand effects and its instruments for price."""
    import pyblp

    pyblp.options.verbose = False
    formulation = pyblp.Formulation("0 + prices", absorb="C(product_ids)")
    results = pyblp.Problem(formulation, data).solve(method="1s")
    return np.asarray(results.extract_diagonals(results.compute_elasticities())).ravel()


def one_price_up(fit: ChoiceFit, brand: str) -> pl.DataFrame:
    """A tenth on one brand's price: who gains what, summed over all markets."""
    changed = fit.markets.with_scaled_prices({brand: 1.1})
    rows = fit.compare(changed).products("polars").filter(pl.col("measure") == "count")
    sold = rows.group_by("product_ids", maintain_order=True).agg(
        pl.col("base", "changed", "difference").sum()
    )
    largest = pl.col("difference").abs()
    return sold.sort(largest, descending=True).head(8)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brand", default="F1B04", help="whose price to raise by a tenth")
    parser.add_argument("--epochs", type=int, default=180)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args(given)
    try:
        import pandas as pd
        import pyblp
    except ImportError as error:
        print(
            f"This example needs PyBLP, which brings the data, and pandas ({error}); install them "
            "with pip install 'differentiable-gaussian-dynamics[choice]'."
        )
        return
    data = pd.read_csv(pyblp.data.NEVO_PRODUCTS_LOCATION)
    table, brands = cereal_table(data)
    fit = fitted(table, brands, arguments.epochs, arguments.seeds)
    plain = fitted(table, ["sugar", "mushy"], arguments.epochs, arguments.seeds)
    print(fit)
    found = {
        "dgd, an attribute per brand": own_elasticities(fit),
        "dgd, sugar and mushiness only": own_elasticities(plain),
        "PyBLP, logit with brand effects and instruments": pyblp_own_elasticities(data),
    }
    style: dict[str, Any] = {"tbl_hide_dataframe_shape": True, "tbl_hide_column_data_types": True}
    with pl.Config(float_precision=2, fmt_str_lengths=60, tbl_width_chars=110, **style):
        print("\nOwn-price elasticities over 94 markets and 24 brands:")
        facts = [(name, own.mean(), own.min(), own.max()) for name, own in found.items()]
        print(pl.DataFrame(facts, ["model", "mean", "lowest", "highest"], orient="row"))
        print(
            "\nWithout instruments, whatever makes a cereal both dear and wanted looks like people "
            "not\nminding its price: elasticities lean to zero, most where brands are left out."
        )
        print(f"\nThe price of {arguments.brand} a tenth higher everywhere, expected counts:")
        print(one_price_up(fit, arguments.brand))


if __name__ == "__main__":
    main()
