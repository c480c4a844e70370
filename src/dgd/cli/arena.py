"""The accuracy arena in the shell: held, printed, and kept where asked."""

import json
from collections.abc import Sequence
from pathlib import Path

from dgd.cli.console import err, show, warnings_in_a_line, wrote
from dgd.files.atomic import check_target, write_atomically


def arena(
    data: Path | None,
    json_file: Path | None,
    results: Path | None,
    windows: Sequence[str] | None = None,
) -> None:
    """Hold the arena on the data at hand, on some `windows` only where they are named."""
    from dgd.arena.arena import held
    from dgd.arena.page import joined, shown_tables

    for target in (json_file, results):
        if target is not None:
            check_target(target)
    with warnings_in_a_line():
        rows = held(data, err.print, windows)
    for title, table in shown_tables(rows).items():
        show(title, table, most=400)
    if json_file is not None:
        content = json.dumps(rows.to_dicts(), indent=1)
        write_atomically(json_file.absolute(), content.encode())
        wrote(json_file)
    if results is not None:
        before = results.read_text("utf-8") if results.is_file() else ""
        write_atomically(results.absolute(), joined(before, rows).encode())
        wrote(results)
