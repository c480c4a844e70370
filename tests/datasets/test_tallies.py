"""What cleaning rules remove adds up."""

import polars as pl

from dgd.datasets.tallies import Tally


def test_a_tally_accounts_for_every_row():
    tally = Tally("user", "users")
    rows = tally.keep("rows read", pl.DataFrame({"user": [1, 1, 2, 3]}))
    tally.keep("second rule", rows.filter(pl.col("user") != 1))
    assert tally.report().rows() == [("rows read", 0, 4, 0, 3), ("second rule", 2, 2, 1, 2)]
