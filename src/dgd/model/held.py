"""What the regulariser holds back, part by part."""

from typing import Literal, NamedTuple, TypeAlias

from jaxtyping import Array, Float

Group: TypeAlias = Literal["behavior", "calendar", "other"]
"""Coefficients of one group are held with one strength."""


class Held(NamedTuple):
    """Coefficients that are drawn to zero, and the group whose strength applies to them."""

    group: Group
    coefficients: Float[Array, "..."]
