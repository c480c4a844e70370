"""Many panels on Ray: one task per panel."""

from collections.abc import Generator, Sequence
from importlib import import_module
from typing import Any

from dgd.errors import InputError
from dgd.many.jobs import Job, Outcome
from dgd.many.shared_folder import Roll, cause_of, opened_roll, unsent

AT_ONCE = 2
"""Tasks handed over for each processor of the cluster: one runs, one waits."""


def ray_module() -> Any:
    """Ray, where it is installed."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise InputError(
            'engine "ray" needs Ray; install it with '
            "pip install 'differentiable-gaussian-dynamics[ray]'."
        ) from error


def on_ray(jobs: Sequence[Job], ray: Any) -> Generator[Outcome, None, None]:
    """Every job's outcome as soon as it is known, on the cluster that Ray is connected to."""
    if not ray.is_initialized():
        ray.init()
    task = ray.remote(num_cpus=1, max_retries=0)(_settled)
    most = max(1, AT_ONCE * int(ray.cluster_resources().get("CPU", 1)))
    left, running = list(enumerate(jobs))[::-1], dict[Any, Job]()
    with opened_roll(jobs[0].file.parent) as roll:
        try:
            while left or running:
                while left and len(running) < most:
                    number, job = left.pop()
                    try:
                        running[task.remote(roll, number, job)] = job
                    except Exception as error:
                        yield unsent(job, error)
                done, _ = ray.wait(list(running), num_returns=1) if running else ([], [])
                for finished in done:
                    yield _answer(ray, finished, running.pop(finished))
        finally:
            for unfinished in running:
                ray.cancel(unfinished, force=True)


def _answer(ray: Any, finished: Any, job: Job) -> Outcome:
    try:
        return Outcome.from_dict(ray.get(finished))
    except Exception as error:  # a machine that was lost, or a task that could not begin
        return Outcome.failed(job.name, f"Ray gave up ({cause_of(error)}).")


def _settled(roll: Roll, number: int, job: Job) -> dict[str, Any]:
    return roll.settle(number, job).as_dict()
