"""Many panels on Spark and on Ray: the same outcomes and numbers as on this machine."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dgd
from dgd.files.tensors import read_tensors
from support.engines import ray_cluster, spark_session
from support.many_panels import ASKED, LIGHT, panel


def broken() -> Callable[[], dgd.Panel]:
    """A maker that fails; it goes to other processes by itself, without the module of tests."""

    def unreadable():  # type: ignore[no-untyped-def]
        raise OSError("the disk is gone")

    return unreadable


@pytest.fixture(scope="module")
def spark() -> Iterator[dict[str, Any]]:
    with spark_session() as session:
        yield {"engine": "spark", "session": session}


@pytest.fixture(scope="module")
def on_ray() -> Iterator[dict[str, Any]]:
    with ray_cluster():
        yield {"engine": "ray"}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["spark", "on_ray"])
def test_an_engine_gives_the_outcomes_and_numbers_of_a_fit_by_itself(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    asked = request.getfixturevalue(engine)
    second, told = panel(2), []
    given = {"first": panel(1), "second": lambda: second, "unreadable": broken()}
    many = dgd.fit_many(
        given, LIGHT, **ASKED, folder=tmp_path, **asked, progress=lambda *now: told.append(now)
    )
    assert {one.name: one.state for one in many.outcomes} == {
        "first": "fitted", "second": "fitted", "unreadable": "failed",
    }  # fmt: skip
    assert "the disk is gone" in many.failures["unreadable"]
    assert [done for _, _, done, _ in told] == [1, 2, 3]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["first.dgd", "second.dgd"]
    LIGHT.fit(second, **ASKED).save(tmp_path / "alone.dgd")
    alone = read_tensors(tmp_path / "alone.dgd").tensors
    found = read_tensors(tmp_path / "second.dgd").tensors
    assert all(np.array_equal(found[key], alone[key], equal_nan=True) for key in alone)
    again = dgd.fit_many({"first": panel(1)}, LIGHT, **ASKED, folder=tmp_path, **asked)
    assert [one.state for one in again.outcomes] == ["kept"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["spark", "on_ray"])
def test_what_cannot_be_sent_is_reported_and_stops_nothing(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    asked = request.getfixturevalue(engine)
    with (tmp_path / "open").open("w") as file:
        given = {"stuck": file.read, "unreadable": broken()}
        many = dgd.fit_many(given, LIGHT, **ASKED, folder=tmp_path, **asked)
    assert list(many.failures) == ["stuck", "unreadable"]
    assert "it cannot be sent to another machine" in many.failures["stuck"]
    assert "the disk is gone" in many.failures["unreadable"]


def test_a_session_is_needed(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    with pytest.raises(dgd.InputError, match="session is a int; hand over a SparkSession"):
        dgd.fit_many({"a": panel(1)}, LIGHT, **ASKED, folder=tmp_path, engine="spark", session=3)
