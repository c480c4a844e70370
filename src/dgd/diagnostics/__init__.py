"""Theory a user can call: can the numbers of this fit be trusted?

- `check(fit)` runs everything below.
- `check_nodes`: would more quadrature nodes change the predictions?
- `quadrature_bounds`, `error_propagation`, `state_limits`: errors beside their bounds.
- `separated`, `joined`, `tilting_table`: the two readouts of one model.
- `people`: who is there, and who is seen.
- `counts_against_events`: what counts leave out (nothing).
- `gradient_check`: automatic against central differences, and whether they reach every part.
- `identifiability`: which parameters not to read too much into.
"""

from dgd.diagnostics.bounds import quadrature_bounds
from dgd.diagnostics.checkup import Checkup, check
from dgd.diagnostics.gradients import gradient_check
from dgd.diagnostics.identifiability import identifiability
from dgd.diagnostics.nodes import NodeCheck, check_nodes
from dgd.diagnostics.people import people
from dgd.diagnostics.propagation import error_propagation, state_limits
from dgd.diagnostics.supervision import counts_against_events
from dgd.diagnostics.tilting import join, joined, separate, separated, tilting_table

__all__ = [
    "Checkup",
    "NodeCheck",
    "check",
    "check_nodes",
    "counts_against_events",
    "error_propagation",
    "gradient_check",
    "identifiability",
    "join",
    "joined",
    "people",
    "quadrature_bounds",
    "separate",
    "separated",
    "state_limits",
    "tilting_table",
]
