"""Reports in a real browser that reaches no host: they open, answer, and can be read by all."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.browsing import (
    browser,
    needs_browser,
    opened,
    page_errors,
    serious_faults,
    sideways,
)

pytestmark = needs_browser
PAGES = ("crowd_page", "demand_page")
WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
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
@pytest.mark.parametrize("name", PAGES)
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


@pytest.mark.parametrize("name", PAGES)
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
