"""How the shell reads a table of offers: which columns are what, by options or by a formula."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from dgd.cli.values import names
from dgd.tables.files import read_optional, read_table

if TYPE_CHECKING:
    from dgd.choice.markets import Markets

NO_OUTSIDE = "none"
"""What --outside says where everyone chose one of the products."""
WHOLE = r"^\s*[+-]?\d+\s*$"
SAID_BY_FORMULA = ("price", "count", "share", "attributes", "instruments", "absorb")
LISTS = ("attributes", "instruments", "absorb")


@dataclass(frozen=True)
class MarketOptions:
    """A table of offers, and how to read it."""

    table: Annotated[Path, typer.Argument(help="One row per market and product.")]
    formula: Annotated[
        str | None,
        typer.Option(
            help='Sales, price, attributes and instruments: "sales ~ price | sugar + mushy".'
        ),
    ] = None
    attributes: Annotated[str, typer.Option(help="Attribute columns, separated by commas.")] = ""
    market: Annotated[str, typer.Option(help="Market column.")] = "market"
    product: Annotated[str, typer.Option(help="Product column.")] = "product"
    price: Annotated[str, typer.Option(help="Price column.")] = "price"
    count: Annotated[str, typer.Option(help="Column of how many bought, or how much.")] = "count"
    share: Annotated[
        str | None, typer.Option(help="Column of market shares, instead of counts.")
    ] = None
    outside: Annotated[
        str | None,
        typer.Option(
            help="How many bought nothing: a column or a number; none where everyone chose a "
            "product."
        ),
    ] = None
    market_size: Annotated[
        str | None, typer.Option(help="How many could have bought: a column or a number.")
    ] = None
    available: Annotated[str | None, typer.Option(help="0/1 column of availability.")] = None
    instruments: Annotated[
        str, typer.Option(help="Columns that move prices and nothing else, by commas.")
    ] = ""
    absorb: Annotated[
        str, typer.Option(help="Columns of labels with effects of their own, by commas.")
    ] = ""
    firm: Annotated[str | None, typer.Option(help="Column of who sets the price.")] = None
    household: Annotated[
        str | None, typer.Option(help="Column of who chose, where choices are repeated.")
    ] = None
    period: Annotated[str | None, typer.Option(help="Column of when the market was.")] = None
    place: Annotated[str | None, typer.Option(help="Column of where it was.")] = None
    sizes: Annotated[Path | None, typer.Option(help="Cohorts' reference sizes.")] = None
    cohort: Annotated[str, typer.Option(help="Cohort column of the sizes.")] = "cohort"

    @property
    def files(self) -> list[Path | None]:
        """The files that are read, which no result may replace."""
        return [self.table, self.sizes]

    def read(self) -> "Markets":
        """The markets that the files make."""
        from dgd.choice.markets import Markets

        # periods follow each other as numbers do: as texts, 10 comes before 9
        table = with_whole_labels(read_table(self.table), [self.period])
        beside: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("market", "product", "available", "cohort", "firm", "household", "period")
        }
        beside |= {
            "place": self.place,
            "outside": nobody_or_number(self.outside),
            "market_size": column_or_number(self.market_size),
            "sizes": read_optional(self.sizes),
        }
        if self.formula is not None:
            return Markets.from_formula(self.formula, table, **beside, **self._said())
        columns = {name: self._value(name) for name in SAID_BY_FORMULA}
        return Markets.from_table(table, **beside, **columns)

    def _said(self) -> dict[str, Any]:
        """What was said by an option that a formula can say too."""
        usual = {field.name: field.default for field in fields(self)}
        return {
            name: self._value(name)
            for name in SAID_BY_FORMULA
            if getattr(self, name) != usual[name]
        }

    def _value(self, name: str) -> Any:
        given = getattr(self, name)
        return names(given) if name in LISTS else given


def with_whole_labels(table: pl.DataFrame, columns: Iterable[str | None]) -> pl.DataFrame:
    """`table` with whole numbers for labels in `columns`, where a CSV file has texts of them."""
    whole = [
        name
        for name in dict.fromkeys(columns)
        if name is not None
        and table.schema.get(name) == pl.String
        and table[name].str.contains(WHOLE).all()
    ]
    return table.with_columns(pl.col(whole).str.strip_chars().cast(pl.Int64))


def column_or_number(text: str | None) -> str | float | None:
    """A number for all markets, or the name of a column."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def nobody_or_number(text: str | None) -> str | float | bool | None:
    """The same of those who bought nothing; False where nobody could."""
    return False if text == NO_OUTSIDE else column_or_number(text)
