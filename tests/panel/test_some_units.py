"""Some units of many: blocks of them, and those that stand for all."""

from dataclasses import replace
from typing import Any

import numpy as np

from dgd import Panel
from dgd.panel.shared import BroughtTogether
from dgd.panel.some_units import blocks_of_units, panel_of_units, standing_for_all
from dgd.processes.group import Group
from support.sparse_panels import sparse_panel


def test_blocks_hold_every_unit_once_and_are_nearly_equal() -> None:
    blocks = list(blocks_of_units(10, 4))
    assert np.concatenate(blocks).tolist() == list(range(10))
    assert [len(block) for block in blocks] == [4, 3, 3]
    assert not list(blocks_of_units(0, 4))


def test_few_units_all_stand_for_themselves() -> None:
    assert standing_for_all(sparse_panel(5), 5).tolist() == [0, 1, 2, 3, 4]


def test_some_stand_for_all_and_labels_alone_say_which() -> None:
    panel = sparse_panel(50)
    some = standing_for_all(panel, 12)
    assert len(some) == 12
    assert np.ptp(some) > 25
    turned = panel_of_units(panel, np.arange(50)[::-1])
    others = [turned.units[number] for number in standing_for_all(turned, 12)]
    assert set(others) == {panel.units[number] for number in some}


class Told(Group):
    """A process that is told in advance what the others hand over."""

    def __init__(self, index: int, parts: list[list[Any]]) -> None:
        super().__init__(index, len(parts))
        object.__setattr__(self, "told", [list(same) for same in zip(*parts, strict=True)])

    def every(self, x: Any) -> list[Any]:
        told: list[list[Any]] = self.__dict__["told"]
        return told.pop(0)


class Asked(Group):
    """A process that writes down what it hands over."""

    def __init__(self) -> None:
        super().__init__(0, 2)
        object.__setattr__(self, "asked", [])

    def every(self, x: Any) -> list[Any]:
        self.__dict__["asked"].append(x)
        return [x, x]


def parts_of(panel: Panel) -> list[Panel]:
    """Units of odd and of even numbers, which know what all counted."""
    return [panel_of_units(panel, np.arange(first, len(panel.units), 2)) for first in (1, 0)]


def test_parts_choose_the_units_that_the_whole_chooses() -> None:
    panel = sparse_panel(50)
    parts, handed = parts_of(panel), []
    for part in parts:
        asked = Asked()
        standing_for_all(part, 12, asked)
        handed.append(asked.__dict__["asked"])
    chosen = [
        part.units[number]
        for index, part in enumerate(parts)
        for number in standing_for_all(part, 12, Told(index, handed))
    ]
    assert sorted(chosen) == sorted(panel.units[number] for number in standing_for_all(panel, 12))


def test_parts_brought_together_are_the_units_of_the_whole() -> None:
    panel = replace(sparse_panel(20, seed=3), size=np.random.default_rng(0).random((20, 20, 3)))
    parts, own, handed = parts_of(panel), np.array([0, 3, 5]), []
    for part in parts:
        asked = Asked()
        together = BroughtTogether.of(part, own, asked)
        assert len(together.whole.units) == 6
        handed.append(asked.__dict__["asked"])
    found = BroughtTogether.of(parts[1], own, Told(1, handed)).whole
    wanted = panel_of_units(panel, np.array([0, 1, 6, 7, 10, 11]))
    assert found.units == wanted.units
    np.testing.assert_array_equal(found.size, wanted.size)
