"""What each cleaning rule removed and kept."""

import polars as pl


class Tally:
    """Rows, and distinct values of one key column, that each rule removed and kept.

    Args:
        key: The key column, like "Invoice".
        noun: What its values are called, like "invoices".
    """

    def __init__(self, key: str, noun: str) -> None:
        self._key = key
        self._noun = noun
        self._kept: list[tuple[str, int, int]] = []

    def keep(self, rule: str, table: pl.DataFrame) -> pl.DataFrame:
        """Write down what is left after `rule`, and hand the table on."""
        self._kept.append((rule, table.height, table[self._key].n_unique()))
        return table

    def report(self) -> pl.DataFrame:
        """One row per rule, in the order they were applied."""
        rows, keys = "rows_kept", f"{self._noun}_kept"
        table = pl.DataFrame(self._kept, schema=["rule", rows, keys], orient="row")
        return table.select(
            "rule",
            _lost(rows).alias("rows_removed"),
            rows,
            _lost(keys).alias(f"{self._noun}_removed"),
            keys,
        )


def _lost(kept: str) -> pl.Expr:
    return pl.col(kept).shift(1).fill_null(pl.col(kept)) - pl.col(kept)
