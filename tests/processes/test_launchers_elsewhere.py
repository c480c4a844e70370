"""What Slurm and Kubernetes set, on this machine; and the job of the guide."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from dgd.processes.membership import membership
from dgd.processes.watch import free_port
from support.members import ONE_FAILS, member, together

HOST = "127.0.0.1"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "clusters.md"


def step_of_slurm() -> Callable[[int, int], dict[str, str]]:
    """What `srun` sets, of a job at whose port nobody is."""
    job = os.getpid()
    while True:
        step = {
            "SLURM_JOB_ID": str(job),
            "SLURM_STEP_ID": "0",
            "SLURM_STEP_NODELIST": "localhost",
        }
        told = {**step, "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}
        with socket.socket() as trial:
            if trial.connect_ex((HOST, getattr(membership(told), "port", 0))) != 0:
                break
        job += 1
    return lambda index, count: {
        **step,
        "SLURM_PROCID": str(index),
        "SLURM_LOCALID": str(index),
        "SLURM_STEP_NUM_TASKS": str(count),
    }


def indexed_job() -> Callable[[int, int], dict[str, str]]:
    address = f"{HOST}:{free_port(HOST)}"
    return lambda index, count: {
        "JOB_COMPLETION_INDEX": str(index),
        "DGD_PROCESS_COUNT": str(count),
        "DGD_COORDINATOR": address,
    }


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [step_of_slurm, indexed_job])
def test_processes_join_by_what_their_launcher_sets(
    launcher: Callable[[], Callable[[int, int], dict[str, str]]], tmp_path: Path
) -> None:
    found = together(member(ONE_FAILS, tmp_path, "none", 0), 2, launcher())
    assert found == [(0, "done 0\n"), (0, "done 1\n")]


def test_the_job_of_the_guide_leads_its_pods_together() -> None:
    """Pods of an indexed job are called by the job and their number, below the service."""
    job = GUIDE.read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    service, name = re.findall(r"^  name: (\S+)$", job, re.MULTILINE)
    variables = dict(re.findall(r"- name: (DGD_\w+)\n\s+value: \"?([^\"\n]+)", job))
    counts = re.findall(r"^  (?:completions|parallelism): (\d+)$", job, re.MULTILINE)
    assert counts == [variables["DGD_PROCESS_COUNT"]] * 2
    assert f"subdomain: {service}\n" in job
    assert f"job-name: {name}\n" in job
    last = membership({**variables, "JOB_COMPLETION_INDEX": str(int(counts[0]) - 1)})
    assert last is not None
    assert last.host == f"{name}-0.{service}"
