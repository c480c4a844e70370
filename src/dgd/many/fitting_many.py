"""fit_many: one model for every panel, on this machine, on Spark or on Ray."""

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from os import cpu_count
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from dgd.errors import InputError, few
from dgd.files.atomic import check_target, ready_folder
from dgd.learning.bars import Board
from dgd.learning.progress import board_of, refuse_progress
from dgd.learning.seeds import checked_seeds
from dgd.learning.settings import Settings
from dgd.many.file_names import file_names
from dgd.many.jobs import FAILED, Job, Outcome, PanelMaker
from dgd.many.local_engine import on_this_machine
from dgd.many.many_fits import ManyFits
from dgd.many.ray_engine import on_ray, ray_module
from dgd.many.spark_engine import on_spark, spark_session
from dgd.panel.panel import Panel
from dgd.tables.periods import Moment

ENGINES = ("local", "spark", "ray")
ManyProgress: TypeAlias = Callable[[str, str, int, int], None]
"""Told (panel, its state, panels finished, panels in all) whenever one is finished."""

Given = TypeVar("Given")


def fit_many(
    panels: Mapping[str, Panel | PanelMaker],
    settings: Settings | Mapping[str, Settings],
    *,
    train_end: Moment | Mapping[str, Moment],
    validation_end: Moment | Mapping[str, Moment],
    warmup_end: Moment | Mapping[str, Moment | None] | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    folder: str | Path,
    engine: str = "local",
    processes: int | None = None,
    session: Any = None,
    progress: ManyProgress | Board | bool | None = None,
) -> ManyFits:
    """Fit every panel by itself and write its model to a file of its own.

    The numbers are those of `settings.fit(panel, ...)`, whatever the engine. A panel that is
    refused, cannot be made or takes its process down is reported in its row and stops no other.
    Finished fits are in `folder` at once, also after Ctrl-C; the same call again goes on with
    what is missing or has changed: panel, settings, days or seeds.

    Args:
        panels: by name. A panel may be a function without arguments that returns it; it is
            called when its turn comes, on Spark and Ray where the fit runs.
        settings, train_end, validation_end, warmup_end: as in `DGD.fit`; one for all panels, or
            by the panels' names.
        seeds: of every panel.
        folder: of the model files. With Spark or Ray all machines must share it.
        engine: "local", processes on this machine; "spark", `applyInPandas` with one row per
            panel; "ray", one task per panel.
        processes: on this machine; one for each core by default.
        session: the SparkSession; the open one by default.
        progress: a bar of finished panels where standard error is a terminal, or in a notebook;
            none with False; or a function to be called with (panel, state, finished, all).
    """
    if engine not in ENGINES:
        raise InputError(f'engine "{engine}" is not known; choose one of {", ".join(ENGINES)}.')
    _refuse_options_of_others(engine, processes, session)
    refuse_progress(progress)
    ends = (train_end, validation_end, warmup_end)
    jobs = _jobs(panels, settings, ends, seeds, Path(folder).absolute())
    ready_folder(Path(folder))
    check_target(jobs[0].file)
    outcomes = dict[str, Outcome]()
    started = _started(jobs, engine, processes, session)
    with closing(started) as finished, board_of(progress) as board:
        bar = board.added("panels", len(jobs))
        board.moved(bar, 0, "")
        for outcome in finished:
            outcomes[outcome.name] = outcome
            failed = sum(one.state == FAILED for one in outcomes.values())
            board.moved(bar, len(outcomes), f"{failed} failed" if failed else "")
            if callable(progress):
                progress(outcome.name, outcome.state, len(outcomes), len(jobs))
        board.finished(bar)
    for job in jobs:
        for sentence in outcomes[job.name].warnings:
            warnings.warn(f"panel {job.name}: {sentence}", RuntimeWarning, stacklevel=2)
    made = next((job.panel.kind for job in jobs if isinstance(job.panel, Panel)), "polars")
    return ManyFits(tuple(outcomes[job.name] for job in jobs), made)


def _started(
    jobs: Sequence[Job], engine: str, processes: int | None, session: Any
) -> Generator[Outcome, None, None]:
    """Outcomes as they come; closing it ends what is still under way."""
    if engine == "spark":
        return on_spark(jobs, spark_session(session))
    if engine == "ray":
        return on_ray(jobs, ray_module())
    return on_this_machine(jobs, min(processes or cpu_count() or 1, len(jobs)))


def _refuse_options_of_others(engine: str, processes: object, session: object) -> None:
    whole = isinstance(processes, int) and not isinstance(processes, bool) and processes >= 1
    if processes is not None and not whole:
        raise InputError(f"processes is {processes!r}; give a whole number from 1 on.")
    if processes is not None and engine != "local":
        raise InputError(
            f'processes is {processes}, but engine "{engine}" decides by itself how many panels '
            "it fits at once; leave processes out."
        )
    if session is not None and engine != "spark":
        raise InputError(f'session is given, but engine is "{engine}"; choose "spark".')


def _jobs(
    panels: Mapping[str, Panel | PanelMaker],
    settings: Settings | Mapping[str, Settings],
    ends: tuple[Any, Any, Any],
    seeds: Sequence[int],
    folder: Path,
) -> list[Job]:
    """One job per panel, refused before any work where the call cannot be right."""
    if not isinstance(panels, Mapping) or not panels:
        raise InputError(
            f"panels is {'empty' if isinstance(panels, Mapping) else type(panels).__name__}; "
            "give at least one by its name, like {'north': panel}."
        )
    names = list(panels)
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputError(f"panel {name!r} is not named by a text; name it like 'north'.")
    chosen = _by_name(settings, "settings", names)
    for name, given in chosen.items():
        if not isinstance(given, Settings):
            raise InputError(
                f'settings of panel "{name}" is a {type(given).__name__}; give dgd.DGD(...).'
            )
    days = {
        end: _by_name(given, end, names)
        for end, given in zip(("train_end", "validation_end", "warmup_end"), ends, strict=True)
    }
    files, whole = file_names(names), tuple(checked_seeds(seeds))
    return [
        Job(
            name,
            panels[name],
            chosen[name].as_dict(),
            {end: by_name[name] for end, by_name in days.items()},
            whole,
            folder / files[name],
        )
        for name in names
    ]


def _by_name(given: Given | Mapping[str, Given], what: str, names: Sequence[str]) -> dict[str, Any]:
    """What is given for every panel, whether one for all or by name."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(f"{what} has nothing for panel {few(missing)}; give one for each panel.")
    return {name: given[name] for name in names}
