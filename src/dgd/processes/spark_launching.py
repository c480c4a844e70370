"""A group of processes on the workers of a Spark cluster, in its barrier mode.

A task of a barrier stage starts one process and waits for it: Spark's own workers are used again
for other work, and JAX can join a group only once in a process.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from dgd.errors import InputError, first_line
from dgd.processes.children import Ended, EndedElsewhere, reported, run_elsewhere
from dgd.processes.launching import checked
from dgd.processes.watch import free_port


def launch_in_spark(session: Any, command: Sequence[str], processes: int) -> Ended:
    """Run `command` in several processes on the workers of Spark, and wait for them.

    All run at the same time or none does. Each may use `spark.task.cpus` cores. When one dies the
    others end as well; nothing is tried again. What process 0 said is printed at the end.

    Args:
        session: A Spark session; one of Spark Connect has no barrier mode.
        command: What each process runs, program first, as it is found on the workers.
        processes: How many, at most as many as tasks can run at the same time.

    Returns:
        Exit code and, where no process has said why it ended, a sentence.
    """
    checked(command, processes)
    try:
        tasks = session.sparkContext.parallelize(range(processes), processes)
    except Exception as error:
        raise InputError(
            f"the Spark session has no barrier mode ({first_line(error)}); start a classic one, "
            "not Spark Connect."
        ) from error
    try:
        outcomes = tasks.barrier().mapPartitions(partial(_run, list(command), processes)).collect()
    except Exception as error:
        if "slots" not in str(error):
            raise
        raise InputError(
            f"Spark cannot run {processes} tasks at the same time; give the session more cores or "
            "start fewer processes."
        ) from error
    return reported([EndedElsewhere(*outcome) for outcome in outcomes])


def _run(command: list[str], processes: int, _rows: Iterable[int]) -> Iterator[EndedElsewhere]:
    from pyspark import BarrierTaskContext

    context = BarrierTaskContext.get()
    host = context.getTaskInfos()[0].address.rpartition(":")[0]
    index = context.partitionId()
    address = context.allGather(f"{host}:{free_port('')}" if index == 0 else "")[0]
    yield run_elsewhere(command, index, processes, address, context.cpus())
