"""Public choices to measure on: cereals and cars as PyBLP ships them, trains as Biogeme does.

    pip install 'differentiable-gaussian-dynamics[choice]'
    pip install --no-deps biogeme==3.3.2

Biogeme is never imported: of its package only the file of the Swissmetro survey is read.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from dgd.choice import Markets

CEREAL_INSTRUMENTS = [f"demand_instruments{index}" for index in range(20)]
CAR_ATTRIBUTES = ["hpwt", "air", "mpd", "space"]
ALTERNATIVES = ("TRAIN", "SM", "CAR")
"""Train, Swissmetro and car, in the order of the survey's column CHOICE."""
SWISSMETRO = Path("data", "data", "swissmetro.dat")


def cereals() -> pl.DataFrame:
    """24 brands in 94 city-quarters (Nevo 2000), a 0/1 column for each brand but the first."""
    import pyblp

    table = pl.read_csv(pyblp.data.NEVO_PRODUCTS_LOCATION)
    brands = table["product_ids"].unique(maintain_order=True).to_list()[1:]
    return table.with_columns(
        (pl.col("product_ids") == brand).cast(pl.Float64).alias(f"is {brand}") for brand in brands
    )


def cars() -> pl.DataFrame:
    """About 110 models in each of 20 years (Berry, Levinsohn and Pakes 1995)."""
    import pyblp

    return pl.read_csv(pyblp.data.BLP_PRODUCTS_LOCATION)


def share_markets(
    table: pl.DataFrame, product: str, attributes: Sequence[str], **options: Any
) -> Markets:
    """A table of PyBLP's, which has shares."""
    return Markets.from_table(
        table,
        attributes=attributes,
        market="market_ids",
        product=product,
        price="prices",
        share="shares",
        count=None,
        **options,
    )


def swissmetro_file() -> Path | None:
    """The survey inside the package biogeme, where that is installed."""
    found = find_spec("biogeme")
    places = [] if found is None else found.submodule_search_locations or []
    files = [Path(place) / SWISSMETRO for place in places]
    return next((file for file in files if file.exists()), None)


def swissmetro(file: Path) -> pl.DataFrame:
    """The usual sample of the survey (Bierlaire et al. 2001), a row per choice and alternative.

    Commuters and people on business; cost and time in hundreds, nothing to pay for who has a
    season ticket; train and car only where they stood in the questionnaire.
    """
    sample = pl.read_csv(file, separator="\t").filter(
        pl.col("PURPOSE").is_in([1, 3]), pl.col("CHOICE") != 0
    )
    sample = sample.with_row_index("choice")
    paid, asked = pl.col("GA") == 0, pl.col("SP") != 0
    parts = []
    for number, name in enumerate(ALTERNATIVES, 1):
        cost, there = pl.col(f"{name}_CO"), pl.col(f"{name}_AV") != 0
        parts.append(
            sample.select(
                "choice",
                "ID",
                product=pl.lit(name),
                cost=(cost if name == "CAR" else cost * paid) / 100,
                time=pl.col(f"{name}_TT") / 100,
                available=(there if name == "SM" else there & asked).cast(pl.Int64),
                chosen=(pl.col("CHOICE") == number).cast(pl.Int64),
            )
        )
    return pl.concat(parts).sort("choice", maintain_order=True)


def swissmetro_markets(table: pl.DataFrame, *, household: str | None = None) -> Markets:
    """Every choice a market of its own, which nobody leaves without a choice."""
    marks = [(pl.col("product") == name).cast(pl.Float64).alias(name) for name in ("TRAIN", "CAR")]
    return Markets.from_table(
        table.with_columns(marks),
        attributes=["time", "TRAIN", "CAR"],
        market="choice",
        price="cost",
        count="chosen",
        available="available",
        outside=False,
        household=household,
    )
