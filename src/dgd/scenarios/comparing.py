"""A scenario: what would happen if effort, sizes or features were other than planned."""

from collections.abc import Sequence
from itertools import product

from narwhals.typing import IntoFrame

from dgd.forecasting.calibration import checked_levels
from dgd.runtime import computing
from dgd.scenarios.causes import split_of
from dgd.scenarios.changes import Changes, changed_future, named_changes
from dgd.scenarios.comparison import ScenarioComparison
from dgd.scenarios.drawing import draw_both, refuse_paths
from dgd.scenarios.expecting import Expecting, mean_series
from dgd.scenarios.future import Future, Outlook
from dgd.scenarios.planned_fit import DrawingFit
from dgd.scenarios.ranges import assumption_notes, warnings_of
from dgd.tables.periods import Moment


def scenario(
    fit: DrawingFit,
    changes: Changes,
    horizon: int,
    *,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
    levels: Sequence[float] = (80, 95),
    paths: int = 1000,
    seed: int = 0,
) -> ScenarioComparison:
    """Compare the `horizon` days after `origin` as planned with the same days after `changes`.

    Args:
        changes: a `Change`, its arguments by name, several of either, or a table with the
            columns what, how and value and, where they matter, date (or from and to), unit
            and cohort.
        origin: the last day whose counts are used; the panel's last by default.
        effort, features: the plan for days past the panel; where there is none, the last
            week is repeated, and `notes` say so.
        levels: of the ranges, in per cent.
        paths: how many pairs of futures are drawn for the ranges; with 0 there are none.
    """
    wanted = checked_levels(levels)
    refuse_paths(paths)
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    changed = changed_future(outlook, named_changes(changes, outlook.panel))
    return compared(fit, outlook, changed, wanted, paths, seed)


def compared(
    fit: DrawingFit,
    outlook: Outlook,
    changed: Future,
    levels: tuple[float, ...],
    paths: int,
    seed: int,
) -> ScenarioComparison:
    """The future as planned beside the `changed` one."""
    expecting = Expecting.of(fit, outlook)
    walks = (expecting.planned, expecting.walks(changed))
    futures = (outlook.planned, changed)
    crossed = {
        (inputs, state): expecting.met(walks[state], futures[inputs])
        for inputs, state in product((0, 1), repeat=2)
    }
    with computing():
        causes = split_of(crossed)
    baseline, after = (mean_series(crossed[at, at]) for at in (0, 1))
    drawn = draw_both(fit, expecting, changed, paths, seed) if paths else None
    moved = changed.effort != outlook.planned.effort
    return ScenarioComparison(
        outlook,
        baseline,
        after,
        causes,
        drawn,
        levels,
        (*outlook.notes, *assumption_notes(fit, moved)),
        warnings_of(fit, outlook, changed),
    )
