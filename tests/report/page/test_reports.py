"""Reports: one file, whole and small, with everything a reader was promised."""

import re
from pathlib import Path

import pytest

import dgd
from dgd.baselines import GRU
from dgd.report import Report
from dgd.report.page.parts import Section
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
    "demand_page": ["summary", "prices", "elasticities", "people", "watch", "data"],
}


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


def test_other_fits_have_no_report(drawn: dgd.Simulated) -> None:
    with refused("GRU fit", "DGD"):
        untrained(GRU(), drawn.panel).report()
