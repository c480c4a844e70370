"""Options that several commands share, each said once."""

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from dgd.cli.console import tell_new_units
from dgd.cli.data_set import panel_of_folder, read_counts
from dgd.cli.values import named_settings, names, whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import check_target
from dgd.tables.files import check_table_target, read_optional, read_table

if TYPE_CHECKING:
    from dgd.estimator import DGD
    from dgd.fit import Fit
    from dgd.panel.panel import Panel
    from dgd.processes.group import Group

MoreSettings = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting, like population=discrete.")
]
Seeds = Annotated[str, typer.Option(help="Seeds, separated by commas.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
TableFile = Annotated[Path | None, typer.Option(help="File to write, .csv or .parquet.")]
ChartFolder = Annotated[Path | None, typer.Option(help="Folder for charts, .html, .png and .svg.")]
Levels = Annotated[str, typer.Option(help="Intervals in per cent, like 80,95.")]
DrawSeed = Annotated[int, typer.Option(help="Of the draws.")]


@dataclass(frozen=True)
class PanelOptions:
    """A table of counts, and how to read it."""

    counts: Annotated[Path, typer.Argument(help="Counts, .csv, .parquet or a data set.")]
    behaviors: Annotated[str, typer.Option(help="Behaviour columns, separated by commas.")]
    date: Annotated[str, typer.Option(help="Date column.")] = "date"
    unit: Annotated[str, typer.Option(help="Unit column, or none.")] = "unit"
    cohort: Annotated[str, typer.Option(help="Cohort column, or none.")] = "cohort"
    count: Annotated[str, typer.Option(help="Count column.")] = "count"
    context: Annotated[str, typer.Option(help="Context columns of events.")] = ""
    sizes: Annotated[Path | None, typer.Option(help="Reference sizes.")] = None
    effort: Annotated[Path | None, typer.Option(help="Effort per date.")] = None
    features: Annotated[Path | None, typer.Option(help="Further known features.")] = None
    country: Annotated[
        str | None, typer.Option(help="Whose public holidays, like GB, GB-ENG or US-CA.")
    ] = None
    special: Annotated[Path | None, typer.Option(help="Special days: date and name.")] = None
    period: Annotated[str, typer.Option(help="hour, day or week.")] = "day"
    start: Annotated[str | None, typer.Option(help="First date observed.")] = None
    end: Annotated[str | None, typer.Option(help="Last date observed.")] = None
    duplicates: Annotated[
        str, typer.Option(help="Rows of one cell and pattern: refuse, or sum them.")
    ] = "refuse"

    @property
    def files(self) -> list[Path | None]:
        """The files that are read, which no result may replace."""
        return [self.counts, self.sizes, self.effort, self.features, self.special]

    def read(self, shard: tuple[int, int] | None = None) -> "Panel":
        """The panel that the files make, or one of several shards of a data set."""
        known = self.known()
        if os.path.isdir(self.counts):
            more = {"country": self.country, "start": self.start, "end": self.end, "shard": shard}
            return panel_of_folder(self.counts, self.behaviors, self._said(), **known, **more)
        return self.panel_of(read_table(self.counts), **known)

    def known(self) -> dict[str, pl.DataFrame | None]:
        """The tables beside the counts, where any were named."""
        beside = ("sizes", "effort", "features", "special")
        return {name: read_optional(getattr(self, name)) for name in beside}

    def _said(self) -> dict[str, str]:
        """What was said of columns, context and period, and not left as it is usual."""
        named = ("date", "unit", "cohort", "count", "context", "period")
        usual = {field.name: field.default for field in fields(self)}
        return {name: getattr(self, name) for name in named if getattr(self, name) != usual[name]}

    def panel_of(self, counts: pl.DataFrame, **known: Any) -> "Panel":
        """The panel that these tables make, columns named as the options say; "none" stands for
        no unit or cohort column."""
        from dgd.panel.panel import Panel

        return Panel.from_counts(
            counts,
            date=self.date,
            unit=None if self.unit == "none" else self.unit,
            cohort=None if self.cohort == "none" else self.cohort,
            behaviors=names(self.behaviors),
            count=self.count,
            context=names(self.context),
            country=self.country,
            period=self.period,
            start=self.start,
            end=self.end,
            duplicates=self.duplicates,
            **known,
        )


@dataclass(frozen=True)
class AheadOptions:
    """A fitted model, and what is known of the days since and ahead."""

    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")]
    counts: Annotated[Path | None, typer.Option(help="Counts of the days since the fit.")] = None
    start: Annotated[
        str | None, typer.Option(help="First new date, where nothing arrived on it.")
    ] = None
    origin: Annotated[str | None, typer.Option(help="Last date whose counts are used.")] = None
    effort: Annotated[Path | None, typer.Option(help="Effort of new days and days ahead.")] = None
    features: Annotated[Path | None, typer.Option(help="Features, likewise.")] = None
    special: Annotated[Path | None, typer.Option(help="Special days, likewise.")] = None

    @property
    def files(self) -> list[Path | None]:
        """The files that are read, which no result may replace."""
        return [self.model, self.counts, self.effort, self.features, self.special]

    def check_output(self, output: Path | None, *more: Path | None) -> None:
        """Refuse a table that could not be written or would replace what is read."""
        if output is not None:
            check_table_target(output, [*self.files, *more])

    def read(self) -> "tuple[Fit, dict[str, Any]]":
        """The fit, moved on by newer counts where there are any, and what else it is asked with:
        origin, effort and features."""
        from dgd.fit import Fit
        from dgd.storage import load_kind

        known = {"effort": read_optional(self.effort), "features": read_optional(self.features)}
        newer, special = read_counts(self.counts), read_optional(self.special)
        fit = load_kind(self.model, Fit)
        if special is not None:
            fit = replace(fit, panel=fit.panel.with_special(special))
        if newer is not None:
            before = len(fit.panel.units)
            fit = fit.update(fit.panel.read_alike(newer, start=self.start, **known))
            tell_new_units(fit.panel.units[before:])
            known = dict.fromkeys(known)
        return fit, {"origin": self.origin, **known}


@dataclass(frozen=True)
class RangeOptions:
    """Which days train and validate."""

    train_end: Annotated[str, typer.Option(help="Last training date.")]
    validation_end: Annotated[str, typer.Option(help="Last validation date; later ones test.")]
    warmup_end: Annotated[str | None, typer.Option(help="Last warm-up date.")] = None

    def ends(self, panel: "Panel", group: "Group | None" = None) -> dict[str, Any]:
        """The dates as arguments of a fit, refused before any work where they cannot be right."""
        from dgd.panel.shared import known_to_all
        from dgd.panel.split import Split

        if group is not None:
            panel = known_to_all(panel, group)
        Split.of(panel, self.train_end, self.validation_end, self.warmup_end)
        return {
            "train_end": self.train_end,
            "validation_end": self.validation_end,
            "warmup_end": self.warmup_end,
        }


@dataclass(frozen=True)
class CheckpointOptions:
    """Where a long fit keeps how far it is."""

    checkpoint: Annotated[
        Path | None, typer.Option(help="File that keeps where training stands.")
    ] = None
    every: Annotated[float, typer.Option(help="Minutes between two checkpoints.")] = 5.0
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint where there is one.")
    ] = False

    def chosen(self, output: Path, inputs: list[Path | None]) -> dict[str, Any]:
        """The arguments of a fit, refused before any work where they cannot be right."""
        from dgd.learning.fit_checkpoint import refuse_checkpoint

        refuse_checkpoint(self.checkpoint, self.every, self.resume)
        if self.checkpoint is not None:
            if self.checkpoint.absolute() == output.absolute():
                raise InputError(
                    f'checkpoint "{self.checkpoint}" is the model file to write; name another.'
                )
            check_target(self.checkpoint, inputs)
        return {"checkpoint": self.checkpoint, "every": self.every, "resume": self.resume}

    def remove(self, process: int | None = None) -> None:
        """Remove the file, or that of one of several processes, once the model is written."""
        from dgd.learning.checkpoints import remove_checkpoint

        if self.checkpoint is not None:
            own = self.checkpoint if process is None else f"{self.checkpoint}.{process}"
            remove_checkpoint(own)


@dataclass(frozen=True)
class ModelOptions:
    """The model to fit, and its seeds."""

    preset: Annotated[str, typer.Option(help="default or paper.")] = "default"
    components: Annotated[int | None, typer.Option(help="Response types per cohort.")] = None
    nodes: Annotated[int | None, typer.Option(help="Quadrature nodes per type.")] = None
    epochs: Annotated[int | None, typer.Option(help="Most epochs to train.")] = None
    settings: MoreSettings = None
    seeds: Seeds = "1,2,3"

    def chosen(self) -> "DGD":
        """The preset with the settings given on the command line."""
        from dgd.estimator import DGD
        from dgd.learning.settings import Settings

        options = {"components": self.components, "nodes": self.nodes, "epochs": self.epochs}
        changes = named_settings(options, self.settings or [], Settings().as_dict())
        if self.preset == "paper":
            return DGD.paper(**changes)
        if self.preset == "default":
            return DGD(**changes)
        raise InputError(f'preset "{self.preset}" is not known; choose default or paper.')

    def chosen_seeds(self) -> list[int]:
        """The seeds, refused before any work where one comes twice."""
        from dgd.learning.seeds import checked_seeds

        return checked_seeds(whole_numbers(self.seeds, "seeds"))
