from pathlib import Path

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec

from dgd.processes import ALONE, launch
from dgd.runtime import computing
from support.members import member, written

LARGE = 2**60
SUMS = """
    import jax
    from jax.sharding import PartitionSpec as P
    from dgd.runtime import computing
    mine = group.index + 1
    total = jax.jit(
        jax.shard_map(
            lambda rows, scale: (jax.lax.psum((rows * scale).sum(0), "units"), rows + mine),
            mesh=group.mesh(), in_specs=(P("units"), P()), out_specs=(P(), P("units")),
        )
    )
    with computing():
        rows = group.sharded(np.full((3, 2), mine / 3))
        both, own = total(rows, group.replicated(np.array([1.0, 10.0])))
    group.barrier("a place")
    try:
        group.barrier(f"place {mine}")
    except RuntimeError as error:
        lost = str(error)
    try:
        group.sharded(np.zeros((mine, 2)))
    except ValueError as error:
        uneven = str(error)
    found = {
        "leads": group.leads,
        "float": group.sum(0.1 * mine).item().hex(),
        "int": group.sum(np.array([2**60 + mine, -mine])).tolist(),
        "bool": group.sum(mine == 2).item(),
        "maximum": group.maximum(np.array([mine, -mine])).tolist(),
        "facts": group.every({"unit": "é" * mine, "pair": (mine, None)}),
        "arrays": [array.tolist() for array in group.every(np.arange(mine * 1.0))],
        "rows": list(rows.shape),
        "both": group.local(both).tolist(),
        "dtype": str(both.dtype),
        "own": group.local(own).tolist(),
        "lost": lost,
        "uneven": uneven,
    }
    (folder / f"{group.index}.json").write_text(json.dumps(found))
"""


def test_alone_every_sum_is_what_it_was() -> None:
    assert (ALONE.index, ALONE.count, ALONE.leads) == (0, 1, True)
    x = np.array([[0.1, 2.0]])
    np.testing.assert_array_equal(ALONE.sum(x), x)
    np.testing.assert_array_equal(ALONE.maximum(x), x)
    assert ALONE.sum(3).item() == 3
    assert ALONE.every({"a": (1, 2)}) == [{"a": [1, 2]}]
    np.testing.assert_array_equal(ALONE.every(x)[0], x)
    ALONE.barrier("here")


def test_alone_there_is_a_mesh_too() -> None:
    rows = np.arange(6.0).reshape(3, 2)
    total = jax.shard_map(
        lambda x: jax.lax.psum(x.sum(0), "units"),
        mesh=ALONE.mesh(),
        in_specs=PartitionSpec("units"),
        out_specs=PartitionSpec(),
    )
    with computing():
        found = jax.jit(total)(ALONE.sharded(rows))
    np.testing.assert_allclose(ALONE.local(found), rows.sum(0), rtol=1e-15)
    np.testing.assert_array_equal(ALONE.local(ALONE.replicated(rows)), rows)


@pytest.mark.slow
def test_two_processes_share_what_they_sum(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert launch(member(SUMS, tmp_path), 2) == (0, None)
    assert capfd.readouterr().out == "", "standard output is for results alone"
    first, other = written(tmp_path, 2)
    assert (first["leads"], other["leads"]) == (True, False)
    assert first["float"] == (0.1 + 0.2).hex()
    assert first["int"] == [2 * LARGE + 3, -3]
    assert first["bool"] == 1
    assert first["maximum"] == [2, -1]
    assert first["facts"] == [{"unit": "é", "pair": [1, None]}, {"unit": "éé", "pair": [2, None]}]
    assert first["arrays"] == [[0.0], [0.0, 1.0]]
    assert first["lost"] == (
        "processes wait for each other at different places: ['place 1', 'place 2']"
    )
    assert first["uneven"] == "every process must have the same shape, not [[1, 2], [2, 2]]"
    assert first["rows"] == [6, 2]
    assert first["dtype"] == "float64"
    np.testing.assert_allclose(first["both"], [3.0, 30.0], rtol=1e-15)
    for mine, found in ((1, first), (2, other)):
        np.testing.assert_allclose(found["own"], np.full((3, 2), mine / 3 + mine), rtol=1e-15)
    same = set(first) - {"leads", "own"}
    assert {name: first[name] for name in same} == {name: other[name] for name in same}
