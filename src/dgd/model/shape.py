"""The lengths of a model's axes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """How many of everything: what first parameters, and files, are sized by."""

    units: int
    cohorts: int
    behaviors: int
    features: int
    components: int
    dim: int
    nodes: int
    contexts: int
    places: int = 0
    """Seasonal effects: places in a cycle, and kinds of special days."""
    everyone: int | None = None
    """Units in all, where these are some of them."""

    @property
    def all_units(self) -> int:
        return self.units if self.everyone is None else self.everyone
