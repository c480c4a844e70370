"""Many panels on this machine: worker processes that take one job after another."""

import queue
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from dgd.many.jobs import Job, Outcome
from dgd.many.worker_process import WorkerProcess


def on_this_machine(jobs: Sequence[Job], processes: int) -> Generator[Outcome, None, None]:
    """Every job's outcome as soon as it is known; no process outlives this.

    Panels are made here, one at a time, and no more of them at once than there are processes.
    """
    workers = [WorkerProcess() for _ in range(processes)]
    idle: queue.LifoQueue[WorkerProcess] = queue.LifoQueue()
    for worker in workers:
        idle.put(worker)
    making = threading.Lock()

    def settle(job: Job) -> Outcome:
        worker = idle.get()
        try:
            return worker.settle(job, making)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(processes, thread_name_prefix="dgd-many")
    try:
        for done in as_completed([pool.submit(settle, job) for job in jobs]):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.end()
