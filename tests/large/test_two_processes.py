"""A fit over two real processes is the fit of one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import dgd
from dgd.processes import launch
from support.members import member
from support.sparse_panels import sparse_panel

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc"),
]

CLOSE = 1e-9


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    panel = sparse_panel(40, cohorts=2, behaviors=2, days=24, rate=0.6)
    folder = tmp_path_factory.mktemp("counts") / "set"
    named = [f"does_{number}" for number in range(2)]
    counts = panel.to_frame().rename({f"does {number}": named[number] for number in range(2)})
    dgd.partition_counts(counts, folder, behaviors=named, partitions=4)
    return folder


def dgd_fit(
    data_set: Path, output: Path, *more: str, kill_after: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """`dgd fit`; once a file is there, one of the processes that it has started is killed."""
    command = [sys.executable, "-m", "dgd", "fit", str(data_set), "--behaviors", "does_0,does_1"]
    command += ["--train-end", "2024-01-16", "--validation-end", "2024-01-21", "--seeds", "1,2"]
    command += ["--epochs", "21", "--nodes", "3", "--output"]
    started = subprocess.Popen(
        [*command, str(output), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if kill_after is not None:
        kill_a_child(started, kill_after)
    out, err = started.communicate(timeout=300)
    return subprocess.CompletedProcess(started.args, started.returncode, out, err)


def kill_a_child(started: "subprocess.Popen[str]", after: Path) -> None:
    """SIGKILL to a process that `started` has started, as soon as there is a file."""
    while not after.exists():
        assert started.poll() is None, "it ended before there was a checkpoint"
        time.sleep(0.02)
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGKILL)


def test_two_processes_give_the_fit_of_one(data_set: Path, tmp_path: Path) -> None:
    for output, more in (("one.dgd", ()), ("two.dgd", ("--processes", "2"))):
        done = dgd_fit(data_set, tmp_path / output, *more)
        assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "one.dgd", tmp_path / "two.dgd")


def assert_same(one_process: Path, two_processes: Path) -> None:
    """The same units, counts, parameters and forecasts."""
    one, two = dgd.load(one_process), dgd.load(two_processes)
    assert one.panel.units == two.panel.units
    np.testing.assert_array_equal(one.panel.patterns, two.panel.patterns)
    for crowd, other in zip(one.crowds, two.crowds, strict=True):
        for x, y in zip(jax.tree.leaves(crowd), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=CLOSE)
    mine, theirs = (fit.forecast(3).to_frame().drop("unit", "cohort") for fit in (one, two))
    np.testing.assert_allclose(
        mine.drop("date").to_numpy(), theirs.drop("date").to_numpy(), rtol=0, atol=CLOSE
    )


OF_A_SAMPLE = """
    import dgd
    from dgd.large import block_size
    from dgd.large.shards import save_shards
    from dgd.learning import sample
    sample.MOST_NUMBERS = 24 * 21 * 2 * 4 * 2 * 3
    block_size.MOST_AT_ONCE, block_size.MOST_WALKED = 1, 12 * 2 * 8
    shard = None if group.count == 1 else (group.index, group.count)
    panel = dgd.Panel.from_parquet(sys.argv[2], shard=shard)
    model = dgd.DGD(nodes=3, epochs=20)
    ends = {"train_end": panel.dates[15], "validation_end": panel.dates[20]}
    fit = model.fit(panel, **ends, seeds=[1], progress=False, group=group)
    keep = fit.save if group.count == 1 else lambda path: save_shards(fit, path)
    keep(folder / f"{group.count}.dgd")
"""


def test_a_sample_is_that_of_one_process(data_set: Path, tmp_path: Path) -> None:
    """Of many units some are learned from, here 24 of 40."""
    for count in (1, 2):
        ended = launch(member(OF_A_SAMPLE, tmp_path, data_set), count)
        assert ended.code == 0, ended.sentence
    fit = dgd.load(tmp_path / "1.dgd")
    said = fit.summary()["trained by"].item()
    assert said == "24 units for all 40"
    assert dgd.load(tmp_path / "2.dgd").summary()["trained by"].item() == said
    assert_same(tmp_path / "1.dgd", tmp_path / "2.dgd")


def test_a_table_cannot_be_shared_out(tmp_path: Path) -> None:
    table = tmp_path / "counts.csv"
    sparse_panel(40, cohorts=2, behaviors=2).to_frame().write_csv(table)
    done = dgd_fit(table, tmp_path / "model.dgd", "--processes", "2")
    assert done.returncode != 0
    assert "every process reads its share of a data set" in (done.stderr + done.stdout).replace(
        "\n", " "
    )
    assert not (tmp_path / "model.dgd").exists()


def test_two_processes_go_on_after_one_was_killed(data_set: Path, tmp_path: Path) -> None:
    """The last standing that both have saved is where both go on, to the same bits."""
    kept = ("--processes", "2", "--checkpoint", str(tmp_path / "kept"), "--every", "0")
    whole = dgd_fit(data_set, tmp_path / "whole.dgd", "--processes", "2")
    assert whole.returncode == 0, whole.stderr
    short = dgd_fit(data_set, tmp_path / "short.dgd", *kept, kill_after=tmp_path / "kept.1")
    assert short.returncode != 0
    assert "was killed by signal 9" in short.stderr.replace("\n", " ")
    assert not (tmp_path / "short.dgd").exists()
    again = dgd_fit(data_set, tmp_path / "again.dgd", *kept, "--resume")
    assert again.returncode == 0, again.stderr
    one, two = dgd.load(tmp_path / "whole.dgd"), dgd.load(tmp_path / "again.dgd")
    for crowd, other in zip(one.crowds, two.crowds, strict=True):
        for x, y in zip(jax.tree.leaves(crowd), jax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(x, y)
    assert not list(tmp_path.glob("kept*"))
