"""Launchers of clusters, each on this machine; `make engines` has Spark and Ray installed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dgd.errors import InputError
from dgd.processes import Ended, launch_in_ray, launch_in_spark
from support.engines import ray_cluster, spark_session
from support.members import ONE_FAILS, member

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with spark_session() as session:
        yield session


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    with ray_cluster() as found:
        yield found


@pytest.fixture(params=["spark", "ray"])
def launched(request: pytest.FixtureRequest) -> Callable[[list[str]], Ended]:
    """Two processes of a command on an engine."""
    engine = request.getfixturevalue(request.param)
    if request.param == "spark":
        return lambda command: launch_in_spark(engine, command, 2)
    return lambda command: launch_in_ray(command, 2)


def test_processes_of_an_engine_join_each_other(
    launched: Callable[[list[str]], Ended], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launched(member(ONE_FAILS, tmp_path, "none", 0)) == (0, None)
    assert capsys.readouterr().out == "done 0\n"


def test_a_process_that_is_killed_on_an_engine_is_named(
    launched: Callable[[list[str]], Ended], tmp_path: Path
) -> None:
    how = launched(member(ONE_FAILS, tmp_path, "killed", 1))
    assert how.code == 1
    assert str(how.sentence).startswith("process 1 of 2 was killed by signal 9; the others were")


def test_a_process_that_refuses_on_an_engine_is_heard(
    launched: Callable[[list[str]], Ended], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launched(member(ONE_FAILS, tmp_path, "refused", 1)) == (2, None)
    assert capsys.readouterr().err.endswith("InputError: column x is missing; add it.\n")


def test_more_processes_than_ray_has_room_for_are_refused(ray: Any) -> None:
    with pytest.raises(InputError, match="Ray has had no room for 3 processes of 1 cores within"):
        launch_in_ray(["true"], 3, patience=1)
