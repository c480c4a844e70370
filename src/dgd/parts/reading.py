"""Some parts of a data set, or all, as one table; what has changed since they were written is
refused."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from dgd.errors import InputError, first_line
from dgd.files import declared
from dgd.parts.manifest import CountsManifest, PartTotals, part_folder, read_manifest
from dgd.tables.files import UNREADABLE


def parts_of_shard(shard: object, partitions: int) -> range:
    """The parts that one of several readers reads: those p with p % n == i for shard (i, n)."""
    if shard is None:
        return range(partitions)
    if not isinstance(shard, (tuple, list)) or [declared.is_whole(x) for x in shard] != [True] * 2:
        raise InputError(
            f"shard is {str(shard)[:80]}; give two whole numbers like (0, 4), the first of four."
        )
    index, shards = shard
    if not 0 <= index < shards:
        raise InputError(
            f"shard {index} of {shards} does not exist; count shards from 0 to their number less "
            "one."
        )
    if shards > partitions:
        raise InputError(
            f"shard is one of {shards:,}, but the data set has {partitions:,} partitions; read it "
            f"with at most {partitions:,} shards, or count again with more partitions."
        )
    return range(index, partitions, shards)


def read_data_set(folder: Path) -> pl.DataFrame:
    """All counts of a data set."""
    manifest = read_manifest(folder)
    return read_parts(folder, manifest, range(manifest.partitions))


def read_parts(folder: Path, manifest: CountsManifest, parts: Iterable[int]) -> pl.DataFrame:
    """The counts of some parts, part after part.

    Raises:
        InputError: A file cannot be read, or a part does not hold what the manifest says.
    """
    tables = [
        _read(Path(folder) / part_folder(part), manifest, manifest.parts[part]) for part in parts
    ]
    try:
        return pl.concat([table for table in tables if table.height] or tables[:1])
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f'parts of data set "{folder}" do not fit together ({first_line(error)}); count again.'
        ) from error


def _read(folder: Path, manifest: CountsManifest, told: PartTotals) -> pl.DataFrame:
    files = sorted(folder.glob("*.parquet"))
    try:
        if not files:
            table = pl.DataFrame(schema=manifest.names)
        else:
            table = pl.read_parquet(
                files, columns=manifest.names, hive_partitioning=False, glob=False
            )
        found = _totals(table, manifest) if table.height else PartTotals(0, 0, 0)
    except (*UNREADABLE, TypeError) as error:
        raise InputError(
            f'part "{folder}" cannot be read ({first_line(error)}); copy the data set again or '
            "count again."
        ) from error
    if found != told:
        raise InputError(
            f'part "{folder}" holds {found.rows:,} rows, {found.arrivals:,} arrivals and '
            f"{found.units:,} units, where the manifest says {told.rows:,}, {told.arrivals:,} and "
            f"{told.units:,}; copy the data set again or count again."
        )
    return table


def _totals(table: pl.DataFrame, manifest: CountsManifest) -> PartTotals:
    arrivals, units = manifest.columns["count"], manifest.columns["unit"]
    return PartTotals(table.height, int(table[arrivals].sum()), table[units].n_unique())
