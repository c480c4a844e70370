"""Pages of a model: what they show is what the fit says, and it can be downloaded."""

import io
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.app import models, server
from dgd.choice import ChoiceFit
from support.logit_markets import alike_fit
from support.random_choice import SIZES, make, random_fit
from support.relabelled import relabelled
from support.untrained import untrained
from support.visiting import Visitor, said

SCENARIO = {"horizon": "3", "effort.all": "100", "size.all": "100"}
PLAN = {"horizon": "2", "budget": "12", "worth.3": "1", "starts": "1", "after": "0"}


@pytest.fixture(scope="module")
def choice_fit() -> ChoiceFit:
    return random_fit(make(sizes=SIZES))


def downloads(visitor: Visitor, text: str) -> list[pl.DataFrame]:
    """Every table that a page or an answer offers as CSV, in its order."""
    links = re.findall(r'href="(result\?id=[^"]+)"', text)
    answers = [visitor.get(link) for link in links]
    assert all(answer.headers["content-type"].startswith("text/csv") for answer in answers)
    assert all("attachment" in answer.headers["content-disposition"] for answer in answers)
    return [pl.read_csv(io.BytesIO(answer.content)) for answer in answers]


def test_a_forecast_is_the_fits_own(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    known = guest.show(shaken_fit)
    answer = guest.post(f"forecast?id={known}", {"horizon": "3", "levels": ["80"]})
    assert answer.status_code == 200, answer.text
    days = downloads(guest, answer.text)[-1]
    fit = models.known_ahead(guest.desk.library.models.get(known), 3)
    expected = fit.forecast(3).totals(kind="polars")
    assert np.allclose(days["expected"], expected["expected"])
    assert (days["low_80"] <= days["high_80"]).all()
    assert "that of the same weekday of the last week is repeated" in answer.text


def test_a_forecast_is_shown_by_cohort(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    known = guest.show(shaken_fit)
    fields = {"horizon": "2", "by": "cohort", "series": "1"}
    chart, days = downloads(guest, guest.post(f"forecast?id={known}", fields).text)
    assert set(chart["label"]) == set(shaken_fit.panel.cohorts)
    clicks = days.filter(pl.col("series") == "click")["expected"].sum()
    assert chart["expected"].sum() == pytest.approx(clicks)


@pytest.mark.parametrize(
    ("address", "fields", "words"),
    [
        ("forecast", {"horizon": "soon"}, 'How many days ahead is "soon"'),
        ("forecast", {"horizon": "0"}, "Horizon is 0; ask for at least one day"),
        ("forecast", {"horizon": "2", "levels": "101"}, "101"),
        ("forecast", {"horizon": "2", "origin": "1999-01-01"}, "Origin 1999-01-01 is not a day"),
        ("scenario", {**SCENARIO, "effort.all": "-5"}, "makes effort"),
        ("scenario", {**SCENARIO, "effort.all": "50", "from": "soon"}, '"soon" is not a date'),
        ("keep", SCENARIO, "Nothing is changed; move a slider"),
        ("plan", {**PLAN, "worth.3": "0"}, "Everything is worth 0"),
        ("plan", {**PLAN, "budget": ""}, "Budget of effort is empty"),
        ("plan", {**PLAN, "low": "1"}, "without the most; give both"),
        ("plan", {**PLAN, "per_day": "-1"}, "“Most effort a day” holds -1"),
        ("prices", {}, "this is a model of counts".capitalize()),
    ],
)
def test_what_cannot_be_right_is_refused_in_a_sentence(
    guest: Visitor, shaken_fit: dgd.Fit, address: str, fields: dict[str, Any], words: str
) -> None:
    answer = guest.post(f"{address}?id={guest.show(shaken_fit)}", fields)
    assert answer.status_code == 422, answer.text
    assert words in said(answer)


def test_sliders_multiply_what_is_planned(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    known = guest.show(shaken_fit)
    cohort = shaken_fit.panel.cohorts[1]
    fields = {**SCENARIO, "effort.all": "150", "effort.cohort.1": "50"}
    answer = guest.post(f"scenario?id={known}", fields)
    totals = downloads(guest, answer.text)[1]
    changes = [
        dgd.Change("effort", "multiply", 1.5),
        dgd.Change("effort", "multiply", 0.5, cohorts=cohort),
    ]
    own = shaken_fit.scenario(changes, 3, levels=(), paths=0).totals(kind="polars")
    assert np.allclose(totals["changed"], own["changed"])
    assert f"Effort of all at 150 %; effort of {cohort} at 50 %" in answer.text


def test_sliders_at_the_plan_change_nothing(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    answer = guest.post(f"scenario?id={guest.show(shaken_fit)}", SCENARIO)
    assert "Move a slider" in answer.text


@pytest.fixture
def no_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dgd.app.scenarios.PATHS", 0)


@pytest.mark.usefixtures("no_ranges")
def test_kept_scenarios_stand_side_by_side_in_every_tab(
    guest: Visitor, shaken_fit: dgd.Fit
) -> None:
    known = guest.show(shaken_fit)
    for share, name in (("150", "<b>more"), ("50", "less")):
        fields = {**SCENARIO, "effort.all": share, "name": name}
        answer = guest.post(f"keep?id={known}", fields)
        assert answer.status_code == 200, answer.text
    other_tab = guest.get(f"scenarios?id={known}").text
    for text in (answer.text, other_tab):
        chart, table = downloads(guest, text)
        assert chart["scenario"].unique(maintain_order=True).to_list() == ["<b>more", "less"]
        assert table.columns == ["series", "as planned", "<b>more", "less"]
        assert "<b>" not in text
    marks = re.findall(r'name="kept" value="([^"]+)"', other_tab)
    left = guest.post(f"forget?id={known}", {"kept": marks[0]}).text
    again = guest.post(f"forget?id={known}", {"kept": marks[0]}).text  # another tab was slower
    for text in (left, again):
        assert downloads(guest, text)[0]["scenario"].unique().to_list() == ["less"]


@pytest.mark.slow
def test_a_plan_spends_the_budget(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    answer = guest.post(f"plan?id={guest.show(shaken_fit)}", PLAN)
    assert answer.status_code == 200, answer.text
    efforts = downloads(guest, answer.text)[0]
    assert efforts["effort"].sum() == pytest.approx(12.0, rel=1e-3)
    assert "What it brings" in answer.text


def test_without_effort_pages_say_what_is_missing(guest: Visitor, drawn: dgd.Simulated) -> None:
    panel = relabelled(drawn, ["a", "b", "c"], ["x", "y", "z"])
    known = guest.show(untrained(dgd.DGD(), panel))
    for page in ("plan", "scenarios"):
        text = guest.get(f"{page}?id={known}").text
        assert "made without a table of effort" in text
        assert "effort.all" not in text


def test_every_page_of_a_fit_shows_labels_as_text(guest: Visitor, drawn: dgd.Simulated) -> None:
    labels = ["<script>1</script>", '"><i>', "</script>"]
    known = guest.show(untrained(dgd.DGD(), relabelled(drawn, labels, labels)))
    for page in ("model", "forecast", "scenarios", "plan"):
        text = guest.get(f"{page}?id={known}").text
        assert "<script>1" not in text
        assert "<i>" not in text
    text = guest.post(f"forecast?id={known}", {"horizon": "1"}).text
    assert "<script>1" not in text
    assert unescape(text).count("<script>1</script>") >= 2


def test_prices_move_demand_as_the_fit_says(guest: Visitor, choice_fit: ChoiceFit) -> None:
    known = guest.show(choice_fit)
    assert guest.get(f"prices?id={known}").status_code == 200
    fields = {"price.all": "100", "price.0": "120"}
    every = downloads(guest, guest.post(f"prices?id={known}", fields).text)[-1]
    product = choice_fit.markets.products[0]
    changed = choice_fit.markets.with_scaled_prices({product: 1.2})
    own = choice_fit.compare(changed).products("polars")
    assert np.allclose(every["changed"].fill_null(0), own["changed"].fill_null(0))
    curves = guest.post(f"curves?id={known}", {"products": ["0", "1"]}).text
    (table,) = downloads(guest, curves)
    assert set(table["product"]) == set(choice_fit.markets.products[:2])
    assert "tick at least one" in said(guest.post(f"curves?id={known}"))


def test_where_all_are_alike_pages_say_so_and_how_the_search_ended(guest: Visitor) -> None:
    known = guest.show(alike_fit())
    page = guest.get(f"model?id={known}").text
    assert "Search: converged; largest slope" in page
    assert "Coefficients" in page
    assert "Types of choosers" not in page
    prices = guest.get(f"prices?id={known}").text
    assert "no types to tell apart" in prices
    assert 'id="sensitivity"' not in prices


def test_far_prices_warn_on_the_page_that_asked(guest: Visitor, choice_fit: ChoiceFit) -> None:
    from dgd.app.warned import listening

    with listening():
        answer = guest.post(f"prices?id={guest.show(choice_fit)}", {"price.all": "1000"})
    assert "extrapolated" in re.findall(r'<p class="warning">(.*?)</p>', answer.text)[0]


def test_the_model_and_its_report_can_be_downloaded(
    guest: Visitor, shaken_fit: dgd.Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shaken_fit.save(tmp_path / "model.dgd")
    known = guest.show(shaken_fit, tmp_path / "model.dgd")
    answer = guest.get(f"file?id={known}")
    assert answer.content == (tmp_path / "model.dgd").read_bytes()
    made = []
    monkeypatch.setattr(
        dgd.Fit, "report", lambda fit: made.append(fit) or SimpleNamespace(html="<p>it")
    )
    answer = guest.post(f"make-report?id={known}")
    assert f'href="report?id={known}"' in answer.text
    report = guest.get(f"report?id={known}")
    assert report.text == "<p>it"
    assert "attachment" in report.headers["content-disposition"]
    assert made == [shaken_fit], "made once"


def test_what_is_downloaded_is_what_was_read(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    """Even where a link to something else has taken its place since."""
    file = guest.desk.folder.path / "model.dgd"
    shaken_fit.save(file)
    known = file.read_bytes()
    go = guest.post("open", {"file": "model.dgd"}).json()["go"]
    secret = guest.desk.folder.path.parent / "secret.dgd"
    secret.write_text("secret")
    file.unlink()
    file.symlink_to(secret)
    assert guest.get(go.replace("model", "file")).content == known


def test_the_start_leads_to_what_is_open(guest: Visitor, shaken_fit: dgd.Fit) -> None:
    known = [guest.show(shaken_fit) for _ in range(7)]
    page = guest.get().text
    assert re.findall(r'href="model\?id=([^"]+)"', page) == known[::-1]
    assert "<summary>2 more</summary>" in page


def test_what_is_not_open_is_said(guest: Visitor) -> None:
    for page in ("model", "forecast", "table", "data", "result", "file"):
        answer = guest.get(f"{page}?id=unknown")
        assert answer.status_code == 422
        assert "is no longer open here" in said(answer)
    assert guest.get("no-such-page").status_code == 404


def test_an_unexpected_failure_is_one_sentence_and_the_app_goes_on(
    guest: Visitor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guest.desk.library, "tables", None)
    answer = guest.get("table?id=x")
    assert answer.status_code == 500
    assert said(answer) == server.UNEXPECTED
    assert "Traceback" not in answer.text
    assert "Traceback" in capsys.readouterr().err
    assert guest.get().status_code == 200


def test_a_form_of_megabytes_is_refused(guest: Visitor) -> None:
    answer = guest.post("open", {"file": "x" * (2 << 20)})
    assert "more than a form of the app sends" in said(answer)
