"""What the `dgd choice` commands read from the command line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from dgd.cli.choice_markets import column_or_number, with_whole_labels
from dgd.cli.options import ChartFolder
from dgd.cli.values import names
from dgd.errors import InputError, few
from dgd.files.atomic import ready_folder
from dgd.tables.files import read_optional, read_table
from dgd.tables.labels import Label

if TYPE_CHECKING:
    from altair import TopLevelMixin

    from dgd.choice.fit import ChoiceFit
    from dgd.choice.markets import Markets


@dataclass(frozen=True)
class QuestionOptions:
    """A fitted model, and the markets it is asked about."""

    model: Annotated[Path, typer.Argument(help="Model file written by dgd choice fit.")]
    table: Annotated[
        Path | None,
        typer.Argument(help="New markets with the columns of the fit; counts are not needed."),
    ] = None
    market_size: Annotated[str | None, typer.Option(help="Opportunities in the new markets.")] = (
        None
    )
    sizes: Annotated[
        Path | None, typer.Option(help="Cohorts' reference sizes in the new markets.")
    ] = None

    def read(self) -> "tuple[ChoiceFit, Markets]":
        """The fit, and the markets of the new table, or the fit's own."""
        from dgd.choice.fit import ChoiceFit
        from dgd.storage import load_kind

        fit = load_kind(self.model, ChoiceFit)
        return fit, self._markets(fit)

    def _markets(self, fit: "ChoiceFit") -> "Markets":
        """The markets of a new table, read as those of the fit were; or the fit's own."""
        from dgd.choice.markets import Markets

        if self.table is None:
            if self.market_size is not None or self.sizes is not None:
                raise InputError(
                    "--market-size and --sizes describe a new table and none was given; name the "
                    "table."
                )
            return fit.markets
        known, columns = fit.markets, fit.markets.columns
        if self.sizes is None and len(known.cohorts) > 1:
            raise InputError(
                f"the model has the cohorts {', '.join(map(str, known.cohorts))}; say with --sizes "
                "how many of each there are in the new markets."
            )
        offers = _with_instruments(read_table(self.table), columns.instruments)
        return Markets.from_table(
            with_whole_labels(offers, _numbered(known)),
            attributes=known.given_attributes,
            market=columns.market,
            product=columns.product,
            price=columns.price,
            count=None,
            available=columns.available if columns.available in offers.columns else None,
            market_size=column_or_number(self.market_size),
            sizes=read_optional(self.sizes),
            cohort=columns.cohort,
            constant=known.has_constant,
            outside=None if known.has_outside else False,
            instruments=columns.instruments,
            absorb=columns.absorb,
            **_marked(fit, offers),
        )


def _with_instruments(table: pl.DataFrame, instruments: Sequence[str]) -> pl.DataFrame:
    """Nobody asks what moved a price that is only asked about: instruments may be left out."""
    unsaid = [name for name in instruments if name not in table.columns]
    return table.with_columns(pl.lit(0.0).alias(name) for name in unsaid)


def _numbered(known: "Markets") -> list[str]:
    """The columns of labels that are whole numbers in the fit."""
    from dgd.choice.product_labels import are_numbers

    columns = known.columns
    labels = {columns.market: known.markets, columns.product: known.products}
    labels |= {name: marks.labels for name, marks in known.marks.items()}
    return [name for name, some in labels.items() if are_numbers(some)]


def _marked(fit: "ChoiceFit", table: pl.DataFrame) -> dict[str, Any]:
    """Columns of labels as the fit has them: those it predicts by, and others that are there."""
    from dgd.choice.settings import FEEDBACK

    columns = fit.markets.columns
    needed = ("period", "place") if fit.settings.dynamics == FEEDBACK else ()
    named = {name: getattr(columns, name) for name in ("firm", "household", "period", "place")}
    return {
        name: column for name, column in named.items() if name in needed or column in table.columns
    }


@dataclass(frozen=True)
class ChartOptions:
    """Charts to draw beside the tables."""

    charts: ChartFolder = None
    charted: Annotated[
        str, typer.Option("--products", help="Products to chart, by commas; else the most sold.")
    ] = ""

    def drawer(self, markets: "Markets") -> "Drawer":
        """What draws them, its folder made and its products known before any work."""
        folder = None if self.charts is None else ready_folder(self.charts)
        return Drawer(folder, labels_of(self.charted, markets))


@dataclass(frozen=True)
class Drawer:
    """Draws both charts of demand into a folder, where one was named."""

    folder: Path | None
    products: list[Label]

    def draw(self, fit: "ChoiceFit", markets: "Markets") -> list[str]:
        """Write both as .html, .png and .svg; returns the files' names."""
        from dgd.report.charts.demand_curves import demand_curve_chart
        from dgd.report.charts.files import save_charts
        from dgd.report.charts.price_sensitivity import sensitivity_chart

        if self.folder is None:
            return []
        made: dict[str, TopLevelMixin] = {
            "sensitivity": sensitivity_chart(fit),
            "demand": demand_curve_chart(fit, self.products or None, markets=markets),
        }
        return save_charts(made, self.folder)


def validation_markets(text: str, markets: "Markets") -> float | list[Label]:
    """A fraction between 0 and 1, or labels of markets separated by commas."""
    given = [label for name in names(text) for label in markets.markets if str(label) == name]
    if given and len(given) == len(names(text)):
        return given
    try:
        fraction = float(text)
    except ValueError as error:
        known = {str(label) for label in markets.markets}
        strange = next((name for name in names(text) if name not in known), text)
        raise InputError(
            f'validation "{strange}" is neither a fraction nor one of the {len(known)} markets, '
            f"the first of which is {markets.markets[0]}; correct it."
        ) from error
    return fraction


def new_prices(given: list[str]) -> dict[Label, float]:
    """Prices written as product=price."""
    found: dict[Label, float] = {}
    for text in given:
        product, equals, price = text.rpartition("=")
        try:
            value = float(price)
        except ValueError as error:
            raise InputError(
                f'price "{text}" has no number after "="; write product=price like a=2.5.'
            ) from error
        if not equals or not product:
            raise InputError(f'price "{text}" names no product; write product=price like a=2.5.')
        if product in found:
            raise InputError(f"product {product} is given two prices; give it one.")
        found[product] = value
    return found


def labels_of(text: str, markets: "Markets") -> list[Label]:
    """Products separated by commas, labelled as the table has them, be it text or numbers."""
    known = {str(label): label for label in markets.products}
    for name in names(text):
        if name not in known:
            raise InputError(
                f"product {name} is not in the markets, which have {few(list(known))}; correct "
                "the label."
            )
    return [known[name] for name in names(text)]
