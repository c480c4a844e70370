"""Demand on a page: what sells, what prices do, who minds them, and what to watch."""

import altair as alt
import polars as pl

from dgd.choice.identification import doubts
from dgd.choice.product_labels import outside_named
from dgd.choice.segments import SENSITIVITY
from dgd.report.charts.colors import EXPECTED, REFERENCE
from dgd.report.charts.demand_curves import TITLES
from dgd.report.charts.elasticities import elasticity_chart
from dgd.report.charts.price_sensitivity import sensitivity_chart
from dgd.report.page.choice_findings import LEVEL, MOST_RANGED, ChoiceFindings, has_ranges
from dgd.report.page.data_section import named_values
from dgd.report.page.figures import figure, folded, scrolled
from dgd.report.page.parts import Section, bullets, paragraphs, selector, slider
from dgd.report.page.words import counted, percent

ROWS = "prices"
PEOPLE, COEFFICIENTS, SETTINGS = "People", "Coefficients", "settings: "
ESTIMATED = (PEOPLE, COEFFICIENTS)
"""Tables of a fit that stand with its estimate; the others stand with its data."""
ELASTIC = -1.0
"""Below it a higher price earns less."""


def demand_summary(found: ChoiceFindings) -> Section:
    """What was sold, whose price matters most, and which price to try."""
    markets = found.fit.markets
    sold, chances = markets.sales.sum(), markets.size.sum()
    said = [
        f"In {len(markets.markets):,} markets {len(markets.products):,} products were offered; "
        f"{counted(sold)} were bought on {counted(chances)} occasions ({percent(sold / chances)}).",
        *_strongest(found),
        *_worth_trying(found),
    ]
    return Section(
        "summary", "In short", bullets(said, "summary") + scrolled(found.shares, "Every product")
    )


def price_section(found: ChoiceFindings) -> Section:
    """A slider for one price, what it sells and earns, and the best prices."""
    products = found.curves["product"].unique(maintain_order=True).to_list()
    first = found.curves.filter(pl.col("product") == products[0])["price"]
    measures = "".join(
        f'<tr><th scope="row">{title}</th><td class="number" data-says="price-{measure}"></td>'
        f'<td class="number" data-says="price-{measure}-more"></td></tr>'
        for measure, title in TITLES.items()
    )
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="At this price">'
        '<table aria-live="polite"><thead><tr><th scope="col">at this price</th>'
        '<th scope="col" class="number">in all markets</th>'
        f'<th scope="col" class="number">against the usual price</th></tr></thead>'
        f"<tbody>{measures}</tbody></table></div>"
    )
    least, most = float(first.min()), float(first.max())  # type: ignore[arg-type]
    words = "what every price would bring; the dashed line marks the slider."
    body = (
        '<div class="controls" role="group" aria-label="Whose price is changed">'
        + selector("product", "Product", [(str(name), str(name)) for name in products])
        + slider("price", "Price", least, most, (most - least) / 100 or 1.0, least)
        + "</div>"
        + table
        + "".join(
            figure(f"price-chart-{at}", _curve(measure, title), f"{title}: {words}", rows=ROWS)
            for at, (measure, title) in enumerate(TITLES.items())
        )
        + folded("The numbers", found.curves)
        + "<h3>Prices that earn most</h3>"
        + paragraphs(
            [
                "Each price is moved alone, within the prices that were seen, and costs are not "
                "known: the best price of revenue is a bound, not a recommendation, where a sale "
                "costs something. At the edge of what was seen a better price may lie beyond."
            ]
        )
        + scrolled(found.best, "Prices that earn most", most=None)
    )
    return Section("prices", "What a price sells and earns", body)


def elasticity_section(found: ChoiceFindings) -> Section:
    words = "By how many per cent sales of a product move when a price rises by one per cent."
    chart = figure("elasticity-chart", elasticity_chart(found.fit), words, found.elasticities)
    diversion: pl.DataFrame = found.fit.diversion(kind="polars")
    product, to = diversion.columns[1:3]
    gone = diversion.group_by(product, to, maintain_order=True).agg(pl.col("diversion").mean())
    title = "Where buyers go when a price rises, on the mean over markets"
    body = chart + _ranged(found) + folded(title, outside_named(gone, to))
    return Section("elasticities", "How sales answer to prices", body)


def people_section(found: ChoiceFindings) -> Section:
    if found.fit.alike:
        return Section("people", "Who minds prices", paragraphs([_all_alike(found)]))
    words = "People by how much they mind prices, and the types among them."
    body = figure("people-chart", sensitivity_chart(found.fit), words, found.segments)
    return Section("people", "Who minds prices", body)


def estimate_section(found: ChoiceFindings) -> Section:
    """What was decided about people, whether the search converged, and how sure the figures are."""
    fit = found.fit
    said = [one for one in fit.sentences() if not one.startswith(SETTINGS)]
    if fit.record is None:
        said.append("This method says nothing about convergence, and has no standard errors.")
    body = bullets(said, "estimate")
    if PEOPLE in found.tables and found.tables[PEOPLE].height > 1:
        words = "People who differ against people who are all alike; the lower divergence is better"
        body += f"<h3>{words}</h3>" + scrolled(found.tables[PEOPLE], words)
    if COEFFICIENTS in found.tables:
        words = f"Coefficients, with standard errors and the range of {LEVEL} %"
        body += f"<h3>{words}</h3>" + scrolled(found.tables[COEFFICIENTS], words)
    return Section("estimate", "How sure this is", body)


def firm_section(found: ChoiceFindings) -> Section | None:
    """What products cost and earn those who set their prices, where markets name them."""
    if found.costs is None:
        return None
    body = paragraphs(
        [
            "Costs are those at which nobody who sets prices would gain by others; the markup is "
            "price less cost, the Lerner index its part of the price."
        ]
    ) + paragraphs(found.costs.warned, "warning")
    if found.costs.table is not None:
        columns = found.fit.markets.columns
        keys = list(dict.fromkeys([columns.product, str(columns.firm)]))
        mean = found.costs.table.group_by(keys, maintain_order=True).agg(
            pl.col(columns.price, "cost", "markup", "lerner").mean()
        )
        body += scrolled(mean, "Costs and markups, on the mean over markets")
        body += folded("In every market", found.costs.table)
    return Section("firms", "What products cost and earn", body)


def demand_watch(found: ChoiceFindings) -> Section:
    """What demand from counts cannot say by itself."""
    low, high = found.fit.price_range
    said = [
        _why_prices_moved(found),
        f"Prices from {low:g} to {high:g} were seen; what is said beyond them is extrapolated.",
        *found.warned,
        *doubts(found.fit),
    ]
    diverged = found.fit.diverged
    if diverged:
        said.append(f"Training diverged for seeds {', '.join(map(str, diverged))}.")
    return Section("watch", "What to watch", bullets(said, "watch"))


def demand_data(found: ChoiceFindings) -> Section:
    fit = found.fit
    body = paragraphs([repr(fit.markets)])
    rest = {title: table for title, table in found.tables.items() if title not in ESTIMATED}
    body += "".join(folded(title, table) for title, table in rest.items())
    body += folded("Settings", named_values(fit.settings.as_dict()), most=None)
    return Section("data", "Data and settings", body)


def _why_prices_moved(found: ChoiceFindings) -> str:
    record = found.fit.record
    if record is not None and record.first_stage_f is not None:
        names = ", ".join(found.fit.markets.columns.instruments)
        return (
            f"Prices may follow demand: {names} tell which part of them does not, and must move "
            "nothing but prices."
        )
    return (
        "Prices must have varied for reasons unrelated to demand; where a price was raised "
        "because demand was high, sensitivity to prices is understated."
    )


def _ranged(found: ChoiceFindings) -> str:
    """Own elasticities with their ranges, or why there are none."""
    if found.own is not None:
        title = f"Own elasticities in every market, with the range of {LEVEL} %"
        return f"<h3>{title}</h3>" + scrolled(found.own, title)
    if has_ranges(found.fit):
        words = f"Of more than {MOST_RANGED:,} elasticities no ranges are shown here."
        return paragraphs(
            [f"{words} For some markets, ask fit.elasticities(markets, level={LEVEL})."]
        )
    return ""


def _all_alike(found: ChoiceFindings) -> str:
    record = found.fit.record
    sensitivity = float(found.segments[SENSITIVITY][0])
    if record is not None and record.gain is not None:
        known = "The data show no difference between people"
    else:
        known = "Everyone was taken to be alike, and whether people differ was not asked"
    return f"{known}: one more unit of money takes {sensitivity:.3g} from everyone's utility."


def _own(found: ChoiceFindings) -> pl.DataFrame:
    own = found.elasticities.filter(pl.col("product") == pl.col("price of"))
    return own.sort("elasticity")


def _strongest(found: ChoiceFindings) -> list[str]:
    own = _own(found).drop_nulls("elasticity")
    if own.is_empty():
        return []
    row = own.row(0, named=True)
    said = [
        f"Sales of {row['product']} answer most to their own price: one per cent more costs "
        f"{abs(row['elasticity']):.1f} % of them."
    ]
    rising = own.filter(pl.col("elasticity") > 0).height
    if rising:
        said.append(f"For {rising} products sales rise with their price: do not believe that.")
    elastic = own.filter(pl.col("elasticity") < ELASTIC).height
    said.append(
        f"Of {own.height} products {elastic} would earn less at a higher price, the others more."
    )
    return said


def _worth_trying(found: ChoiceFindings) -> list[str]:
    best = found.best.filter(pl.col("aim") == "revenue of all").sort(
        "gain percent", descending=True
    )
    if best.is_empty():
        return []
    row = best.row(0, named=True)
    edge = ", the edge of what was seen" if row["at the edge"] else ""
    return [
        f"The price to look at first is that of {row['product']}: at {row['best price']:.4g}{edge} "
        f"instead of {row['usual price']:.4g}, all products together would earn "
        f"{row['gain percent']:.1f} % more."
    ]


def _curve(measure: str, title: str) -> alt.LayerChart:
    """The curve of one measure, and a line at the price of the slider."""
    base = alt.Chart(alt.NamedData("rows"))
    x = alt.X("price:Q", title="price", scale=alt.Scale(zero=False, nice=False))
    y = alt.Y(f"{measure}:Q", title=None, scale=alt.Scale(zero=False))
    line = base.mark_line(color=EXPECTED).encode(x=x, y=y)
    at = base.transform_aggregate(at="max(chosen)").mark_rule(color=REFERENCE, strokeDash=[4, 3])
    layers = [line, at.encode(x="at:Q")]
    return alt.LayerChart(layer=layers, width="container", height=140, title=title)
