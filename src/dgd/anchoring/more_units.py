"""An anchor meets units that it was not chosen on."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from dgd.anchoring.anchor import Anchor
from dgd.panel.new_units import with_typical_units


def anchor_with_new_units(anchor: Anchor, size: Float[np.ndarray, "unit_and_new cohort"]) -> Anchor:
    """The anchor with units behind the known ones, as many as there are more sizes.

    Weights stay. Each effort reaches as many people of a new unit as is typical. Chains that were
    chosen on a single unit never heard what units have of their own, and go on without it.
    """
    patterns, arrivals = anchor.patterns, anchor.arrivals
    if arrivals is not None:
        reach = arrivals.reach.reshape(-1, size.shape[1])
        if len(reach) == 1 and patterns is not None:
            chains = tuple(chain._replace(unit_share=0.0) for chain in patterns.chains)
            patterns = replace(patterns, chains=chains)
        arrivals = replace(arrivals, reach=with_typical_units(reach, size).ravel())
    return replace(anchor, patterns=patterns, arrivals=arrivals)
