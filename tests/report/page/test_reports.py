"""Reports: one small file with everything a reader was promised, which opens and answers anywhere.

Pages are costly to make, so what they hold and what a browser makes of them is tried in one file.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dgd
from dgd.baselines import GRU
from dgd.report import Report
from dgd.report.page.parts import Section
from support.browsing import (
    CHROMIUM,
    WITHOUT_BROWSER,
    browser,
    opened,
    page_errors,
    serious_faults,
    sideways,
)
from support.random_choice import make, offers_table, random_fit
from support.refusals import refused
from support.untrained import untrained

SECTIONS = {
    "crowd_page": [
        "summary",
        "forecast",
        "what-if",
        "crowd",
        "response",
        "feedback",
        "accuracy",
        "watch",
        "data",
    ],
    "demand_page": ["summary", "prices", "elasticities", "people", "estimate", "watch", "data"],
    "alike_page": [
        *("summary", "prices", "elasticities", "people", "firms", "estimate", "watch", "data"),
    ],
}

WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_report_is_one_small_file_with_every_section(
    name: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(name)
    page = path.read_text("utf-8")
    assert path.stat().st_size < 3_000_000
    assert re.findall(r'<section id="([\w-]+)"', page) == SECTIONS[name]
    for section in SECTIONS[name]:
        assert f'<a href="#{section}">' in page
    elements = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\ssrc\s*=|<link|<img|@import|url\(", elements)
    assert "default-src 'none'" in page


def test_the_summary_has_the_figures_of_the_forecast(fit: dgd.Fit, crowd_page: Path) -> None:
    summary = crowd_page.read_text("utf-8").split('<section id="summary"')[1].split("</section>")[0]
    assert f"{fit.panel.arrivals.sum():,} arrivals were counted" in summary
    assert "In the 3 days after 11 Feb 2022" in summary
    assert "best simple opponent" in summary


def test_what_was_assumed_of_the_days_ahead_is_said(crowd_page: Path) -> None:
    assert "Effort from 2022-02-12 on is not known" in crowd_page.read_text("utf-8")


def test_labels_of_a_title_are_text(tmp_path: Path) -> None:
    strange = "</title><script>alert(1)</script>"
    page = Report(strange, strange, (Section("a", strange, ""),), "", strange)
    assert "<script>alert" not in page.html
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == page.html
    with refused("page.pdf", ".html"):
        page.save(tmp_path / "page.pdf")


def test_a_notebook_shows_the_page_in_a_frame_of_its_own() -> None:
    shown = Report("A title", "", (Section("a", "A", "<p>body</p>"),), "", "")._repr_html_()
    assert shown.startswith('<iframe title="A title"')
    assert 'sandbox="allow-scripts"' in shown
    assert "<p>" not in shown, "the page is the frame's, and no part of the notebook"


@pytest.mark.slow
def test_a_product_that_nobody_could_buy_has_no_price_to_turn() -> None:
    never = pl.when(pl.col("product") == "d").then(0).otherwise(pl.col("available"))
    counts = pl.when(pl.col("product") == "d").then(0).otherwise(pl.col("count"))
    page = random_fit(make(offers_table().with_columns(available=never, count=counts))).report()
    assert re.findall(r'<option value="(\w)">', page.sections[1].html) == ["a", "b", "c"]


def test_other_fits_have_no_report(drawn: dgd.Simulated) -> None:
    with refused("GRU fit", "DGD"):
        untrained(GRU(), drawn.panel).report()


# In a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser that reaches no host."""
    if CHROMIUM is None:
        pytest.skip(WITHOUT_BROWSER)
    with browser() as started:
        yield started


def open_report(page: Any, path: Path) -> None:
    """Open a report and wait until its last chart stands."""
    page.goto(path.as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('figure.chart')].every(figure => figure.view)"
    )


def line_of(page: Any, figure: str) -> str:
    """Every curve that a chart shows, as it is drawn."""
    return page.evaluate(
        "id => [...document.querySelectorAll(`#${id} .mark-line path`)]"
        ".map(path => path.getAttribute('d')).join()",
        figure,
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SECTIONS)
def test_a_report_opens_without_a_network_and_fits_its_window(
    name: str, width: str, chromium: Any, request: pytest.FixtureRequest
) -> None:
    with opened(WIDTHS[width], 900, within=chromium) as page:
        open_report(page, request.getfixturevalue(name))
        assert page_errors(page) == []
        assert sideways(page) <= 0
        drawn = page.locator("figure.chart svg").count()
        assert drawn == page.locator("figure.chart").count() > 3


def test_on_a_phone_every_panel_has_the_names_of_its_rows(crowd_page: Path, chromium: Any) -> None:
    """Side by side the first panel names the forecasters for all; below each other each does."""
    times = {}
    for width, pixels in WIDTHS.items():
        with opened(pixels, 900, within=chromium) as page:
            open_report(page, crowd_page)
            times[width] = page.locator(
                "#accuracy-chart svg text", has_text=re.compile("^last day$")
            ).count()
    assert times == {"desktop": 1, "phone": 4}


@pytest.mark.parametrize("name", SECTIONS)
def test_no_serious_fault_of_accessibility(
    name: str, chromium: Any, request: pytest.FixtureRequest
) -> None:
    with opened(within=chromium) as page:
        open_report(page, request.getfixturevalue(name))
        page.evaluate("document.querySelectorAll('details').forEach(x => x.open = true)")
        assert serious_faults(page) == []


def test_choices_change_sentence_and_chart(crowd_page: Path, chromium: Any) -> None:
    with opened(within=chromium) as page:
        open_report(page, crowd_page)
        said = page.locator("[data-told=totals]")
        first, curve = said.inner_text(), line_of(page, "forecast-chart")
        assert "arrivals expected of all units, all cohorts" in first
        page.get_by_label("Cohort", exact=True).select_option("devoted")
        second = said.inner_text()
        assert "all units, cohort devoted" in second
        assert line_of(page, "forecast-chart") != curve
        page.locator("#forecast").get_by_label("What", exact=True).select_option("like")
        assert " like expected" in said.inner_text() != second
        page.get_by_label("Unit", exact=True).select_option("south")
        assert "unit south, cohort devoted" in said.inner_text()
        assert page_errors(page) == []


def test_the_knob_answers_inside_the_file(crowd_page: Path, chromium: Any) -> None:
    with opened(within=chromium) as page:
        open_report(page, crowd_page)

        def told(name: str) -> float:
            text = page.locator(f"[data-says=whatif-{name}]").inner_text()
            return float(text.replace(",", ""))

        assert told("planned") == told("changed") > 0
        curve = line_of(page, "whatif-chart")
        knob = page.locator("[data-choice=multiple]")
        knob.fill("0")
        assert told("changed") == 0
        assert told("more") == -told("planned")
        assert line_of(page, "whatif-chart") != curve
        knob.focus()
        page.keyboard.press("ArrowRight")
        assert 0 < told("changed") < told("planned"), "between two grid points, by keyboard"
        assert page.locator("#whatif-beyond").is_hidden()
        knob.fill("3")
        assert page.locator("#whatif-beyond").is_visible()
        page.get_by_label("Multiply").select_option("size")
        assert page_errors(page) == []


def test_a_price_is_turned_inside_the_file(demand_page: Path, chromium: Any) -> None:
    with opened(within=chromium) as page:
        open_report(page, demand_page)
        sold = page.locator("[data-says='price-count']")
        slider = page.locator("[data-choice=price]")
        usual = sold.inner_text()
        assert page.locator("[data-says='price-count-more']").inner_text() == "0%"
        slider.fill(slider.get_attribute("min"))
        cheap = float(sold.inner_text().replace(",", ""))
        slider.fill(slider.get_attribute("max"))
        assert float(sold.inner_text().replace(",", "")) < cheap
        before = slider.get_attribute("max")
        page.get_by_label("Product", exact=True).select_option("d")
        assert slider.get_attribute("max") != before, "the slider spans the product's own prices"
        assert sold.inner_text() != usual
        assert page_errors(page) == []


def test_without_scripts_sentences_and_tables_are_there(crowd_page: Path, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(crowd_page.as_uri())
    assert "arrivals were counted" in page.locator("#summary").inner_text()
    assert page.locator("#data table").count() > 1
    assert page.locator("noscript p").is_visible()
    context.close()
