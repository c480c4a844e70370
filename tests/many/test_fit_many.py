"""Many panels on this machine: outcomes, files, numbers, one compilation, and going on."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.files.tensors import read_tensors
from dgd.many import local_engine
from dgd.many.asks import MANY
from support.many_panels import ASKED, LIGHT, panel, unreadable
from support.small_counts import panel_of

SHORT = panel_of(10)


class Fitted(NamedTuple):
    """A call of fit_many that had everything to do, and what its workers logged."""

    many: dgd.ManyFits
    folder: Path
    told: list[tuple[str, str, int, int]]
    log: str


def panels() -> dict[str, dgd.Panel]:
    return {f"shop {seed}": panel(seed) for seed in (1, 2, 3)}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fitted]:
    """Two processes, three panels of one shape, two that fail, and no program compiled before."""
    folder, told = tmp_path_factory.mktemp("models"), []
    asked = {**panels(), "short": SHORT, "unreadable": unreadable}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as log:
        patch.setenv("DGD_CACHE", str(tmp_path_factory.mktemp("programs")))
        patch.setenv("JAX_LOGGING_LEVEL", "DEBUG")
        before = os.dup(2)
        sys.stderr.flush()
        os.dup2(log.fileno(), 2)
        try:
            many = dgd.fit_many(
                asked, LIGHT, **ASKED, folder=folder, processes=2,
                progress=lambda *now: told.append(now),
            )  # fmt: skip
        finally:
            os.dup2(before, 2)
            os.close(before)
        log.seek(0)
        patch.delenv("JAX_LOGGING_LEVEL")
        yield Fitted(many, folder, told, log.read().decode())


def test_every_panel_has_a_row_with_what_became_of_it(fitted: Fitted) -> None:
    table = fitted.many.to_frame("polars")
    assert table["name"].to_list() == ["shop 1", "shop 2", "shop 3", "short", "unreadable"]
    assert table["state"].to_list() == ["fitted"] * 3 + ["failed"] * 2
    assert table["objective"].is_null().to_list() == [False] * 3 + [True] * 2
    assert (table["seconds"] >= 0).all()
    assert all(Path(file).exists() for file in table["file"].head(3))
    assert table["failure"].head(3).to_list() == [None] * 3
    assert fitted.many.failures == {
        "short": "train_end 2024-01-14 is not a day of the panel, which runs from 2024-01-01 to "
        "2024-01-10; choose one in that range.",
        "unreadable": "its panel could not be made (OSError: the disk is gone).",
    }
    assert repr(fitted.many) == "ManyFits(5 panels: 3 fitted, 0 kept, 2 failed)"


def test_progress_is_told_of_every_panel_once(fitted: Fitted) -> None:
    assert [done for _, _, done, _ in fitted.told] == [1, 2, 3, 4, 5]
    assert {name: state for name, state, _, _ in fitted.told} == {
        one.name: one.state for one in fitted.many.outcomes
    }
    assert {everything for *_, everything in fitted.told} == {5}


def test_numbers_are_those_of_a_fit_by_itself_bit_by_bit(fitted: Fitted, tmp_path: Path) -> None:
    for name, given in panels().items():
        alone = LIGHT.fit(given, **ASKED)
        alone.save(tmp_path / "alone.dgd")
        _, facts, tensors = read_tensors(tmp_path / "alone.dgd")
        (file,) = [one.file for one in fitted.many.outcomes if one.name == name]
        assert file is not None
        _, many_facts, many_tensors = read_tensors(file)
        assert many_facts.pop(MANY)["name"] == name
        assert many_facts == facts
        assert many_tensors.keys() == tensors.keys()
        for key, tensor in tensors.items():
            assert np.array_equal(many_tensors[key], tensor, equal_nan=True), key


def test_panels_of_one_shape_compile_once(fitted: Fitted) -> None:
    """Of both processes together, every program was missing from the cache once."""
    missed = re.findall(r"COMPILATION CACHE MISS for .* with key '(.+)'", fitted.log)
    found = re.findall(r"compilation cache hit for .* with key '(.+)'", fitted.log)
    assert missed
    assert len(missed) == len(set(missed))
    assert set(missed) <= set(found), "the second process took what the first had compiled"


def test_fits_are_read_by_name(fitted: Fitted) -> None:
    assert list(fitted.many) == ["shop 1", "shop 2", "shop 3"]
    assert len(fitted.many) == 3
    fit = fitted.many["shop 2"]
    assert isinstance(fit, dgd.Fit)
    assert np.array_equal(fit.panel.arrivals, panel(2).arrivals)
    with pytest.raises(dgd.InputError, match='no fit of panel "short": train_end 2024-01-14'):
        fitted.many["short"]
    with pytest.raises(KeyError):
        fitted.many["elsewhere"]


def test_a_notebook_shows_the_table(fitted: Fitted) -> None:
    shown = fitted.many._repr_html_()
    assert "3 fitted, 0 kept, 2 failed" in shown
    assert "There is no fit of short, unreadable." in shown


@pytest.fixture
def only_reading(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of panels that a process would have been started for."""
    begun: list[str] = []

    class Idle(local_engine.WorkerProcess):
        def _running(self) -> None:
            begun.append("begun")

    monkeypatch.setattr(local_engine, "WorkerProcess", Idle)
    return begun


def states(many: dgd.ManyFits) -> dict[str, str]:
    return {one.name: one.state for one in many.outcomes}


def test_finished_fits_are_not_done_again(fitted: Fitted, only_reading: list[str]) -> None:
    again = dgd.fit_many(panels(), LIGHT, **ASKED, folder=fitted.folder)
    assert set(states(again).values()) == {"kept"}
    assert not only_reading
    before = fitted.many.to_frame("polars").head(3)
    kept = again.to_frame("polars")
    assert kept.select("name", "objective", "file").equals(
        before.select("name", "objective", "file")
    )


def another_count(given: dgd.Panel) -> dgd.Panel:
    table = given.to_frame("polars")
    first = pl.int_range(pl.len()) == 0
    changed = table.with_columns(pl.when(first).then(99).otherwise("count").alias("count"))
    return dgd.Panel.from_counts(changed, behaviors=given.behaviors)


CHANGED = {
    "a count": ({"shop 1": another_count(panel(1))}, LIGHT, {}),
    "a setting": ({"shop 1": panel(1)}, dgd.DGD(**{**LIGHT.as_dict(), "dispersion": 40.0}), {}),
    "the days": ({"shop 1": panel(1)}, LIGHT, {"validation_end": "2024-01-20"}),
    "the warm-up": ({"shop 1": panel(1)}, LIGHT, {"warmup_end": "2024-01-05"}),
    "the seeds": ({"shop 1": panel(1)}, LIGHT, {"seeds": [2]}),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_fit_of_anything_else_is_done_anew(
    what: str, fitted: Fitted, only_reading: list[str]
) -> None:
    given, settings, more = CHANGED[what]
    dgd.fit_many(given, settings, **{**ASKED, **more}, folder=fitted.folder)
    assert only_reading == ["begun"]


def test_a_file_that_is_not_whole_never_counts(
    fitted: Fitted, only_reading: list[str], tmp_path: Path
) -> None:
    (whole,) = [Path(one.file or "") for one in fitted.many.outcomes if one.name == "shop 1"]
    (tmp_path / whole.name).write_bytes(whole.read_bytes()[:-10])
    dgd.fit_many({"shop 1": panel(1)}, LIGHT, **ASKED, folder=tmp_path)
    assert only_reading == ["begun"]


def test_a_model_that_was_saved_by_hand_is_no_finished_fit(
    fitted: Fitted, only_reading: list[str], tmp_path: Path
) -> None:
    (file,) = [Path(one.file or "") for one in fitted.many.outcomes if one.name == "shop 1"]
    dgd.load(file).save(tmp_path / file.name)
    dgd.fit_many({"shop 1": panel(1)}, LIGHT, **ASKED, folder=tmp_path)
    assert only_reading == ["begun"]


def test_panels_are_made_one_at_a_time_and_when_their_turn_comes(
    fitted: Fitted, only_reading: list[str]
) -> None:
    made: list[str] = []

    def making(seed: int) -> dgd.Panel:
        made.append(f"shop {seed}")
        return panel(seed)

    makers = {f"shop {seed}": (lambda seed=seed: making(seed)) for seed in (1, 2)}
    many = dgd.fit_many(makers, LIGHT, **ASKED, folder=fitted.folder)
    assert sorted(made) == ["shop 1", "shop 2"]
    assert set(states(many).values()) == {"kept"}


def test_settings_and_days_go_by_name(fitted: Fitted, only_reading: list[str]) -> None:
    named = {"shop 1": LIGHT, "shop 2": LIGHT, "another": dgd.DGD()}
    ends = {"shop 1": ASKED["train_end"], "shop 2": "2024-01-13"}
    given = {name: one for name, one in panels().items() if name in ends}
    asked = {**ASKED, "train_end": ends}
    many = dgd.fit_many(given, named, **asked, folder=fitted.folder)
    assert states(many) == {"shop 1": "kept", "shop 2": "failed"}
    assert only_reading == ["begun"], "that of the other days is fitted anew"


REFUSED = {
    "engine": ({"engine": "dask"}, 'engine "dask" is not known; choose one of local, spark, ray.'),
    "processes": ({"processes": 0}, "processes is 0; give a whole number from 1 on."),
    "of others": ({"processes": 2, "engine": "ray"}, "leave processes out."),
    "session": ({"session": 1}, 'session is given, but engine is "local"; choose "spark".'),
    "no panels": ({"panels": {}}, "panels is empty; give at least one by its name"),
    "settings": ({"settings": {"b": LIGHT}}, "settings has nothing for panel a;"),
    "days": ({"train_end": {"b": "2024-01-14"}}, "train_end has nothing for panel a;"),
    "seeds": ({"seeds": [1, 1]}, "seeds is [1, 1];"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_calls_are_refused_before_any_work(
    what: str, tmp_path: Path, only_reading: list[str]
) -> None:
    given, sentence = REFUSED[what]
    asked = {"panels": {"a": SHORT}, "settings": LIGHT, **ASKED, "folder": tmp_path, **given}
    with pytest.raises(dgd.InputError, match=re.escape(sentence)):
        dgd.fit_many(**asked)
    assert not only_reading
