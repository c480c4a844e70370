"""The app in a real browser: what a person does there works, and nothing else is reached."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dgd
from support.browsing import browser, needs_browser, opened, page_errors, serious_faults, sideways
from support.random_choice import SIZES, make, random_fit
from support.serving import SECONDS, Served, children, serving, until

pytestmark = [pytest.mark.slow, needs_browser]

PATIENCE = SECONDS * 1000
PHONE = (390, 844)
SHOWN = "label:has([name='effort.all']) output"


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def app(
    world: Path, shaken_fit: dgd.Fit, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The app in a folder with a world, a fit of it and a fit of demand."""
    shaken_fit.save(world / "shaken.dgd")
    random_fit(make(sizes=SIZES)).save(world / "choice.dgd")
    with serving(world, tmp_path_factory.mktemp("temporary")) as served:
        yield served


@pytest.fixture
def page(app: Served, chromium: object) -> Iterator:
    with opened(allowed=app.host, within=chromium) as tab:
        tab.set_default_timeout(PATIENCE)
        tab.goto(app.root)
        yield tab
        assert page_errors(tab) == []


def to_the_data(page) -> None:
    """From the start to the page about the counts."""
    page.click("button.file:has-text('counts.csv')")
    page.wait_for_url("**/table?*")
    page.click("text=Look at it")
    page.wait_for_url("**/data?*")
    page.wait_for_selector("figure#exploration svg")


def begin_fit(page, epochs: int) -> None:
    page.click("summary:has-text('More settings')")
    page.fill("[name=epochs]", str(epochs))
    page.fill("[name=seeds]", "1")
    page.click("button:has-text('Fit')")
    page.wait_for_selector("[data-seed='1']")


def to_the_model(page, name: str = "shaken.dgd", part: str = "Forecast") -> None:
    page.click(f"button.file:has-text('{name}')")
    page.wait_for_url("**/model?*")
    page.click(f"nav.beside >> text={part}")


def move(page, name: str, value: str) -> None:
    """Move a slider as a person does who lets it go."""
    page.wait_for_load_state()
    page.locator(f"[name='{name}']").fill(value)
    page.locator(f"[name='{name}']").dispatch_event("change")


def test_a_table_is_explored_and_fitted_to_the_end(page, app: Served) -> None:
    to_the_data(page)
    assert "average" in page.inner_text(".verdict")
    begin_fit(page, epochs=5)
    page.wait_for_url("**/model?*")
    assert "Forecast" in page.inner_text("main")
    assert app.folders == []
    assert children(app.process.pid) == []
    with page.expect_download() as download:
        page.click("text=Download the model")
    assert isinstance(dgd.load(download.value.path()), dgd.Fit)


def test_a_form_that_is_sent_before_everything_is_loaded_is_not_lost(page, app: Served) -> None:
    page.route("**/vega.js", lambda route: None)  # never answered
    page.goto(app.root, wait_until="commit")
    page.click("button.file:has-text('counts.csv')", no_wait_after=True)
    page.wait_for_url("**/table?*", wait_until="commit")


def test_stop_ends_a_fit_and_leaves_nothing(page, app: Served) -> None:
    to_the_data(page)
    begin_fit(page, epochs=100_000)
    until(lambda: app.folders, "a fit")
    assert children(app.process.pid)
    page.click("text=Stop")
    page.wait_for_selector("text=Stopped; nothing of this fit was kept.")
    until(lambda: not children(app.process.pid), "the end of the process")
    until(lambda: not app.folders, "the removal of its folder")


def test_a_closed_tab_ends_its_fit_and_leaves_nothing(app: Served, chromium: object) -> None:
    with opened(allowed=app.host, within=chromium) as tab:
        tab.goto(app.root)
        to_the_data(tab)
        begin_fit(tab, epochs=100_000)
        until(lambda: app.folders, "a fit")
    until(lambda: not children(app.process.pid), "the end of the process")
    until(lambda: not app.folders, "the removal of its folder")


def test_ctrl_c_ends_a_fit_too(world: Path, tmp_path: Path, chromium: object) -> None:
    with serving(world, tmp_path) as app, opened(allowed=app.host, within=chromium) as tab:
        tab.goto(app.root)
        to_the_data(tab)
        begin_fit(tab, epochs=100_000)
        until(lambda: app.folders, "a fit")
        (fit,) = children(app.process.pid)
        assert app.end() == 0
        until(lambda: not Path(f"/proc/{fit}").exists(), "the end of the process")
        assert list(tmp_path.iterdir()) == []
        tab.wait_for_selector("text=The app does not answer any more")


def test_a_forecast_follows_its_form(page) -> None:
    to_the_model(page)
    page.wait_for_selector("#answer svg")
    before = page.inner_text(".figures")
    page.fill("[name=horizon]", "3")
    page.press("[name=horizon]", "Enter")
    page.wait_for_function(
        "was => document.querySelector('.figures').innerText !== was", arg=before
    )
    page.select_option("[name=by]", "cohort")
    page.wait_for_selector("#answer svg >> text=arrivals by cohort")
    with page.expect_download() as download:
        page.locator("#answer .download a").first.click()
    assert download.value.suggested_filename == "forecast.csv"


def test_sliders_change_what_is_shown_and_scenarios_are_kept(page) -> None:
    to_the_model(page, part="Scenarios")
    page.wait_for_selector("text=Move a slider")
    move(page, "effort.all", "150")
    page.wait_for_selector("#answer h2:has-text('Effort of all at 150 %')")
    assert page.inner_text(SHOWN) == "150 %"
    more = page.inner_text("#answer .figures")
    page.fill("[name=name]", "half more")
    page.click("text=Keep this scenario")
    page.wait_for_selector("#kept svg >> text=half more")
    move(page, "effort.all", "50")
    page.wait_for_selector("#answer h2:has-text('Effort of all at 50 %')")
    assert page.inner_text("#answer .figures") != more
    page.fill("[name=name]", "half")
    page.click("text=Keep this scenario")
    page.wait_for_selector("#kept th:has-text('half') >> nth=1")
    page.click("text=Back to the plan")
    page.wait_for_selector("text=Move a slider")
    assert page.inner_text(SHOWN) == "100 %"
    page.click("text=Forget >> nth=0")
    page.wait_for_function("document.querySelectorAll('.kept li').length === 1")


def test_prices_move_demand(page) -> None:
    to_the_model(page, "choice.dgd", "Prices")
    page.wait_for_selector("#curves svg")
    before = page.inner_text("#answer .figures")
    move(page, "price.0", "130")
    page.wait_for_function(
        "was => document.querySelector('.figures').innerText !== was", arg=before
    )


def test_two_tabs_go_on_side_by_side(page, app: Served, chromium: object) -> None:
    to_the_data(page)
    begin_fit(page, epochs=100_000)
    with opened(allowed=app.host, within=chromium) as other:
        other.goto(app.root)
        other.wait_for_selector("h2:has-text('Open now')")
        other.click(".files a:has-text('counts.csv')")
        other.wait_for_selector("figure#exploration svg")
        assert page_errors(other) == []
    assert page.is_visible("text=Stop")
    page.click("text=Stop")
    page.wait_for_selector("text=Stopped")


def test_a_file_can_be_handed_over_and_a_bad_one_is_refused_where_it_was(
    page, world: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\xff\xfe\x00")
    page.set_input_files(".drop input", bad)
    page.wait_for_selector(".drop .refused:has-text('is not text in UTF-8')")
    page.faults.clear()  # the browser tells of every answer that is not "ok"
    page.set_input_files(".drop input", [world / "sizes.csv", world / "counts.csv"])
    page.wait_for_url("**/table?*")
    assert page.inner_text("h1") == "counts.csv"


def test_refusals_stand_beside_the_form_and_are_announced(page) -> None:
    to_the_data(page)
    page.fill("[name=train_end]", "2022-02-11")
    page.click("button:has-text('Fit')")
    told = page.wait_for_selector("#answer [role=alert]").inner_text()
    assert told.startswith("“Last training day” 2022-02-11 is not before")
    page.faults.clear()


def test_everything_can_be_done_with_the_keyboard(page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.focus("button.file:has-text('counts.csv')")
    page.keyboard.press("Enter")
    page.wait_for_url("**/table?*")
    page.focus("text=Look at it")
    page.keyboard.press("Space")
    page.wait_for_url("**/data?*")


@pytest.mark.parametrize("path", ["", "wrong/", "wrong/model?id=x"])
def test_a_wrong_token_is_refused(app: Served, chromium: object, path: str) -> None:
    with opened(allowed=app.host, within=chromium) as tab:
        assert tab.goto(f"http://{app.host}/{path}").status == 403


def test_a_page_of_another_site_gets_nothing(app: Served, chromium: object) -> None:
    """Even one that knows the token, such as a page from the disk."""
    asking = """async (address) => {
      try { return (await fetch(address, {method: "POST", body: "file=counts.csv"})).status; }
      catch { return "refused"; }
    }"""
    with opened(allowed=app.host, within=chromium) as tab:
        tab.goto("data:text/html,<p>elsewhere")
        assert tab.evaluate(asking, f"{app.root}open") in ("refused", 403)
        tab.goto(app.root)
        assert tab.evaluate(asking, f"{app.root}open") == 200


def screens(page) -> Iterator[str]:
    """Every page of the app, each when what it shows is there."""
    yield "start"
    to_the_data(page)
    yield "data"
    page.go_back()
    page.wait_for_selector("text=Look at it")
    yield "table"
    page.click("text=Start")
    to_the_model(page)
    page.wait_for_selector("#answer svg")
    yield "forecast"
    page.click("nav.beside >> text=Scenarios")
    move(page, "effort.all", "150")
    page.wait_for_selector("#answer svg")
    yield "scenarios"
    page.click("text=Keep this scenario")
    page.wait_for_selector("#kept svg")
    yield "kept"
    page.click("nav.beside >> text=Plan")
    page.fill("[name=horizon]", "2")
    page.click("text=Find the best spread")
    page.wait_for_selector("#answer svg")
    yield "plan"
    page.click("nav.beside >> text=Model")
    yield "model"
    page.click("text=Start")
    to_the_model(page, "choice.dgd", "Prices")
    page.wait_for_selector("#curves svg")
    yield "prices"


def test_pages_fit_a_phone(app: Served, chromium: object) -> None:
    width, height = PHONE
    with opened(width, height, app.host, chromium) as tab:
        tab.set_default_timeout(PATIENCE)
        tab.goto(app.root)
        for name in screens(tab):
            assert sideways(tab) <= 0, name
            _picture(tab, f"{name}-phone")
        assert page_errors(tab) == []


def test_no_page_has_serious_faults_of_accessibility(page) -> None:
    for name in screens(page):
        assert serious_faults(page) == [], name
        _picture(page, name)


def _picture(page, name: str) -> None:
    """Kept where somebody wants to look at them."""
    folder = os.environ.get("DGD_PICTURES")
    if folder and re.fullmatch(r"[a-z-]+", name):
        page.screenshot(path=Path(folder) / f"app-{name}.png", full_page=True)
