"""One number for everything a table says, kept with it and checked when it is read again."""

import hashlib
import json

import numpy as np
import polars as pl


def table_digest(table: pl.DataFrame) -> str:
    """The same for tables with the same columns, kinds and values in the same order of rows."""
    whole = hashlib.sha256()
    for column in table:
        kind = str(column.dtype)
        whole.update(json.dumps([column.name, kind, column.len(), column.null_count()]).encode())
        whole.update(np.packbits(column.is_null().to_numpy()).tobytes())
        if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype == pl.Boolean:
            numbers = column.to_physical().fill_null(0 if column.dtype != pl.Boolean else False)
            whole.update(np.ascontiguousarray(numbers.to_numpy()).tobytes())
        else:
            texts = column.cast(pl.String).fill_null("")
            whole.update(texts.str.len_bytes().to_numpy().tobytes())
            whole.update("".join(texts.to_list()).encode())
    return whole.hexdigest()
