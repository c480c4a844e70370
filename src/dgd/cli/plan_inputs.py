"""What `dgd plan` reads from the command line: worth, bounds, limits and cells held fixed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from dgd.cli.values import finite_number, named_numbers, names
from dgd.errors import InputError
from dgd.tables.files import ENDINGS, read_optional, read_table

OBJECTIVE = "buy=1,arrivals=0.1"


@dataclass(frozen=True)
class TermOptions:
    """The terms of a plan."""

    budget: Annotated[float, typer.Option(help="Effort that may be spent in all.")]
    objective: Annotated[str, typer.Option(help=f"What is wanted, like {OBJECTIVE}.")]
    bounds: Annotated[
        str | None, typer.Option(help="Effort of a cell: low:high, or a table with low and high.")
    ] = None
    per_day: Annotated[
        str | None, typer.Option(help="Most effort of a day: a number, or date=number by commas.")
    ] = None
    per_unit: Annotated[
        str | None, typer.Option(help="Most effort of a unit: a number, or unit=number by commas.")
    ] = None
    fixed: Annotated[
        Path | None,
        typer.Option(help="Cells that keep their effort: date (or from, to), unit, ..."),
    ] = None
    quantile: Annotated[
        float | None,
        typer.Option(help="Plan for the cautious, 0.2 like; else for what is expected."),
    ] = None
    after: Annotated[
        int | None, typer.Option(help="Days after the horizon that count too; 14 where not given.")
    ] = None
    starts: Annotated[int, typer.Option(help="First spreads that the solver tries.")] = 8

    @property
    def files(self) -> list[Path | None]:
        """The files that are read, which no result may replace."""
        table = None if self.bounds is None else Path(self.bounds)
        return [self.fixed, table]

    def read(self) -> dict[str, Any]:
        """The terms as arguments of a plan, refused as far as no fit is needed for it."""
        from dgd.scenarios.plan_terms import budget_of, quantile_of

        return {
            "budget": budget_of(self.budget),
            "objective": weights(self.objective),
            "bounds": bounds(self.bounds),
            "per_day": limits(self.per_day, "per_day", "2022-04-21=10"),
            "per_unit": limits(self.per_unit, "per_unit", "north=100,south=50"),
            "fixed": read_optional(self.fixed),
            "quantile": quantile_of(self.quantile),
            "after": self.after,
            "starts": self.starts,
        }


def weights(text: str) -> dict[str, float]:
    """What one more of each behaviour is worth; a name alone is worth 1."""
    written = [part if "=" in part else f"{part}=1" for part in names(text)]
    if not written:
        raise InputError(f"objective names no behaviour; write it like {OBJECTIVE}.")
    found = named_numbers(",".join(written), "objective", OBJECTIVE)
    if not any(found.values()):
        raise InputError(f"objective weighs everything by 0; write it like {OBJECTIVE}.")
    return found


def bounds(text: str | None) -> tuple[float, float] | pl.DataFrame | None:
    """The least and the most effort of a cell, or a table of them."""
    if text is None:
        return None
    if Path(text).suffix in ENDINGS:
        return read_table(Path(text))
    low, colon, high = text.partition(":")
    if not colon:
        raise InputError(
            f'bounds "{text}" is neither low:high nor a table, .csv or .parquet; write it like 0:3.'
        )
    ends = finite_number(low, "bounds", "0:3"), finite_number(high, "bounds", "0:3")
    if not 0 <= ends[0] <= ends[1]:
        raise InputError(
            f'bounds "{text}" has a least below 0 or above its most; write it like 0:3.'
        )
    return ends


def limits(text: str | None, name: str, example: str) -> float | dict[str, float] | None:
    """One number for all, or numbers by name."""
    if text is None:
        return None
    by_name = "=" in text
    found = named_numbers(text, name, example) if by_name else finite_number(text, name, example)
    least = min(found.values()) if isinstance(found, dict) else found
    if least < 0:
        raise InputError(f"{name} holds {least:g}; give limits of 0 or more.")
    return found
