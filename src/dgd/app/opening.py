"""The start: files of the folder, files handed over, and what is open already."""

import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import polars as pl

from dgd.app.desk import Desk, Go, Page, described
from dgd.app.fields import Fields
from dgd.app.guesses import guessed
from dgd.app.library import OpenModel, OpenTable
from dgd.app.uploads import Upload
from dgd.choice.fit import ChoiceFit
from dgd.errors import DGDError, InputError
from dgd.fit import Fit
from dgd.machine.memory import shown_bytes
from dgd.storage import load
from dgd.tables.files import read_table
from dgd.tables.html import escaped

NEWEST = 5
"""Of models and of tables, so many are shown before the others are asked for."""
DROP = """
<div class="drop" data-drop>
<p><strong>Drop a table or a model here</strong></p>
<p class="soft">.csv, .parquet or .dgd; it stays on this machine</p>
<label class="button quiet">Choose a file
<input class="hidden" type="file" accept=".csv,.parquet,.dgd" multiple></label>
<div class="answer"></div>
</div>
"""


def start_page(desk: Desk, _: str) -> Page:
    """What could be opened, and what is."""
    listed = desk.folder.listing()
    parts = [DROP, _opened(desk), _listing(listed)]
    lead = "Load a table of counts to look at it and fit it, or a model to ask what comes next."
    return Page("What would you like to look at?", "".join(parts), lead=lead)


def open_listed(desk: Desk, _: str, fields: Fields) -> Go:
    """Open a file of the folder by its name in the listing."""
    name = fields.text("file")
    return opened(desk, name, desk.folder.file(name))


def open_upload(desk: Desk, upload: Upload) -> Go:
    """Open a file that was handed over, which is not needed after that."""
    try:
        return opened(desk, upload.name, upload.path)
    finally:
        upload.path.unlink(missing_ok=True)


def opened(desk: Desk, name: str, file: Path) -> Go:
    """Put a table or a model on its shelf; the answer leads to its page."""
    if file.suffix == ".dgd":
        return Go(f"model?id={quote(desk.library.models.put(_copied(desk, name, file)))}")
    table = desk.library.tables.put(OpenTable(name, _read(file, name)))
    looks = "yes" if guessed(desk.library.tables.get(table).frame).counted else "no"
    facts = {"value": f"table:{table}", "name": name, "counts": looks}
    return Go(f"table?id={quote(table)}", facts)


def _copied(desk: Desk, name: str, file: Path) -> OpenModel:
    """A model and our own copy of its file: what is downloaded is what was read."""
    copy = desk.scratch / f"model-{secrets.token_hex(8)}.dgd"
    try:
        shutil.copyfile(file, copy)
        return OpenModel(name, copy, model_of(copy, name))
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def model_of(file: Path, name: str) -> Fit | ChoiceFit:
    """The fit in a file, refused where the app has no pages for it."""
    try:
        found = load(file)
    except DGDError as error:
        raise _by_name(error, file, name) from error
    if not isinstance(found, (Fit, ChoiceFit)):
        raise InputError(
            f'file "{name}" holds a {found.holds}, for which the app has no pages; look at it '
            "with dgd info."
        )
    return found


def _read(file: Path, name: str) -> pl.DataFrame:
    try:
        return read_table(file)
    except DGDError as error:
        raise _by_name(error, file, name) from error


def _by_name(error: DGDError, file: Path, name: str) -> DGDError:
    """The same error, the file called what the browser calls it and not where it is kept."""
    return type(error)(str(error).replace(str(file), name))


def _opened(desk: Desk) -> str:
    models = [
        f'<li><a href="model?id={quote(known)}">{escaped(model.name)}</a> '
        f'<span class="soft">{escaped(described(model.fit.data))}</span></li>'
        for known, model in desk.library.models.items()
    ]
    readings = [
        f'<li><a href="data?id={quote(known)}">{escaped(reading.name)}</a> '
        f'<span class="soft">{escaped(described(reading.panel))}</span></li>'
        for known, reading in desk.library.readings.items()
    ]
    if not models and not readings:
        return ""
    shown = "".join(models[:NEWEST] + readings[:NEWEST])
    older = models[NEWEST:] + readings[NEWEST:]
    more = f'<ul class="files">{"".join(older)}</ul>'
    return f'<h2>Open now</h2><ul class="files">{shown}</ul>' + (
        f"<details><summary>{len(older)} more</summary>{more}</details>" if older else ""
    )


def _listing(listed: Mapping[str, Path]) -> str:
    if not listed:
        return (
            '<h2>In this folder</h2><p class="soft">There is no .csv, .parquet or .dgd file in the '
            "folder the app was started in.</p>"
        )
    rows = "".join(
        f'<li><form method="post" action="open" data-into="opening">'
        f'<input type="hidden" name="file" value="{escaped(name)}">'
        f'<button class="file" type="submit"><span>{escaped(name)}</span>'
        f'<span class="soft">{_kind(path)}, {_size(path)}</span></button></form></li>'
        for name, path in listed.items()
    )
    return (
        f'<h2>In this folder</h2><div id="opening" class="answer"></div>'
        f'<ul class="files">{rows}</ul>'
    )


def _kind(path: Path) -> str:
    return "model" if path.suffix == ".dgd" else "table"


def _size(path: Path) -> str:
    try:
        return shown_bytes(path.stat().st_size)
    except OSError:
        return "gone"
