"""Random blocks stand for all units: every unit has its turn, and sums are unbiased."""

from itertools import islice

import numpy as np
import pytest

from dgd import DGD
from dgd.learning.preparing import prepared
from dgd.learning.random_blocks import RandomBlocks
from dgd.learning.unit_blocks import BlockRecorder
from dgd.runtime import computing
from support.sparse_panels import sparse_panel

UNITS, LENGTH = 24, 6


@pytest.fixture(scope="module")
def blocks() -> RandomBlocks:
    panel = sparse_panel(UNITS, rate=0.8)
    ends = (panel.dates[14], panel.dates[18], panel.dates[2])
    panel, split, maker = prepared(panel, DGD(), *ends)
    return RandomBlocks(BlockRecorder(panel, maker, 50.0), split, LENGTH)


def test_every_unit_comes_once_before_any_comes_again(blocks: RandomBlocks) -> None:
    turns = list(islice(blocks.drawn(1), 2 * UNITS // LENGTH))
    for turn in (turns[: len(turns) // 2], turns[len(turns) // 2 :]):
        assert sorted(np.concatenate(turn).tolist()) == list(range(UNITS))
    assert [t.tolist() for t in turns] == [t.tolist() for t in islice(blocks.drawn(1), len(turns))]
    other = next(blocks.drawn(2))
    assert turns[0].tolist() != other.tolist()


def test_sums_of_blocks_are_those_of_all_on_average(blocks: RandomBlocks) -> None:
    with computing():
        found = [blocks.block(units) for units in islice(blocks.drawn(1), UNITS // LENGTH)]
        arrivals = np.mean([one.weight * one.days.arrivals.sum((0, 2)) for one in found], 0)
        shown = np.mean([float(one.weight * one.days.shown.count.sum()) for one in found])
        totals = np.asarray(found[0].totals.arrivals)
    np.testing.assert_allclose(arrivals, totals, rtol=1e-12)
    assert shown == pytest.approx(totals.sum())


def test_all_blocks_have_one_shape(blocks: RandomBlocks) -> None:
    with computing():
        shapes = {
            (one.days.shown.cell.shape, one.days.shown.count.shape)
            for one in map(blocks.block, islice(blocks.drawn(3), 12))
        }
    assert len(shapes) == 1


def test_the_sample_is_the_same_for_all_seeds(blocks: RandomBlocks) -> None:
    assert len(blocks.sample) == 2 * LENGTH
    assert len(set(blocks.sample.tolist())) == len(blocks.sample)
    every = np.concatenate(list(blocks.one_after_another()))
    assert every.tolist() == list(range(UNITS))
