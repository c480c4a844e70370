"""Counts against events: the same objective, the same gradients.

Events that share their cell's context enter one by one; counts enter as they
are. The two likelihoods differ by a number of orderings that no parameter moves.
Of a large panel only some events stand alone, so that memory does not grow with arrivals.
"""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import polars as pl

from dgd.diagnostics.events_alone import told_one_by_one
from dgd.diagnostics.gradients import value_and_slope
from dgd.fit import Fit
from dgd.model.context import EventContext, SharedContext
from dgd.panel.contexts import EventCounts
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing


def counts_against_events(fit: Fit) -> pl.DataFrame:
    """Two rows per seed: the training objective from counts, and from events.

    Events enter one by one, and grouped by equal context as training groups them; here
    all events of a cell share theirs. Where more arrive than `events_alone.MOST_ALONE`,
    that many stand alone, spread evenly, and the column `events` says so.
    """
    panel, split = fit.panel, fit.split
    rows = []
    with computing():
        inputs, counts = recorded_days(
            panel, fit.features, split.first, split.train_stop, fit.settings.dispersion
        )
        cells = EventCounts.of_cells(panel.patterns[split.train])
        told = told_one_by_one(cells)
        forms = {told.form: told.events, "grouped": cells}
        none = jnp.zeros((0, len(panel.behaviors)))
        objective = fit.settings.objective
        for seed, crowd in zip(fit.seeds, fit.crowds, strict=True):
            shared = replace(crowd, context=SharedContext())
            own = replace(crowd, context=EventContext(none))
            from_counts, slope = value_and_slope(objective, shared, inputs, counts)
            for form, events in forms.items():
                grouped = replace(counts, events=events.groups(*counts.arrivals.shape))
                from_events, other = value_and_slope(objective, own, inputs, grouped)
                rows.append(
                    {
                        "seed": seed,
                        "events": form,
                        "groups": len(events.cell),
                        "objective": from_counts,
                        "objective difference": abs(from_events - from_counts),
                        "largest gradient": float(np.abs(slope).max()),
                        "gradient difference": float(np.abs(other - slope).max()),
                    }
                )
    return pl.DataFrame(rows)
