"""Panels of data sets: all of one, or the shard that one of several machines reads.

Dates, cohorts and behaviours come from the manifest, so that every shard has the same, whatever
its units showed.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.parts.manifest import CountsManifest, read_manifest
from dgd.parts.reading import parts_of_shard, read_parts
from dgd.tables.frames import to_polars
from dgd.tables.hashing import hash_bucket
from dgd.tables.labels import Label
from dgd.tables.periods import Moment, period_named
from dgd.tables.refusing import refuse_text

Given = IntoFrame | Mapping[Label, float] | None


def counts_of_data_set(
    folder: str | os.PathLike[str],
    shard: tuple[int, int] | None,
    behaviors: Sequence[str] | None,
    sizes: Given,
    effort: IntoFrame | None,
    features: IntoFrame | None,
    cohorts: Sequence[Label] | None,
    start: Moment | None,
    end: Moment | None,
) -> dict[str, Any]:
    """What `Panel.from_counts` is told of the parts that a shard reads, table and axes;
    `Panel.from_parquet` says what is what."""
    path = Path(folder)
    manifest = read_manifest(path)
    parts = parts_of_shard(shard, manifest.partitions)
    if not any(manifest.parts[part].rows for part in parts):
        raise InputError(
            f'shard {shard} of data set "{path}" holds no units; read it with fewer shards.'
        )
    refuse_text(behaviors, "behaviors")
    wanted = manifest.behaviors if behaviors is None else tuple(behaviors)
    strange = [name for name in wanted if name not in manifest.behaviors]
    if strange:
        raise InputError(
            f'behaviors names "{strange[0]}", which data set "{path}" has not counted; it has '
            f"{', '.join(manifest.behaviors)}."
        )
    first, last = _ends(manifest, start, end)
    return {
        "counts": read_parts(path, manifest, parts),
        "date": manifest.columns["date"],
        "unit": manifest.columns["unit"],
        "cohort": manifest.columns["cohort"],
        "behaviors": wanted,
        "count": manifest.columns["count"],
        "context": manifest.context,
        "sizes": sizes if isinstance(sizes, Mapping) else _own(sizes, "sizes", manifest, parts),
        "effort": _own(effort, "effort", manifest, parts),
        "features": _own(features, "features", manifest, parts),
        "period": manifest.period,
        "cohorts": manifest.cohorts if cohorts is None else cohorts,
        "start": first,
        "end": last,
        "duplicates": "refuse" if len(wanted) == len(manifest.behaviors) else "sum",
    }


def _ends(
    manifest: CountsManifest, start: Moment | None, end: Moment | None
) -> tuple[Moment, Moment]:
    """The first and last date of every shard: those of the manifest, or dates beyond them."""
    period = period_named(manifest.period)
    if start is not None and period.parse(start, "start") > period.parse(manifest.first, "first"):
        raise InputError(
            f"start {start} is after the first counted date {manifest.first}; leave it out."
        )
    if end is not None and period.parse(end, "end") < period.parse(manifest.last, "last"):
        raise InputError(
            f"end {end} is before the last counted date {manifest.last}; leave it out."
        )
    return manifest.first if start is None else start, manifest.last if end is None else end


def _own(given: Any, name: str, manifest: CountsManifest, parts: range) -> pl.DataFrame | None:
    """The rows of a table that speak of this shard's units, or of all units."""
    if given is None:
        return None
    table, _ = to_polars(given, name)
    unit = manifest.columns["unit"]
    if unit not in table.columns or len(parts) == manifest.partitions:
        return table
    labels = table[unit].unique()
    others = [
        label is not None and hash_bucket(str(label), manifest.partitions) not in parts
        for label in labels.to_list()
    ]
    return table.filter(~pl.col(unit).is_in(labels.filter(pl.Series(others)).implode()))
