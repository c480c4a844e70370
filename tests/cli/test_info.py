"""`dgd info`: what any model file holds, for people and for machines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dgd
from dgd.baselines import GRU, DeepAR
from support.random_choice import SIZES, make, random_fit
from support.shell import assert_refused, done, run
from support.shop import Shop
from support.untrained import untrained

KINDS: dict[str, Callable[[dgd.Panel], Any]] = {
    "fit": lambda panel: untrained(dgd.DGD(), panel),
    "choice fit": lambda _: random_fit(make(sizes=SIZES)),
    "DeepAR fit": lambda panel: untrained(DeepAR(widths=(2,)), panel),
    "GRU fit": lambda panel: untrained(GRU(), panel),
}


@pytest.fixture(scope="module")
def files(drawn: dgd.Simulated, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of every kind of fit."""
    folder = tmp_path_factory.mktemp("kinds")
    paths = {kind: folder / f"{kind}.dgd" for kind in KINDS}
    for kind, made in KINDS.items():
        made(drawn.panel).save(paths[kind])
    return paths


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_says_what_it_holds(files: dict[str, Path], kind: str) -> None:
    shown = done("info", files[kind]).stdout
    assert shown.startswith(f"{kind}: {'Markets(' if kind == 'choice fit' else 'Panel('}")
    assert "settings: " in shown
    assert "Training" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_any_file_is_told_as_json(files: dict[str, Path], kind: str) -> None:
    told = json.loads(done("info", files[kind], "--json").stdout)
    assert told["holds"] == kind
    assert [row["seed"] for row in told["training"]] == [1, 2]
    assert told == json.loads(json.dumps(dgd.load(files[kind]).payload(), default=str))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fit"])
def test_a_command_for_dgd_refuses_other_fits(files: dict[str, Path], kind: str) -> None:
    result = run("forecast", files[kind])
    assert_refused(result, f"holds a {kind}", "this needs a fit", "name another file")


@pytest.mark.parametrize("kind", ["DeepAR fit", "GRU fit"])
def test_opponents_have_nothing_to_check(files: dict[str, Path], kind: str) -> None:
    result = run("check", files[kind])
    assert_refused(result, f"holds a {kind}", "this needs a fit or a choice fit", "another file")


def test_choice_commands_refuse_other_fits(files: dict[str, Path]) -> None:
    for command in ("predict", "elasticities"):
        result = run("choice", command, files["fit"])
        assert_refused(result, "holds a fit", "this needs a choice fit")


def test_info_tells_everything_as_json(shop: Shop) -> None:
    facts = json.loads(done("info", shop.model, "--json").stdout)
    keys = "holds panel units cohorts behaviors ranges settings training dynamics"
    assert set(facts) == {*keys.split(), "response types"}
    assert facts["ranges"] == {
        "warm-up": "none",
        "training": "2022-01-03 to 2022-01-30",
        "validation": "2022-01-31 to 2022-02-06",
        "test": "2022-02-07 to 2022-02-11",
    }
    assert facts["settings"]["epochs"] == 5
    assert facts["training"] == shop.fitted["seeds"]
    assert len(facts["response types"]) == 3 * facts["settings"]["components"]


def test_info_is_readable_for_a_person(shop: Shop) -> None:
    shown = done("info", shop.model).stdout
    for word in ("40 days", "training: 2022-01-03", "Response types", "memory retention"):
        assert word in shown
