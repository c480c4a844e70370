"""A model file is whole or absent, gives back the same fit, and never runs code."""

import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as to_bytes
from safetensors.numpy import save_file

import dgd
from dgd.files.atomic import write_atomically
from dgd.files.tensors import FORMAT
from dgd.files.tensors import sealed as seal
from dgd.runtime import computing
from dgd.storage import load_kind
from support.random_choice import make as make_markets
from support.random_choice import random_fit


@pytest.fixture(scope="module")
def fit(uncorrected: dgd.Fit) -> dgd.Fit:
    """One that keeps an anchor in its file too."""
    return uncorrected


@pytest.fixture(scope="module")
def saved(fit: dgd.Fit, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a model file."""
    path = tmp_path_factory.mktemp("saved") / "model.dgd"
    fit.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def loaded(saved: bytes, tmp_path_factory: pytest.TempPathFactory) -> dgd.Fit:
    path = tmp_path_factory.mktemp("loaded") / "model.dgd"
    path.write_bytes(saved)
    return dgd.load(path)


def facts_of(content: bytes) -> dict[str, Any]:
    """dgd's own facts in the header of a file."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])["__metadata__"]["dgd"]
    facts: dict[str, Any] = json.loads(header.partition("\n")[2])
    return facts


def with_facts(content: bytes, **changes: object) -> bytes:
    """`content` with some of dgd's own facts in the header replaced, and its digest made right."""
    return sealed_file({**facts_of(content), **changes}, tensors_of(content))


def sealed_file(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """A whole file with a digest that matches: what someone with the source could craft."""
    return to_bytes(tensors, {"dgd": seal(json.dumps(facts), tensors)})


def assert_refused(path: Path, content: bytes, *words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(dgd.ModelFileError) as refusal:
        dgd.load(path)
    message = str(refusal.value)
    assert str(path) in message
    assert message.endswith(".")
    assert "\n" not in message
    for word in words:
        assert word in message, message


def test_forecasts_are_the_same_to_the_last_bit(fit: dgd.Fit, loaded: dgd.Fit) -> None:
    """The same program runs on the same numbers."""
    for origin in fit.panel.dates[[10, 36]]:
        before, after = fit.forecast(3, origin=origin), loaded.forecast(3, origin=origin)
        assert before.arrivals.tobytes() == after.arrivals.tobytes()
        assert before.patterns.tobytes() == after.patterns.tobytes()
        assert before.to_frame().equals(after.to_frame())


@pytest.mark.parametrize("table", ["summary", "history", "population", "dynamics"])
def test_tables_are_the_same(fit: dgd.Fit, loaded: dgd.Fit, table: str) -> None:
    before, after = getattr(fit, table)(), getattr(loaded, table)()
    assert isinstance(after, pl.DataFrame)
    assert before.equals(after)


def test_panel_settings_and_ranges_are_the_same(fit: dgd.Fit, loaded: dgd.Fit) -> None:
    assert loaded.settings == fit.settings
    assert loaded.split == fit.split
    assert loaded.panel.to_frame().equals(fit.panel.to_frame())
    for grid in ("patterns", "size", "effort", "features", "known_dates"):
        assert np.array_equal(getattr(loaded.panel, grid), getattr(fit.panel, grid))
    for fact in ("units", "cohorts", "behaviors", "period", "sized", "has_effort", "columns"):
        assert getattr(loaded.panel, fact) == getattr(fit.panel, fact)


def test_saving_what_was_loaded_gives_the_same_file(
    saved: bytes, loaded: dgd.Fit, tmp_path: Path
) -> None:
    loaded.save(tmp_path / "again.dgd")
    assert (tmp_path / "again.dgd").read_bytes() == saved


def test_a_failing_write_leaves_the_old_file_and_nothing_beside_it(
    fit: dgd.Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.dgd"
    path.write_bytes(b"what stood here before")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    for step in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="the disk is full"):
                fit.save(path)
        assert path.read_bytes() == b"what stood here before"
        assert [entry.name for entry in tmp_path.iterdir()] == ["model.dgd"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "model.dgd", b"content")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_readable_as_the_users_mask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "model.dgd", b"content")
    finally:
        os.umask(before)
    assert (tmp_path / "model.dgd").stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_is_named(fit: dgd.Fit, tmp_path: Path) -> None:
    with pytest.raises(dgd.InputError, match=r"nowhere.* does not exist; make it first"):
        fit.save(tmp_path / "nowhere" / "model.dgd")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(dgd.ModelFileError, match=r"absent\.dgd.* does not exist; check the path"):
        dgd.load(tmp_path / "absent.dgd")


def test_a_file_cut_anywhere_is_refused(saved: bytes, tmp_path: Path) -> None:
    header = 8 + struct.unpack("<Q", saved[:8])[0]
    lengths = {0, 1, 7, 8, 9, header - 1, header, header + 1, len(saved) - 1}
    lengths |= {int(share * len(saved)) for share in np.linspace(0, 0.99, 40)}
    for length in sorted(lengths):
        assert_refused(tmp_path / "cut.dgd", saved[:length], "only a part of one", "save it again")


@pytest.mark.parametrize(
    "content",
    [np.random.default_rng(1).bytes(4096), b"\0" * 64, b"date,count\n2022-01-01,3\n", b"PK\3\4"],
    ids=["random", "zeros", "csv", "zip"],
)
def test_a_foreign_file_is_refused(content: bytes, tmp_path: Path) -> None:
    assert_refused(tmp_path / "foreign.dgd", content, "not a dgd model")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"dgd": "3"}, {"dgd": "not json"}])
def test_tensors_of_another_program_are_refused(metadata: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    save_file({"weight": np.zeros(3)}, path, metadata)
    assert_refused(path, path.read_bytes(), "another program", "check the path")


def test_a_newer_format_is_refused_with_both_numbers(saved: bytes, tmp_path: Path) -> None:
    newer = with_facts(saved, format=FORMAT + 1)
    words = ["newer dgd", f"format {FORMAT + 1}", f"reads {FORMAT}", "upgrade dgd"]
    assert_refused(tmp_path / "newer.dgd", newer, *words)


def test_an_older_format_is_refused_with_both_numbers(saved: bytes, tmp_path: Path) -> None:
    older = with_facts(saved, format=FORMAT - 1)
    words = ["older dgd", f"format {FORMAT - 1}", f"reads {FORMAT}", "fit the model again"]
    assert_refused(tmp_path / "older.dgd", older, *words)


def test_an_unknown_kind_of_fit_is_refused(saved: bytes, tmp_path: Path) -> None:
    other = with_facts(saved, holds="crystal ball")
    assert_refused(tmp_path / "other.dgd", other, "holds a crystal ball", "upgrade dgd")


def test_a_file_of_another_kind_of_fit_is_refused_by_name(saved: bytes, tmp_path: Path) -> None:
    path, choice = tmp_path / "model.dgd", tmp_path / "choice.dgd"
    path.write_bytes(saved)
    random_fit(make_markets()).save(choice)
    assert load_kind(path, dgd.Fit).seeds == (1, 2)
    with pytest.raises(dgd.ModelFileError, match=r"holds a choice fit, and this needs a fit;"):
        load_kind(choice, dgd.Fit)
    with pytest.raises(dgd.ModelFileError, match=r"holds a fit, and this needs a choice fit;"):
        load_kind(path, dgd.choice.ChoiceFit)


def test_an_unchanged_header_still_loads(saved: bytes, tmp_path: Path) -> None:
    """The edits of these tests alone do not make a file unreadable."""
    path = tmp_path / "same.dgd"
    path.write_bytes(with_facts(saved))
    assert dgd.load(path).seeds == (1, 2)


@pytest.mark.parametrize("lost", ["panel/indices", "features/rates", "seed 1/train_objective"])
def test_a_file_without_one_of_its_tensors_is_refused(
    saved: bytes, tmp_path: Path, lost: str
) -> None:
    tensors = {("lost" if n == lost else n): value for n, value in tensors_of(saved).items()}
    words = ["not a complete dgd model", lost, "save it again"]
    assert_refused(tmp_path / "lost.dgd", sealed_file(facts_of(saved), tensors), *words)


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"components": 0}},
        {"settings": {"a setting from elsewhere": 1}},
        {"split": {}},
        {"panel": {}},
        {"runs": [{"seed": 9}]},
    ],
    ids=str,
)
def test_facts_that_do_not_fit_together_are_refused(
    saved: bytes, tmp_path: Path, changes: Any
) -> None:
    path = tmp_path / "wrong.dgd"
    assert_refused(path, with_facts(saved, **changes), "not a complete dgd model")


def test_a_panel_smaller_than_its_counts_is_refused(saved: bytes, tmp_path: Path) -> None:
    panel = facts_of(saved)["panel"]
    small = with_facts(saved, panel={**panel, "shape": [1, *panel["shape"][1:]]})
    assert_refused(tmp_path / "small.dgd", small, "not a complete dgd model")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("features/known_scaling/center", 1e300),
        ("features/known_scaling/scale", 1e-320),
        ("features/first_arrivals", 1e300),
        ("features/first_behaviors", 1e300),
    ],
)
def test_numbers_that_no_panel_leads_to_are_refused(
    saved: bytes, tmp_path: Path, name: str, number: float
) -> None:
    tensors = tensors_of(saved)
    tensors[name] = np.full_like(tensors[name], number)
    content = sealed_file(facts_of(saved), tensors)
    assert_refused(tmp_path / "far.dgd", content, "not a complete dgd model", name)


def test_a_state_that_carries_nothing_over_is_refused(saved: bytes, tmp_path: Path) -> None:
    """A retention of exactly 0 has no logarithm, and forecasts would be NaN."""
    tensors = tensors_of(saved)
    name = next(name for name in sorted(tensors) if name.endswith("raw_retention"))
    tensors[name] = np.full_like(tensors[name], -1000.0)
    content = sealed_file(facts_of(saved), tensors)
    assert_refused(tmp_path / "still.dgd", content, "not a complete dgd model", name)


@pytest.mark.parametrize(("name", "number"), [("usual", 0.0), ("saturation", -1.0)])
def test_a_response_to_effort_that_cannot_be_is_refused(
    saved: bytes, tmp_path: Path, name: str, number: float
) -> None:
    tensors = tensors_of(saved)
    tensors[f"seed 2/effort.{name}"] = np.full(3, number)
    content = sealed_file(facts_of(saved), tensors)
    assert_refused(tmp_path / "odd.dgd", content, "not a complete dgd model", f"effort.{name}")


def test_elasticities_of_a_model_without_them_are_refused(saved: bytes, tmp_path: Path) -> None:
    settings = {**facts_of(saved)["settings"], "effort_response": "proportional"}
    content = with_facts(saved, settings=settings)
    assert_refused(tmp_path / "both.dgd", content, "effort_response", "elasticities")


def test_large_cohorts_are_loaded_again(fit: dgd.Fit, tmp_path: Path) -> None:
    with computing():
        crowds = [
            eqx.tree_at(lambda c: c.reference.size, crowd, crowd.reference.size * 1e9)
            for crowd in fit.crowds
        ]
    fit.with_crowds(crowds).save(tmp_path / "large.dgd")
    assert float(dgd.load(tmp_path / "large.dgd").crowds[0].reference.size.max()) > 1e9


@pytest.mark.parametrize(
    ("name", "value"),
    [("available", True), ("available", False), ("price", np.nan), ("attributes", 1e300)],
)
def test_offers_that_no_market_has_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "choice.dgd"
    random_fit(make_markets()).save(path)
    content = path.read_bytes()
    tensors = tensors_of(content)
    tensors[f"markets/{name}"] = np.full_like(tensors[f"markets/{name}"], value)
    words = ["not a complete dgd model", "markets/"]
    assert_refused(path, sealed_file(facts_of(content), tensors), *words)


def test_choice_columns_that_are_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "choice.dgd"
    random_fit(make_markets()).save(path)
    content = path.read_bytes()
    markets = facts_of(content)["markets"]
    columns = {**markets["columns"], "price": 5}
    changed = with_facts(content, markets={**markets, "columns": columns})
    assert_refused(path, changed, "columns are not all texts")


@pytest.mark.parametrize(
    "units", [["north", 7], [2**64, 5], [-1, 2**63], [True, False], "ab", [None, "a"]]
)
def test_labels_that_no_column_holds_are_refused(saved: bytes, tmp_path: Path, units: Any) -> None:
    changed = with_facts(saved, panel={**facts_of(saved)["panel"], "units": units})
    assert_refused(tmp_path / "mixed.dgd", changed, "units is not a list of labels")


@pytest.mark.parametrize("written", [float("inf"), float("nan"), None, [4], "four"])
def test_a_format_that_is_no_number_is_refused(saved: bytes, tmp_path: Path, written: Any) -> None:
    assert_refused(tmp_path / "odd.dgd", with_facts(saved, format=written), "another program")


class Trap:
    """Unpickling this makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


@pytest.mark.parametrize("protocol", [0, 4])
def test_code_in_a_file_is_never_run(tmp_path: Path, protocol: int) -> None:
    marker = tmp_path / "the code ran"
    trap = pickle.dumps(Trap(marker), protocol)
    assert_refused(tmp_path / "trap.dgd", trap, "not a dgd model")
    assert not marker.exists()
    pickle.loads(trap)
    assert marker.exists(), "the trap itself works"
