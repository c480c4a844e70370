"""What a fit will take of the machine's memory, refused before it is asked for."""

from dgd.errors import InputError
from dgd.machine.memory import memory, shown_bytes
from dgd.model.shape import Shape

BESIDE_PATTERNS = 50
"""Numbers kept per support point of a cell beside its patterns; measured with 7 behaviours."""


def refuse_fit_beyond_memory(shape: Shape, days: int) -> None:
    """Refuse a model whose training would take more memory than there is."""
    points = shape.components * shape.nodes**shape.dim
    each = 8 * (2**shape.behaviors + BESIDE_PATTERNS)
    needed, there = each * days * shape.units * shape.cohorts * points, memory()
    if there is not None and needed > there:
        raise InputError(
            f"training {days} days of {shape.units:,} units and {shape.cohorts:,} cohorts at "
            f"{points:,} support points (components {shape.components}, nodes {shape.nodes}, dim "
            f"{shape.dim}) takes about {shown_bytes(needed)}, and this machine has "
            f"{shown_bytes(there)}; lower components or nodes, or merge units or cohorts."
        )
