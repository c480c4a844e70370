"""A formula of demand: which column holds sales, which prices, and what explains the choice.

    sales ~ price | sugar + mushy
    share(s) ~ price | 0 + sugar + C(product) | cost

Left of "~" stands the column of counts, or share(column). Right of it stand, between bars, the
price; the attributes, where 0 or -1 removes the constant and C(column) absorbs the labels of a
column; and the instruments.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dgd.errors import InputError
from dgd.tables.refusing import shown

EXAMPLE = '"sales ~ price | sugar + mushy"'
PARTS = ("price", "attributes", "instruments")
"""What stands between the bars right of "~"."""
CALL = re.compile(r"(\w+)\s*\((.*)\)", re.DOTALL)
NO_CONSTANT = re.compile(r"(?:^|\s)-\s*1$")
"""Needs a space before it: columns may be called size-1."""


@dataclass(frozen=True)
class DemandFormula:
    """What a formula says of a table of offers, by the names that `Markets.from_table` has."""

    count: str | None
    share: str | None
    price: str
    attributes: tuple[str, ...] = ()
    constant: bool = True
    absorb: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        """Options of `Markets.from_table`: those of the formula, and those `given` beside it."""
        own: dict[str, Any] = {
            "count": self.count,
            "share": self.share,
            "price": self.price,
            "attributes": self.attributes,
            "constant": self.constant,
        }
        own |= {"absorb": self.absorb} if self.absorb else {}
        own |= {"instruments": self.instruments} if self.instruments else {}
        twice = [name for name in given if name in own]
        if twice:
            raise InputError(
                f"{twice[0]} was given beside a formula that says it; say it in the formula only, "
                f"like {EXAMPLE}."
            )
        return {**given, **own}


def read_formula(text: object) -> DemandFormula:
    """The columns that a formula names; whether a table has them is not asked here."""
    if not isinstance(text, str):
        raise InputError(f"formula is {shown(text)}; write a text like {EXAMPLE}.")
    left, *right = text.split("~")
    if len(right) != 1:
        raise InputError(
            f'formula {shown(text)} has {len(right) or "no"} "~"; write one between sales and '
            f"price, like {EXAMPLE}."
        )
    parts = right[0].split("|")
    if len(parts) > len(PARTS):
        raise InputError(
            f'formula {shown(text)} has {len(parts)} parts right of "~"; write at most price, '
            'attributes and instruments, like "sales ~ price | sugar + mushy | cost".'
        )
    said = dict(zip(PARTS, parts, strict=False))
    count, share = _sales(left.strip())
    names, absorb, constant = _explained(said.get("attributes"))
    price, instruments = _price(said["price"]), _columns(said.get("instruments"))
    return DemandFormula(count, share, price, names, constant, absorb, instruments)


def _sales(left: str) -> tuple[str | None, str | None]:
    """The column of counts, or that of shares."""
    call = CALL.fullmatch(left)
    if call is not None and call[1] == "share":
        return None, _column(call[2], "in share(...)", '"share(s) ~ price | sugar"')
    if "+" in left:
        raise InputError(
            f'formula has {shown(left)} left of "~"; name one column of sales there, like '
            f"{EXAMPLE}."
        )
    return _column(left, 'left of "~"', EXAMPLE), None


def _price(part: str) -> str:
    if "+" in part:
        raise InputError(
            f"formula has {shown(part.strip())} where the price stands; name the column of prices "
            f'alone and attributes after "|", like {EXAMPLE}.'
        )
    return _column(part, 'right of "~"', EXAMPLE)


def _explained(part: str | None) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The attributes, the columns that are absorbed, and whether there is a constant."""
    names, absorb, constant = [], [], True
    for term in _terms(part, "attributes"):
        call = CALL.fullmatch(term)
        if term in ("0", "-1", "- 1"):
            constant = False
        elif call is not None and call[1] == "C":
            absorb.append(_column(call[2], "in C(...)", '"sales ~ price | sugar + C(product)"'))
        elif term != "1":
            names.append(_column(term, "among the attributes", EXAMPLE))
    return tuple(names), tuple(absorb), constant


def _columns(part: str | None) -> tuple[str, ...]:
    example = '"sales ~ price | sugar + mushy | cost"'
    return tuple(
        _column(term, "among the instruments", example) for term in _terms(part, "instruments")
    )


def _terms(part: str | None, what: str) -> list[str]:
    """What stands between the signs "+" of a part; a constant taken away is a term of its own."""
    if part is None:
        return []
    found: list[str] = []
    for piece in part.split("+"):
        term = piece.strip()
        removed = NO_CONSTANT.search(term)
        kept = term if removed is None else term[: removed.start()].strip()
        found += [kept] if kept or removed is None else []
        found += ["-1"] if removed is not None else []
    _refuse_gaps(found, part, what)
    return found


def _refuse_gaps(terms: Sequence[str], part: str, what: str) -> None:
    if "" in terms:
        raise InputError(
            f"formula has an empty place among its {what}, {shown(part.strip())}; name a column "
            'there, like "sales ~ price | sugar + mushy | cost".'
        )


def _column(text: str, where: str, example: str) -> str:
    """The name of a column, not a number and not something that is done to one."""
    name = text.strip()
    if not name:
        raise InputError(f"formula names no column {where}; write it like {example}.")
    if re.search(r"[()]", name):
        raise InputError(
            f"formula has {shown(name)} {where}, which is not a column; make a column of it first "
            f"and name that, like {example}."
        )
    if re.fullmatch(r"[-\d.]+", name):
        raise InputError(
            f"formula has {shown(name)} {where}, which is a number; name a column, like {example}."
        )
    return name
