"""The report of a fit of demand: what sells, what prices do, and which to try."""

from dgd.choice import ChoiceFit
from dgd.report.page.choice_findings import choice_found, price_rows
from dgd.report.page.choice_sections import (
    ROWS,
    demand_data,
    demand_summary,
    demand_watch,
    elasticity_section,
    estimate_section,
    firm_section,
    people_section,
    price_section,
)
from dgd.report.page.document import Report, made_by
from dgd.report.page.findings import Tell
from dgd.report.page.parts import rows_block
from dgd.runtime import computing

SECTIONS = (
    demand_summary,
    price_section,
    elasticity_section,
    people_section,
    firm_section,
    estimate_section,
    demand_watch,
    demand_data,
)
"""In the order of the page; one that has nothing to say is left out."""


def choice_report(fit: ChoiceFit, *, title: str | None = None, tell: Tell | None = None) -> Report:
    """Demand on one page: shares, elasticities, a slider for every price, and the best prices.

    Args:
        title: the heading of the page.
        tell: called with a few words before the work.
    """
    if tell is not None:
        tell("asking what prices do")
    with computing():  # one block for hundreds of questions: each would open its own
        found = choice_found(fit)
        made = [section(found) for section in SECTIONS]
    markets = fit.markets
    return Report(
        title or "What sells at which price",
        f"Learned from sales of {len(markets.products):,} products in "
        f"{len(markets.markets):,} markets.",
        tuple(section for section in made if section is not None),
        rows_block(ROWS, price_rows(found)),
        made_by(),
    )
