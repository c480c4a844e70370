"""How a fit of demand came about: types against no types, starts, instruments, scatter."""

import numpy as np
import polars as pl

from dgd.choice.estimation.agreement import ALIKE_LIKELY, TOLERATED
from dgd.choice.estimation.choosing import ERRORS, LEAST_GAIN
from dgd.choice.estimation.record import TYPES, EstimationRecord
from dgd.choice.fit import ChoiceFit
from dgd.choice.instruments.first_stage import WEAK
from dgd.choice.segments import SENSITIVITY
from dgd.choice.settings import INVERTED
from dgd.diagnostics.examined import Care, Examined, HeldAgainst
from dgd.learning.runs import UNCONVERGED

PEOPLE, STARTS, PRICE_EFFECT, INSTRUMENTS, SCATTER = (
    "Types against no types",
    "Starts and where they ended",
    "Price effect",
    "Instruments",
    "Scatter of shares",
)
TOLD_APART = 2.0
"""Standard errors that a price effect must lie above zero."""
SCATTERED = 10.0
"""Shares that scatter so many times as much as chance has them are worth a word."""


def examined_record(fit: ChoiceFit) -> list[Examined]:
    """Everything that an estimation left on record; without one, only what markets say."""
    record = fit.record
    if record is None:
        return [_instruments(fit, None)]
    parts = [
        _people(record),
        _search(fit, record),
        _price_effect(fit, record),
        _instruments(fit, record.first_stage_f),
        _scatter(fit, record),
    ]
    return [part for part in parts if part is not None]


def _people(record: EstimationRecord) -> Examined | None:
    """HeldAgainst-out divergence of both descriptions of people, and what decided between them."""
    if not record.candidates:
        return None
    table = record.candidates_table()
    if record.gain is None:
        care = []
        if record.chosen == TYPES:
            advice = 'fit with types="earned" to let markets that are held out decide'
            care.append(Care("types were not judged", record.how, None, advice))
        return Examined(PEOPLE, table, (), tuple(care))
    error = record.gain_error or 0.0
    needed = max(ERRORS * error, LEAST_GAIN)
    as_decided = (record.gain > needed) == (record.chosen == TYPES)
    held = (
        HeldAgainst("gain of types on held-out clusters", record.gain, needed, as_decided),
        HeldAgainst("standard error of this gain", error),
    )
    care = []
    if abs(record.gain - needed) < error:
        where = f"types gain {record.gain:.3g}, and {needed:.3g} decides"
        advice = "other markets might decide otherwise: compare with types=" + (
            '"earned" on more markets' if record.chosen == TYPES else '"kept"'
        )
        care.append(Care("types hardly told from none", where, record.gain, advice))
    return Examined(PEOPLE, table, held, tuple(care))


def _search(fit: ChoiceFit, record: EstimationRecord) -> Examined:
    """Whether the search ended at a top, and whether others as high say the same.

    Where everyone is alike the top is the only one, whatever searches for types have found.
    """
    table: pl.DataFrame = fit.summary("polars")
    ended = fit.runs[0].reason
    slope = record.slope
    top = slope <= record.tolerance and ended != UNCONVERGED
    held = [HeldAgainst("largest slope where the search ended", slope, record.tolerance, top)]
    care = []
    if not top:
        advice = "raise epochs, or lower components or dim"
        care.append(Care("search not converged", ended, slope, advice))
    if record.starts:
        converged = np.mean([one.converged for one in record.starts])
        held.append(HeldAgainst("part of starts that converged", float(converged)))
    if record.starts and not fit.alike:
        apart = _apart(record)
        held += apart
        if not record.agree or not all(one.holds for one in apart):
            worst = max(apart, key=lambda one: one.found)
            where = "starts that are as likely as the best disagree on substitution"
            advice = (
                "elasticities and diversion are not settled by these counts: add markets, or "
                "lower components or dim"
            )
            care.append(Care("starts disagree", where, worst.found, advice))
    return Examined(STARTS, table, tuple(held), tuple(care))


def _apart(record: EstimationRecord) -> list[HeldAgainst]:
    """How far ends that are as likely as the best lie apart."""
    near = [one for one in record.starts if one.behind <= ALIKE_LIKELY]
    elastic, left = (
        np.array([getattr(one, name) for one in near]) for name in ("elasticity", "to_outside")
    )
    size = max(np.abs(elastic).max(), 1.0)
    found = {
        "own elasticity between starts as likely as the best": float(np.ptp(elastic) / size),
        "diversion to outside between them": float(np.ptp(left)),
    }
    return [
        HeldAgainst(what, apart, TOLERATED, apart <= TOLERATED) for what, apart in found.items()
    ]


def _price_effect(fit: ChoiceFit, record: EstimationRecord) -> Examined | None:
    """Whether demand falls with price by more than chance."""
    sensitivity, error = record.sensitivity, record.sensitivity_error
    if not error > 0:  # instruments alone find no effect of people who are alike
        sensitivity, error = _of_people(fit)
    if not error > 0:
        return None
    ratio = sensitivity / error
    table = pl.DataFrame(
        {SENSITIVITY: [sensitivity], "standard error": [error], "t-value": [ratio]}
    )
    held = HeldAgainst(
        "t-value of price sensitivity, at least", ratio, TOLD_APART, ratio >= TOLD_APART
    )
    price, care = fit.markets.columns.price, []
    advice = "give instruments=[...], absorb=[...] or attributes that say what makes offers better"
    if sensitivity <= 0:
        where = f"one more unit of {price} adds {-sensitivity:.3g} to utility"
        care.append(Care("demand slopes upward", where, ratio, f"dearer is better here: {advice}"))
    elif not held.holds:
        where = f"{sensitivity:.3g} with standard error {error:.2g}"
        care.append(
            Care("price effect not told from none", where, ratio, f"add markets, or {advice}")
        )
    return Examined(PRICE_EFFECT, table, (held,), tuple(care))


def _of_people(fit: ChoiceFit) -> tuple[float, float]:
    """The mean price sensitivity of the estimate itself, and its standard error."""
    table: pl.DataFrame = fit.coefficients(kind="polars")
    row = table.row(by_predicate=pl.col("coefficient") == SENSITIVITY, named=True)
    return row["estimate"], row["standard error"]


def _instruments(fit: ChoiceFit, f: float | None) -> Examined:
    columns = fit.markets.columns
    names = list(columns.instruments)
    table = pl.DataFrame({"instrument": names}, schema={"instrument": pl.String})
    if f is None:
        unused = f" though {', '.join(names)} could move them" if names else ""
        advice = "where sellers ask more for what people want anyway, give instruments=[...]"
        where = f"{columns.price} is held to be set without regard to demand{unused}"
        given = Care("prices are taken as given", where, None, advice)
        return Examined(INSTRUMENTS, table, (), (given,))
    strong = bool(f >= WEAK)
    care = []
    if not strong:
        where = f"{', '.join(names)} hardly move {columns.price}"
        advice = "the price effect leans to what it is without them: find stronger ones"
        care.append(Care("weak instruments", where, f, advice))
    held = HeldAgainst("F of the instruments, at least", f, WEAK, strong)
    return Examined(INSTRUMENTS, table, (held,), tuple(care))


def _scatter(fit: ChoiceFit, record: EstimationRecord) -> Examined | None:
    """How much more shares scatter than chance; volumes and shares have no chance of their own."""
    if fit.settings.quality == INVERTED:
        return None
    dispersion = record.dispersion
    table = pl.DataFrame(
        {
            "scatter, times chance": [dispersion],
            "opportunities": [float(fit.markets.size.sum())],
            "choices' worth of information": [record.information],
        }
    )
    care = []
    if fit.markets.whole and dispersion > SCATTERED:
        where = f"{dispersion:.3g} times as much as people who choose by themselves"
        advice = (
            "standard errors know of it; something that moves shares has no column here: add "
            "attributes, or absorb=[...]"
        )
        care.append(Care("shares scatter", where, dispersion, advice))
    held = HeldAgainst("scatter of shares, times chance", dispersion)
    return Examined(SCATTER, table, (held,), tuple(care))
