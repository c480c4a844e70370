"""Units, cohorts and contexts of counted groups, made one kind or refused."""

from collections.abc import Mapping, Sequence

import polars as pl

from dgd.counting.engines import rows_in
from dgd.counting.refusals import plural, refuse_missing
from dgd.counting.whole_ids import whole_labels
from dgd.errors import InputError
from dgd.tables.checks import LARGEST_VALUE
from dgd.tables.labels import Label

NO_LABEL = {"unit": "__dgd_no_unit__", "cohort": "__dgd_no_cohort__"}


def with_labels(
    groups: pl.DataFrame, labels: Mapping[str, str | None], missing: Label | None
) -> pl.DataFrame:
    """Unit and cohort as whole numbers or text, missing ones named or refused.

    The columns `NO_LABEL` say where `missing` stands in.
    """
    for name, column in labels.items():
        if column is None:
            everywhere = pl.lit("all").alias(name), pl.lit(False).alias(NO_LABEL[name])
            groups = groups.with_columns(everywhere)
            continue
        found = whole_labels(groups[name].alias(column), "events").alias(name)
        without = rows_in(groups.filter(found.is_null()))
        if without and missing is None:
            way_out = f'name their {name} with missing="unknown" or drop them first'
            refuse_missing("events", column, without, way_out)
        label = missing
        if without and isinstance(label, str):
            found = found.cast(pl.String)
        elif found.dtype == pl.String:
            label = str(label)
        groups = groups.with_columns(
            found.is_null().alias(NO_LABEL[name]),
            found.fill_null(pl.lit(label)) if without else found,
        )
    return groups


def with_numbers(groups: pl.DataFrame, context: Sequence[str]) -> pl.DataFrame:
    """Context as numbers, which text may hold too; anything else is refused."""
    for name in context:
        if groups.schema[name] == pl.Boolean or groups.schema[name].is_numeric():
            number = pl.col(name)
        else:
            number = pl.col(name).cast(pl.String).cast(pl.Float64, strict=False)
        wrong = groups.filter(number.is_null() & pl.col(name).is_not_null())
        if wrong.height:
            raise InputError(
                f'events column {name}: "{wrong[name][0]}" is not a number, in '
                f"{plural(rows_in(wrong))}; encode the context as numbers."
            )
        without = rows_in(groups.filter(number.is_null()))
        if without:
            refuse_missing("events", name, without)
        groups = groups.with_columns(number.alias(name))
    return groups


def refuse_odd_numbers(groups: pl.DataFrame, context: Sequence[str]) -> None:
    """Refuse context that is no finite number, or too large to be computed with."""
    for name in context:
        number = pl.col(name).cast(pl.Float64)
        odd = groups.filter(~number.is_finite() | (number.abs() > LARGEST_VALUE))
        if odd.height:
            raise InputError(
                f"events column {name}: {odd[name][0]} is not a number to compute with, in "
                f"{plural(rows_in(odd))}; correct it or drop these rows first."
            )
