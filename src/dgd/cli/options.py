"""Options that several commands share, each said once."""

from pathlib import Path
from typing import Annotated

import typer

CountsFile = Annotated[Path, typer.Argument(help="Counts table, .csv or .parquet.")]
Behaviors = Annotated[str, typer.Option(help="Behaviour columns, separated by commas.")]
TrainEnd = Annotated[str, typer.Option(help="Last training date.")]
ValidationEnd = Annotated[str, typer.Option(help="Last validation date; later ones test.")]
WarmupEnd = Annotated[str | None, typer.Option(help="Last warm-up date.")]
DateColumn = Annotated[str, typer.Option(help="Date column.")]
UnitColumn = Annotated[str, typer.Option(help="Unit column, or none.")]
CohortColumn = Annotated[str, typer.Option(help="Cohort column, or none.")]
CountColumn = Annotated[str, typer.Option(help="Count column.")]
ContextColumns = Annotated[str, typer.Option(help="Context columns of events.")]
SizesFile = Annotated[Path | None, typer.Option(help="Reference sizes.")]
EffortFile = Annotated[Path | None, typer.Option(help="Effort per date.")]
FeaturesFile = Annotated[Path | None, typer.Option(help="Further known features.")]
PeriodName = Annotated[str, typer.Option(help="hour, day or week.")]
Preset = Annotated[str, typer.Option(help="default or paper.")]
Components = Annotated[int, typer.Option(help="Response types per cohort.")]
Nodes = Annotated[int, typer.Option(help="Quadrature nodes per type.")]
Epochs = Annotated[int | None, typer.Option(help="Most epochs to train.")]
MoreSettings = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting, like population=discrete.")
]
Seeds = Annotated[str, typer.Option(help="Seeds, separated by commas.")]
