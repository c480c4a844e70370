import pytest

from dgd.errors import InputError
from dgd.processes.membership import SLURM_PORTS, first_node, membership

OWN = {"DGD_PROCESS_INDEX": "1", "DGD_PROCESS_COUNT": "3", "DGD_COORDINATOR": "10.0.0.1:7070"}
SLURM = {
    "SLURM_JOB_ID": "77",
    "SLURM_STEP_ID": "2",
    "SLURM_PROCID": "3",
    "SLURM_LOCALID": "1",
    "SLURM_NTASKS": "8",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "node[003-004,009],other",
}


def test_a_process_that_nobody_told_of_others_is_alone() -> None:
    assert membership({}) is None
    assert membership({"JOB_COMPLETION_INDEX": "3"}) is None, "a job of its own kind"


def test_our_own_variables_are_read() -> None:
    me = membership(OWN)
    assert me is not None
    assert (me.index, me.count, me.host, me.port) == (1, 3, "10.0.0.1", 7070)
    assert (me.device, me.launched) == (None, False)
    assert me.name == "process 1 of 3"


def test_addresses_of_the_sixth_kind_lose_their_brackets() -> None:
    me = membership({**OWN, "DGD_COORDINATOR": "[fd00::1]:7070"})
    assert me is not None
    assert (me.host, me.port) == ("fd00::1", 7070)


def test_an_indexed_job_of_kubernetes_gives_the_number() -> None:
    job = {name: OWN[name] for name in ("DGD_PROCESS_COUNT", "DGD_COORDINATOR")}
    me = membership({**job, "JOB_COMPLETION_INDEX": "2"})
    assert me is not None
    assert (me.index, me.count) == (2, 3)


def test_a_step_of_slurm_says_everything() -> None:
    me = membership(SLURM)
    assert me is not None
    assert (me.index, me.count, me.host, me.device) == (3, 4, "node003", 1)
    assert me.port in SLURM_PORTS
    other = membership({**SLURM, "SLURM_STEP_ID": "3"})
    assert other is not None
    assert other.port != me.port, "two steps of a job do not meet at one place"


def test_a_batch_script_of_slurm_is_no_process_of_a_step() -> None:
    script = {name: value for name, value in SLURM.items() if name != "SLURM_STEP_NODELIST"}
    assert membership(script) is None


def test_under_slurm_our_own_variables_win() -> None:
    me = membership({**SLURM, "DGD_COORDINATOR": "head:99"})
    assert me is not None
    assert (me.index, me.host, me.port) == (3, "head", 99)
    assert membership({**SLURM, "DGD_PROCESS_COUNT": "1"}) is None, "tasks that fit by themselves"


def test_a_process_that_is_shown_one_accelerator_takes_no_other() -> None:
    assert getattr(membership({**SLURM, "CUDA_VISIBLE_DEVICES": "5"}), "device", "") is None
    assert getattr(membership({**SLURM, "CUDA_VISIBLE_DEVICES": "0,1"}), "device", "") == 1


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("node7", "node7"),
        ("a,b", "a"),
        ("node[001-015],host2", "node001"),
        ("node[001,007-015]", "node001"),
        ("rack[2-3]-node[04-09],x", "rack2-node04"),
    ],
)
def test_the_first_machine_of_a_list_is_found(nodes: str, first: str) -> None:
    assert first_node(nodes) == first


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"DGD_PROCESS_INDEX": ""}, "DGD_PROCESS_COUNT is 3 but DGD_PROCESS_INDEX is not set"),
        ({"DGD_PROCESS_COUNT": ""}, "DGD_PROCESS_COUNT is not set; set DGD_PROCESS_COUNT, how"),
        ({"DGD_PROCESS_COUNT": "0"}, 'DGD_PROCESS_COUNT is "0", not a whole number from 1'),
        ({"DGD_PROCESS_COUNT": "two"}, 'DGD_PROCESS_COUNT is "two", not a whole number'),
        ({"DGD_PROCESS_INDEX": "-1"}, 'DGD_PROCESS_INDEX is "-1", not a whole number from 0'),
        ({"DGD_PROCESS_INDEX": "3"}, "DGD_PROCESS_INDEX is 3 but DGD_PROCESS_COUNT is 3; "),
        ({"DGD_COORDINATOR": ""}, "DGD_COORDINATOR is not set; give the machine of process 0"),
        ({"DGD_COORDINATOR": "head"}, 'DGD_COORDINATOR is "head"; give the machine'),
        ({"DGD_COORDINATOR": "head:99999"}, 'DGD_COORDINATOR is "head:99999"; give'),
    ],
)
def test_half_of_the_settings_and_wrong_ones_are_refused(
    changed: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError) as refusal:
        membership({**OWN, **changed})
    assert str(refusal.value).startswith(said)


def test_a_step_without_its_job_is_refused() -> None:
    with pytest.raises(InputError, match="SLURM_JOB_ID is not set; set DGD_COORDINATOR"):
        membership({**SLURM, "SLURM_JOB_ID": ""})
