"""Labels come from other people's tables: in a chart they are text and nothing else."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest
import vl_convert

import dgd
from dgd.baselines import LastDayHistory
from dgd.report import (
    backtest_chart,
    check_chart,
    co_occurrence_chart,
    counts_chart,
    demand_curve_chart,
    density_chart,
    elasticity_chart,
    exploration_chart,
    feedback_chart,
    forecast_chart,
    forecast_parts_chart,
    kept_scenarios_chart,
    plan_chart,
    response_curve_chart,
    save_chart,
    scenario_chart,
    sensitivity_chart,
    types_chart,
)
from dgd.report.charts.drawable import drawable
from dgd.report.charts.page import ACTIONS, json_in_script
from dgd.scenarios import ScenarioComparison
from support.made_up_checkup import checkup
from support.random_choice import make, offers_table, random_fit
from support.relabelled import relabelled
from support.shaken import shaken
from support.untrained import untrained

SCRIPT = "</script><script>alert(1)</script>"
TEXTS = [
    SCRIPT,
    "a.b[0]['c']",
    'q"uo\\te\nline',
    "https://example.org/?a=1&b=2",
    "datum.cohort + ${1}`",
    "<!--<script>",
]
"""Labels with a meaning in HTML, in JavaScript, in Vega's field paths or in its expressions."""
UNDRAWABLE = ["end\x00", "\x1b[31mred", "two\u2028lines"]
"""Labels with characters that no picture can hold."""


class Page(HTMLParser):
    """What a browser makes of a page: its scripts, the rules it sets, and its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.metas: list[dict[str, str | None]] = []
        self.title = ""
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        elif tag == "meta":
            self.metas.append(dict(attrs))

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = attributes, text + data
        elif self.inside == "title":
            self.title += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    @property
    def spec(self) -> Any:
        (text,) = (text for attributes, text in self.scripts if attributes.get("id") == "spec")
        return json.loads(text)


def page_of(chart: alt.TopLevelMixin, folder: Path) -> Page:
    save_chart(chart, folder / "chart.html")
    return Page((folder / "chart.html").read_text(encoding="utf-8"))


def texts_in(spec: Any) -> set[str]:
    """Every text of a chart, wherever it stands."""
    if isinstance(spec, dict):
        return set().union(*map(texts_in, spec.values()), spec)
    if isinstance(spec, list):
        return set().union(*map(texts_in, spec))
    return {spec} if isinstance(spec, str) else set()


def fields_of(spec: Any) -> set[str]:
    """The columns that a chart draws, as its encodings name them."""
    if isinstance(spec, dict):
        below = set().union(*map(fields_of, spec.values()))
        return below | {value for key, value in spec.items() if key == "field"}
    return set().union(*map(fields_of, spec)) if isinstance(spec, list) else set()


def drawn_texts(spec: dict[str, Any]) -> set[str]:
    """The words that stand in the picture."""
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return {unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)}


def fit_with(labels: list[str], drawn: dgd.Simulated) -> dgd.Fit:
    """A fit whose three cohorts and three behaviours all bear `labels`."""
    return shaken(untrained(dgd.DGD(), relabelled(drawn, labels, labels)))


def with_effort(fit: dgd.Fit) -> dgd.Fit:
    """The same fit, its panel made with an effort that was always 1."""
    return replace(fit, panel=replace(fit.panel, has_effort=True))


def named_forecasters(fit: dgd.Fit) -> dgd.Backtest:
    """A backtest whose forecasters bear the names of the cohorts."""
    ends = {"train_end": fit.panel.dates[27], "validation_end": fit.panel.dates[34]}
    named = {str(label): LastDayHistory() for label in fit.panel.cohorts}
    return dgd.backtest(fit.panel, named, horizons=[1], paths=10, **ends)


def named_scenarios(fit: dgd.Fit) -> dict[str, ScenarioComparison]:
    """Scenarios that bear the names of the cohorts."""
    found = fit.scenario(dgd.Change("size", "multiply", 2.0), 2, paths=0)
    return {str(label): found for label in fit.panel.cohorts}


def choice_fit_with(labels: list[str]) -> dgd.choice.ChoiceFit:
    """A fit of demand whose products, cohorts and columns bear `labels`."""
    products = dict(zip("abcd", [*labels, "last"], strict=True))
    table = offers_table().with_columns(pl.col("product").replace_strict(products))
    columns = {name: f"{name} of {labels[0]}" for name in ("market", "product", "price")}
    sizes = {labels[0]: 2.0, labels[1]: 5.0}
    return random_fit(make(table.rename(columns), sizes=sizes, **columns))


CHARTS: dict[str, Callable[[dgd.Fit], alt.TopLevelMixin]] = {
    "density": density_chart,
    "types": types_chart,
    "feedback": feedback_chart,
    "co-occurrence": co_occurrence_chart,
    "counts": counts_chart,
    "exploration": lambda fit: exploration_chart(fit.panel.explore()),
    "forecast": lambda fit: forecast_chart(fit.forecast(2)),
    "scenario": lambda fit: scenario_chart(
        fit.scenario(dgd.Change("size", "multiply", 2.0), 2, paths=0)
    ),
    "forecast parts": lambda fit: forecast_parts_chart(fit.forecast(2), "cohort"),
    "kept scenarios": lambda fit: kept_scenarios_chart(named_scenarios(fit)),
    "plan": lambda fit: plan_chart(
        with_effort(fit).plan(12, "arrivals", horizon=1, starts=1, after=0)
    ),
    "response curve": lambda fit: response_curve_chart(with_effort(fit), [0.5, 1.0], 1),
    "backtest": lambda fit: backtest_chart(named_forecasters(fit)),
}
DEMAND_CHARTS: dict[str, Callable[[dgd.choice.ChoiceFit], alt.TopLevelMixin]] = {
    "demand": demand_curve_chart,
    "sensitivity": sensitivity_chart,
    "elasticity": elasticity_chart,
}


@pytest.mark.slow
@pytest.mark.parametrize("labels", [TEXTS[:3], TEXTS[3:]], ids=["first", "second"])
def test_every_chart_keeps_labels_as_text(
    labels: list[str], drawn: dgd.Simulated, tmp_path: Path
) -> None:
    fit, demand = fit_with(labels, drawn), choice_fit_with(labels)
    charts = {name: chart(fit) for name, chart in CHARTS.items()}
    charts |= {name: chart(demand) for name, chart in DEMAND_CHARTS.items()}
    for name, chart in charts.items():
        page = page_of(chart, tmp_path)
        expected = labels[:2] if name == "sensitivity" else labels
        assert [attributes.get("type") for attributes, _ in page.scripts] == [
            None,
            "application/json",
            None,
        ], name
        assert set(expected) <= texts_in(page.spec), name
        assert set(expected) <= drawn_texts(page.spec), name
        named = {field for field in fields_of(page.spec) if not re.fullmatch(r"[a-z ]+", field)}
        assert not named, "no label is the name of a column, which Vega reads as a path"


@pytest.mark.slow
def test_characters_without_a_picture_are_written_out(drawn: dgd.Simulated, tmp_path: Path) -> None:
    fit, demand = fit_with(UNDRAWABLE, drawn), choice_fit_with(UNDRAWABLE)
    charts = {name: chart(fit) for name, chart in CHARTS.items()}
    charts |= {name: chart(demand) for name, chart in DEMAND_CHARTS.items()}
    for name, chart in charts.items():
        expected = {r"end\x00", r"\x1b[31mred", r"two\u2028lines"}
        expected -= {r"two\u2028lines"} if name == "sensitivity" else set()
        assert expected <= drawn_texts(page_of(chart, tmp_path).spec), name
    save_chart(charts["counts"], tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("label", [*TEXTS, r"\x1b[31mred"])
def test_labels_in_warnings_are_text(label: str, tmp_path: Path) -> None:
    given = label.replace(r"\x1b", "\x1b")
    made = checkup((1, "components coincide", f"cohort {given}", 0.1, "fit with fewer"))
    page = page_of(check_chart(made), tmp_path)
    assert len(page.scripts) == 3
    in_a_line = " ".join(label.split())
    assert any(in_a_line in text for text in drawn_texts(page.spec))
    assert all(re.fullmatch(r"[a-z ]+", field) for field in fields_of(page.spec))


def titled(title: str) -> alt.Chart:
    table = pl.DataFrame({"x": [1.0, float("nan")]})
    return alt.Chart(table, title=title).mark_point().encode(x=alt.X("x:Q", title=title))


def test_the_title_of_a_page_is_text(tmp_path: Path) -> None:
    page = page_of(titled(f"</title>{SCRIPT}"), tmp_path)
    assert page.title == f"</title>{SCRIPT}"
    assert len(page.scripts) == 3
    assert f"</title>{SCRIPT}" in drawn_texts(page.spec)


def test_a_name_of_a_column_is_no_path_and_no_markup(tmp_path: Path) -> None:
    table = pl.DataFrame({SCRIPT: [1.0, 2.0]})
    page = page_of(
        alt.Chart(table).mark_point().encode(x=alt.X(SCRIPT, type="quantitative")), tmp_path
    )
    assert len(page.scripts) == 3
    assert SCRIPT in texts_in(page.spec)


def test_a_browser_is_told_to_run_the_pages_own_scripts_only(tmp_path: Path) -> None:
    page = page_of(titled("title"), tmp_path)
    (policy,) = (
        given["content"] or ""
        for given in page.metas
        if given.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    own = [script for attributes, script in page.scripts if not attributes]
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in own]
    assert rules["script-src"].split() == [*(f"'sha256-{x}'" for x in digests), "'unsafe-eval'"]
    text = (tmp_path / "chart.html").read_bytes().decode()
    assert not {"\r", "\0"} & set(text), "a browser would read other bytes than those digested"


def test_the_menu_of_a_chart_writes_no_labels_as_html_and_opens_no_site() -> None:
    assert ACTIONS == {"export": True, "source": False, "compiled": False, "editor": False}


def test_numbers_that_are_not_finite_leave_the_page_readable(tmp_path: Path) -> None:
    (rows,) = page_of(titled("title"), tmp_path).spec["datasets"].values()
    assert rows == [{"x": 1.0}, {"x": None}]


def test_json_in_a_script_means_the_same_and_cannot_end_it() -> None:
    value = {"label": [*TEXTS, *UNDRAWABLE, "\u2029&amp;", "\ud800"]}
    text = json_in_script(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value


def test_drawable_texts_are_left_as_they_are() -> None:
    spec = {"a": [*TEXTS, 1, 2.5, None, True, "日本 é 👩‍👩‍👧"]}
    assert drawable(spec) == spec
