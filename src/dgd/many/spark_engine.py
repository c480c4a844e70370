"""Many panels on Spark: a frame with one row per panel, fitted group by group."""

import json
import pickle
import secrets
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import import_module
from typing import Any

from dgd.errors import InputError
from dgd.many.jobs import Job, Outcome
from dgd.many.shared_folder import Roll, cause_of, opened_roll, unsent

SECONDS_BETWEEN = 0.5
"""How often finished jobs are looked for."""
ROWS, OUTCOMES = "number long, job binary", "number long, outcome string"


def spark_session(given: Any) -> Any:
    """The session that was handed over, or the one that is open."""
    try:
        sql = import_module("pyspark.sql")
    except ImportError as error:
        raise InputError(
            'engine "spark" needs PySpark; install it with '
            "pip install 'differentiable-gaussian-dynamics[spark]'."
        ) from error
    session = sql.SparkSession.getActiveSession() if given is None else given
    if session is None:
        raise InputError('engine "spark" needs a session; open one, or hand it over as session.')
    if not hasattr(session, "createDataFrame"):
        raise InputError(
            f"session is a {type(session).__name__}; hand over a SparkSession, or leave it out."
        )
    return session


def on_spark(jobs: Sequence[Job], session: Any) -> Generator[Outcome, None, None]:
    """Every job's outcome as soon as it is known; Spark runs as many tasks at once as it has
    room for, each with a process of its own for its fits."""
    cloudpickle = import_module("pyspark.cloudpickle")
    rows, finished = [], dict[int, Outcome]()
    for number, job in enumerate(jobs):
        try:
            rows.append((number, bytearray(cloudpickle.dumps(job))))
        except Exception as error:
            finished[number] = unsent(job, error)
    yield from finished.values()
    if not rows:
        return
    folder, tag = jobs[0].file.parent, f"dgd-{secrets.token_hex(8)}"
    with opened_roll(folder) as roll, ThreadPoolExecutor(1) as pool:
        # Its own number of parts, or Spark would put small rows together into one task.
        frame = session.createDataFrame(rows, ROWS).repartition(len(rows), "number")
        told = frame.groupBy("number").applyInPandas(_task(roll), OUTCOMES)
        action = pool.submit(_collected, session, told, tag)
        try:
            while not wait([action], SECONDS_BETWEEN).done:
                new = {n: one for n, one in roll.signed().items() if n not in finished}
                finished |= new
                yield from new.values()
        except BaseException:
            session.interruptTag(tag)
            raise
        answers, why = action.result()
    for number, job in enumerate(jobs):
        if number not in finished:
            yield answers.get(number) or Outcome.failed(job.name, f"Spark gave up ({why}).")


def _collected(session: Any, told: Any, tag: str) -> tuple[dict[int, Outcome], str]:
    """What the tasks answered, or why there is no answer."""
    session.addTag(tag)
    try:
        rows = told.collect()
    except Exception as error:  # Spark's own, whatever it is called in this version
        return {}, cause_of(error)
    return {row.number: Outcome.from_dict(json.loads(row.outcome)) for row in rows}, "no answer"


def _task(roll: Roll) -> Callable[[Any], Any]:
    """What Spark runs: the rows of a group in, their outcomes out, both as pandas."""
    return lambda rows: _settled(roll, rows)  # Spark wants one plain argument, not annotated


def _settled(roll: Roll, rows: Any) -> Any:
    told = [
        (number, json.dumps(roll.settle(int(number), pickle.loads(job)).as_dict()))
        for number, job in zip(rows["number"], rows["job"], strict=True)
    ]
    return import_module("pandas").DataFrame(told, columns=["number", "outcome"])
