"""Colours that stand beside each other can be told apart by people who see fewer of them."""

from itertools import combinations

import numpy as np
import pytest

from dgd.report.charts import colors

EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
    "no green cones": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
}
"""What is left of linear red, green and blue, after Machado, Oliveira and Fernandes."""
TO_XYZ = np.array([[0.412, 0.358, 0.180], [0.213, 0.715, 0.072], [0.019, 0.119, 0.950]])
TOGETHER = {
    "days ahead": (colors.OBSERVED, colors.EXPECTED, colors.CHANGED),
    "verdicts": (colors.BETTER, colors.WORSE, colors.UNDECIDED),
    "ranges of days": (colors.TRAINING, colors.VALIDATION, colors.TEST),
    "labels": colors.LABELS[:4],
}
CLOSE = 10.0
"""Colours about so far apart in CIELAB are taken for shades of one."""


def seen(color: str, eye: str) -> np.ndarray:
    """A colour in CIELAB as an eye sees it."""
    parts = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / TO_XYZ.sum(1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("shown", TOGETHER)
def test_colours_side_by_side_are_told_apart(shown: str, eye: str) -> None:
    for one, other in combinations(TOGETHER[shown], 2):
        apart = np.linalg.norm(seen(one, eye) - seen(other, eye))
        assert apart > 1.5 * CLOSE, (one, other)


def test_red_and_green_would_not_pass() -> None:
    """The usual pair is close for eyes without green cones."""
    apart = np.linalg.norm(seen("#a0522d", "no green cones") - seen("#4f7a2a", "no green cones"))
    assert apart < 1.5 * CLOSE


def test_ranges_fade_from_the_narrowest_to_the_widest() -> None:
    light = [seen(colors.range_shade(at, 3), "all cones")[0] for at in range(3)]
    assert light == sorted(light)
    assert colors.range_shade(0, 1) == colors.range_shade(0, 3)
