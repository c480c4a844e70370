"""What a fit will take of the machine's memory, refused before it is asked for."""

from dgd.errors import InputError
from dgd.machine.memory import memory, shown_bytes
from dgd.model.shape import Shape

BESIDE_PATTERNS = 50
"""Numbers kept per support point of a cell beside its patterns; measured with 7 behaviours."""
OF_A_FEATURE = 13
"""Numbers kept per feature of a unit, cohort and day where every epoch walks all of many units;
measured with 8 features."""


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


def refuse_units_beyond_memory(units: int, cohorts: int, days: int, features: int) -> None:
    """Refuse exact training of more units than there is memory for."""
    needed, there = 8 * OF_A_FEATURE * units * cohorts * days * features, memory()
    if there is not None and needed > there:
        raise InputError(
            f"exact training on {days} days of {units:,} units and {cohorts:,} cohorts holds about "
            f"{shown_bytes(needed)}, and this machine has {shown_bytes(there)}; leave training at "
            "auto, which sees random blocks of units, or spread them over processes."
        )
