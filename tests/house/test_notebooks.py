"""What a notebook shows of a result: short, escaped, and of what is there already."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest

import dgd
from dgd.baselines import LastDayHistory, TrainingHistory
from dgd.diagnostics.checkup import Checkup
from dgd.learning.runs import DIVERGED, REASONS
from support.random_choice import make, offers_table, random_fit
from support.untrained import untrained

LABEL = "</td><script>alert(1)</script>"
UNITS, COHORTS = ("<i>north", "south"), (LABEL, "a & b")
BEHAVIORS = ("<b>click</b>", 'buy" onload="x')
PLAIN = {
    "components": 1,
    "nodes": 3,
    "calendar": "none",
    "summaries": "none",
    "innovations": "none",
}
ALLOWED = {"div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}


class Shown(HTMLParser):
    """What a browser makes of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.rows, self.open = 0, 0
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.rows += tag == "tr"
        self.open += 1
        assert {name for name, _ in attrs} <= {"class", "scope"}

    def handle_endtag(self, tag: str) -> None:
        self.open -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def panel() -> dgd.Panel:
    world = dgd.example_world(units=UNITS, cohorts=COHORTS, behaviors=BEHAVIORS, arrivals=15)
    return dgd.simulate(world, 40, seed=3).panel


@pytest.fixture(scope="module")
def marked_fit(panel: dgd.Panel) -> dgd.Fit:
    made: dgd.Fit = untrained(dgd.DGD(**PLAIN), panel, seeds=[1, 2])
    return made


@pytest.fixture(scope="module")
def result(panel: dgd.Panel, marked_fit: dgd.Fit) -> Callable[[str], Any]:
    """Each result once, under its name."""
    ends = {"train_end": panel.dates[27], "validation_end": panel.dates[34]}
    origin = panel.dates[36]
    table = offers_table().with_columns(pl.col("product").replace({"a": LABEL}))
    makers: dict[str, Callable[[], Any]] = {
        "panel": lambda: panel,
        "exploration": panel.explore,
        "fit": lambda: marked_fit,
        "forecast": lambda: marked_fit.forecast(2, origin=origin),
        "forecast with ranges": lambda: marked_fit.forecast(
            2, origin=origin, levels=[80, 95], paths=20
        ),
        "scenario": lambda: marked_fit.scenario(
            dgd.Change("size", "multiply", 2), 2, origin=origin, paths=0
        ),
        "plan": lambda: marked_fit.plan(9, {BEHAVIORS[0]: 1.0}, horizon=2, starts=2, after=0),
        "backtest": lambda: dgd.backtest(
            panel,
            {LABEL: TrainingHistory(), "last": LastDayHistory()},
            horizons=[1, 3],
            **ends,
            paths=20,
        ),
        "choice fit": lambda: random_fit(make(table)),
        "comparison": lambda: _compared(random_fit(make(table))),
    }
    return cache(lambda name: makers[name]())


def _compared(fit: Any) -> Any:
    return fit.compare(fit.markets.with_prices({LABEL: 2.5}))


RESULTS = {
    "panel": [LABEL, "a & b", "Totals of every cohort", BEHAVIORS[1]],
    "exploration": [BEHAVIORS[0], "needed", "arrivals:"],
    "fit": [LABEL, "Training", "Response types, seed", "validation:"],
    "forecast": [*BEHAVIORS, "Expected totals"],
    "forecast with ranges": [*BEHAVIORS, "Expected totals and their 80% ranges", "80% ranges of"],
    "scenario": [*BEHAVIORS, "The difference and its causes", "planned"],
    "plan": [*BEHAVIORS, "What it brings", "Effort of every date", "even"],
    "backtest": [LABEL, "Scores, lower is better", "joint NLL", "80% covers", "ahead: "],
    "choice fit": ["Types of choosers, seed", "price sensitivity"],
    "comparison": [LABEL, "All markets together", "surplus"],
}
"""What each must say."""
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name == "plan" else name for name in RESULTS]
"""A plan is looked for by a solver, which takes its time."""


@pytest.mark.parametrize("name", NAMES)
def test_a_result_shows_its_words_and_its_labels_as_text(
    result: Callable[[str], Any], name: str
) -> None:
    shown = Shown(result(name)._repr_html_())
    assert shown.tags <= ALLOWED
    assert shown.open == 0, "every element is closed"
    for word in RESULTS[name]:
        assert word in shown.text
    assert shown.rows < 60, "it fits into a cell of a notebook"


@pytest.mark.parametrize("name", NAMES)
def test_the_title_is_what_the_prompt_says(result: Callable[[str], Any], name: str) -> None:
    found = result(name)
    said = repr(found).splitlines()[0]
    assert len(said) < 400
    if name != "exploration":
        assert Shown(found._repr_html_()).texts[0] == said


def test_a_checkup_shows_its_verdict_first(monkeypatch: pytest.MonkeyPatch) -> None:
    worst = pl.DataFrame({"check": [LABEL], "found": [0.25], "bound": [1.0]})
    monkeypatch.setattr(Checkup, "summary", lambda _: worst)
    nodes = dgd.diagnostics.NodeCheck(worst, True, "7 nodes are enough.")
    found = Checkup(nodes, {}, pl.DataFrame({"warning": ["<u>read me</u>"]}))
    shown = Shown(found._repr_html_())
    assert shown.tags <= ALLOWED
    assert shown.texts[1].startswith("7 nodes are enough. All errors")
    for word in (LABEL, "0.2500", "<u>read me</u>", "Read with care"):
        assert word in shown.text
    assert repr(found) == f"Checkup({found.verdict})"


@pytest.mark.usefixtures("no_work")
def test_a_fit_shows_itself_without_forecasting(
    marked_fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reached(*_: object) -> None:
        pytest.fail("a look at a fit must cost nothing")

    for name in ("predict", "past", "_drawn"):
        monkeypatch.setattr(dgd.Fit, name, reached)
    for name in ("scatter", "hindsight"):
        monkeypatch.setattr(dgd.Fit, name, property(reached))
    assert "Dynamics" in marked_fit._repr_html_()


def test_ranges_stand_beside_their_numbers(result: Callable[[str], Any]) -> None:
    found = result("forecast with ranges")
    totals = found.totals(kind="polars").row(0, named=True)
    cells = Shown(found._repr_html_()).texts
    first = cells[cells.index(str(found.dates[0])) + 1]
    shown = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", first)]
    expected = [totals[name] for name in ("expected", "low_80", "high_80")]
    assert shown == pytest.approx([x for x in expected if x is not None], rel=0.01, abs=0.05)


def test_a_diverged_seed_is_told_first(marked_fit: dgd.Fit) -> None:
    runs = [replace(run, reason=REASONS[DIVERGED]) for run in marked_fit.runs]
    shown = Shown(replace(marked_fit, runs=tuple(runs))._repr_html_())
    assert shown.texts[1] == "Training diverged for seeds [1, 2]."
