"""What the `dgd choice` commands read from the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from dgd.cli.console import read_table
from dgd.cli.inputs import names
from dgd.errors import InputError
from dgd.tables.labels import Label

if TYPE_CHECKING:
    from dgd.choice import ChoiceFit, Markets


def column_or_number(text: str | None) -> str | float | None:
    """A number for all markets, or the name of a column."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


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


def asked_markets(
    fit: "ChoiceFit", table: Path | None, market_size: str | None, sizes: Path | None
) -> "Markets":
    """The markets of a new table, read as those of the fit were; or the fit's own."""
    from dgd.choice import Markets

    if table is None:
        if market_size is not None or sizes is not None:
            raise InputError(
                "--market-size and --sizes describe a new table and none was given; name the table."
            )
        return fit.markets
    known, columns = fit.markets, fit.markets.columns
    if sizes is None and len(known.cohorts) > 1:
        raise InputError(
            f"the model has the cohorts {', '.join(map(str, known.cohorts))}; say with --sizes how "
            "many of each there are in the new markets."
        )
    offers = read_table(table)
    constant = "constant" in known.attribute_names
    return Markets.from_table(
        offers,
        attributes=[name for name in known.attribute_names if name != "constant"],
        market=columns.market,
        product=columns.product,
        price=columns.price,
        count=None,
        available=columns.available if columns.available in offers.columns else None,
        market_size=column_or_number(market_size),
        sizes=None if sizes is None else read_table(sizes),
        cohort=columns.cohort,
        constant=constant,
    )


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
                f"product {name} is not in the markets, which have {_few(list(known))}; correct "
                "the label."
            )
    return [known[name] for name in names(text)]


def _few(labels: list[str]) -> str:
    shown = ", ".join(labels[:6])
    return f"{shown} and {len(labels) - 6} more" if len(labels) > 6 else shown
