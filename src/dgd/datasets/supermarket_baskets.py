"""A sample of supermarket baskets of 2017 (completejourney, CC0), as daily counts.

Every basket line is one arrival; its marks say whether it was discounted, of a private brand,
more than one piece, or bought with a coupon. Effort is one plus the share of a cohort's
households that a running campaign reaches; campaigns were not randomised.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.marked_events import dataset_of_events, find_table, grouped, read_columns
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import JOURNEY_WINDOWS, Window, window_named

FOLDER = "arena/complete_journey"
PAGE = "https://bradleyboehmke.github.io/completejourney"
LINES = (
    "household_id", "product_id", "quantity", "retail_disc", "coupon_disc", "coupon_match_disc",
    "transaction_timestamp",
)  # fmt: skip
MARKS = ("discounted", "private", "several", "coupon")
DEPARTMENTS = ("GROCERY", "DRUG GM", "PRODUCE", "MEAT-PCKGD", "MEAT")
AGES = {
    "under 35": ("19-24", "25-34"),
    "35-54": ("35-44", "45-54"),
    "55+": ("55-64", "65+"),
}
HOUSEHOLDS = 2469
"""Households in the study; a sample of their baskets need not show them all."""
UNKNOWN, OTHER = "unknown", "other"


def complete_journey(path: str | Path | None = None, window: str | Window = "2017") -> Dataset:
    """Six departments, four ages of households, four marks, with sizes and effort.

    Args:
        path: A folder with the Parquet files of the study; without it the folder
            DGD_DATA names.
        window: "2017", or a `Window` of your own dates.
    """
    if not isinstance(window, Window):
        window = window_named(window, JOURNEY_WINDOWS)
    tally = Tally("household_id", "households")
    lines = tally.keep("rows read", _read(path, "transactions_sample", LINES))
    ages = _read(path, "demographics", ["household_id", "age"])
    products = _read(path, "products", ["product_id", "department", "brand"])
    reached = _read(path, "campaigns", ["campaign_id", "household_id"])
    running = _read(path, "campaign_descriptions", ["campaign_id", "start_date", "end_date"])
    households = _households(lines, ages, reached)
    coupon = (pl.col("coupon_disc") > 0) | (pl.col("coupon_match_disc") > 0)
    events = (
        lines.join(households, on="household_id", how="left", maintain_order="left")
        .join(products, on="product_id", how="left", maintain_order="left")
        .select(
            pl.col("transaction_timestamp").dt.date().alias("date"),
            grouped("department", {name: [name] for name in DEPARTMENTS}, OTHER).alias("unit"),
            "household_id",
            "cohort",
            (pl.col("retail_disc") > 0).alias("discounted"),
            (pl.col("brand") == "Private").fill_null(False).alias("private"),
            (pl.col("quantity") > 1).alias("several"),
            coupon.alias("coupon"),
        )
    )
    sizes = _sizes(households)
    return dataset_of_events(
        events,
        window,
        tally,
        MARKS,
        units=[*DEPARTMENTS, OTHER],
        cohorts=[*AGES, UNKNOWN],
        sizes=sizes,
        effort=_effort(households, reached.join(running, on="campaign_id"), sizes, window),
        country="US",
    )


def _read(path: str | Path | None, name: str, columns: Sequence[str]) -> pl.DataFrame:
    return read_columns(find_table(path, f"{name}.parquet", FOLDER, PAGE), columns)


def _households(lines: pl.DataFrame, ages: pl.DataFrame, reached: pl.DataFrame) -> pl.DataFrame:
    """Every household that the study knows, and its cohort."""
    known = pl.concat([table.select("household_id") for table in (lines, ages, reached)]).unique()
    with_age = known.join(ages, on="household_id", how="left")
    return with_age.select("household_id", grouped("age", AGES, UNKNOWN).alias("cohort"))


def _sizes(households: pl.DataFrame) -> pl.DataFrame:
    """Households per cohort; those that no table names are of unknown age."""
    known = households.group_by("cohort").agg(pl.len().cast(pl.Float64).alias("size"))
    unseen = max(0, HOUSEHOLDS - households.height)
    unknown = pl.col("cohort") == UNKNOWN
    return known.with_columns(pl.when(unknown).then(pl.col("size") + unseen).otherwise("size"))


def _effort(
    households: pl.DataFrame, reached: pl.DataFrame, sizes: pl.DataFrame, window: Window
) -> pl.DataFrame:
    """1 + the share of a cohort's households in a running campaign, for every day and cohort."""
    days = pl.date_range(window.warmup_start, window.test_end, timedelta(days=1), eager=True).alias(
        "date"
    )
    contacts = reached.join(households, on="household_id")
    each = days.to_frame().join(sizes, how="cross")
    inside = (
        days.to_frame()
        .join(contacts, how="cross")
        .filter(pl.col("date").is_between("start_date", "end_date"))
        .group_by("date", "cohort")
        .agg(pl.col("household_id").n_unique().alias("reached"))
    )
    return each.join(inside, on=["date", "cohort"], how="left").select(
        "date", "cohort", (1 + pl.col("reached").fill_null(0) / pl.col("size")).alias("effort")
    )
