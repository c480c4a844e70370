"""A group of processes on the machines of a Ray cluster: one actor starts one process."""

from collections.abc import Sequence
from typing import Any

from dgd.errors import InputError
from dgd.processes.children import Ended, EndedElsewhere, reported, run_elsewhere
from dgd.processes.launching import checked
from dgd.processes.watch import PATIENCE, free_port

KILLED = -9


class RayStarter:
    """Starts one process where Ray puts it."""

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus

    def address(self) -> str:
        """Where the others would find this one."""
        import ray

        util: Any = ray.util
        return f"{util.get_node_ip_address()}:{free_port('')}"

    def run(self, command: Sequence[str], index: int, count: int, address: str) -> EndedElsewhere:
        """Start the process, and wait for it."""
        return run_elsewhere(command, index, count, address, self.cpus)


def launch_in_ray(
    command: Sequence[str],
    processes: int,
    cpus: int = 1,
    gpus: int = 0,
    patience: float = PATIENCE,
) -> Ended:
    """Run `command` in several processes on a Ray cluster, and wait for them.

    When one dies the others end as well; nothing is tried again. What process 0 said is printed at
    the end. Where Ray is not running it is started on this machine, as `ray.init()` does.

    Args:
        command: What each process runs, program first, as it is found on the machines.
        processes: How many.
        cpus: Cores of each process.
        gpus: Accelerators of each process.
        patience: Seconds to wait until Ray has room for all of them.

    Returns:
        Exit code and, where no process has said why it ended, a sentence.
    """
    import ray

    checked(command, processes)
    if not ray.is_initialized():
        ray.init()
    start: Any = ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=0)(RayStarter)
    starters = [start.remote(cpus) for _ in range(processes)]
    try:
        addresses = ray.get([one.address.remote() for one in starters], timeout=patience)
        running = [
            one.run.remote(list(command), index, processes, addresses[0])
            for index, one in enumerate(starters)
        ]
        return reported([_outcome(one) for one in running])
    except ray.exceptions.GetTimeoutError as error:
        raise InputError(
            f"Ray has had no room for {processes} processes of {cpus} cores within {patience:g} "
            "seconds; start fewer processes, or add machines."
        ) from error
    finally:
        for one in starters:
            ray.kill(one)


def _outcome(running: Any) -> EndedElsewhere:
    """What became of a process; a machine that Ray lost is one that was killed."""
    import ray

    try:
        return EndedElsewhere(*ray.get(running))
    except ray.exceptions.RayActorError:
        return EndedElsewhere(KILLED, "")
