"""Which process of a group this is, as the environment of whoever started it says.

Our own variables come first, then those of a Kubernetes indexed job, then those of a Slurm step.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dgd.errors import InputError

INDEX, COUNT, COORDINATOR = "DGD_PROCESS_INDEX", "DGD_PROCESS_COUNT", "DGD_COORDINATOR"
LAUNCHED = "DGD_LAUNCHED"
"""Set by `launch`, whose pipe is the standard input of what it starts, and who tells of deaths."""
LOCAL_INDEX = "DGD_LOCAL_INDEX"
KUBERNETES_INDEX = "JOB_COMPLETION_INDEX"
SLURM_INDEX, SLURM_NODES = "SLURM_PROCID", "SLURM_STEP_NODELIST"
"""The nodes of a step are set where `srun` started the process, not in a batch script itself."""
SLURM_PORTS = range(61440, 65536)
"""Above the ports that Linux hands out by itself."""


@dataclass(frozen=True)
class Membership:
    """One process's place in a group, and where the group meets."""

    index: int
    count: int
    host: str
    port: int
    device: int | None = None
    """Which of the machine's accelerators is its own; None where it sees no others."""
    launched: bool = False
    """Whether a parent on this machine watches it."""

    @property
    def name(self) -> str:
        """As messages call it."""
        return f"process {self.index} of {self.count}"


def membership(environment: Mapping[str, str]) -> Membership | None:
    """This process's place, or None where nobody says that there are others.

    Raises:
        InputError: Settings that are wrong, or only a part of what is needed.
    """
    given = {name for name in (INDEX, COUNT, COORDINATOR) if environment.get(name)}
    slurm = bool(environment.get(SLURM_INDEX) and environment.get(SLURM_NODES))
    if not given and not slurm:
        return None
    indexed = next((n for n in (INDEX, KUBERNETES_INDEX) if environment.get(n)), None)
    counted = COUNT
    if slurm and indexed is None:
        indexed = SLURM_INDEX
    if slurm and COUNT not in given:
        counted = "SLURM_STEP_NUM_TASKS"
        if not environment.get(counted):
            counted = "SLURM_NTASKS"
    count = _whole(environment, counted, f"set {COUNT}, how many processes there are", least=1)
    if count == 1:
        return None
    if indexed is None:
        raise InputError(
            f"{counted} is {count} but {INDEX} is not set; give every process its number from 0 to "
            f"{count - 1}, or let Slurm, a Kubernetes indexed job or dgd's own launchers do it."
        )
    index = _whole(environment, indexed, f"set {INDEX}, this process's number")
    if index >= count:
        raise InputError(
            f"{indexed} is {index} but {counted} is {count}; processes are numbered from 0 to "
            f"{count - 1}."
        )
    host, port = _meeting_place(environment, slurm)
    return Membership(
        index, count, host, port, _device(environment), environment.get(LAUNCHED) == "1"
    )


def first_node(nodes: str) -> str:
    """The first machine of a list as Slurm writes it, like `node[003-017,020],other`."""
    first = re.match(r"(?:[^,\[\]]|\[[^\]]*\])*", nodes)
    assert first is not None
    return re.sub(r"\[([^\],-]*)[^\]]*\]", r"\1", first[0])


def _meeting_place(environment: Mapping[str, str], slurm: bool) -> tuple[str, int]:
    given = environment.get(COORDINATOR)
    if given:
        host, _, port = given.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise InputError(
                f'{COORDINATOR} is "{given}"; give the machine of process 0 and a free port of '
                "it, like 10.0.0.1:7070."
            )
        return host.strip("[]"), int(port)
    if not slurm:
        raise InputError(
            f"{COORDINATOR} is not set; give the machine of process 0 and a free port of it, like "
            "10.0.0.1:7070, to every process."
        )
    job = _whole(environment, "SLURM_JOB_ID", f"set {COORDINATOR}")
    step = _whole(environment, "SLURM_STEP_ID", f"set {COORDINATOR}")
    return first_node(environment[SLURM_NODES]), SLURM_PORTS[(31 * job + step) % len(SLURM_PORTS)]


def _device(environment: Mapping[str, str]) -> int | None:
    """One accelerator for each process of a machine, unless it is shown one alone."""
    shown = environment.get("CUDA_VISIBLE_DEVICES") or environment.get("ROCR_VISIBLE_DEVICES")
    local = next((n for n in (LOCAL_INDEX, "SLURM_LOCALID") if environment.get(n)), None)
    if local is None or (shown is not None and "," not in shown):
        return None
    return _whole(environment, local, f"set {LOCAL_INDEX}")


def _whole(environment: Mapping[str, str], name: str, way_out: str, least: int = 0) -> int:
    value = environment.get(name, "")
    if not (value.isascii() and value.isdecimal()) or int(value) < least:
        told = f'is "{value}", not a whole number from {least}' if value else "is not set"
        raise InputError(f"{name} {told}; {way_out}.")
    return int(value)
