"""Model files: whatever dgd has fitted, read back from its file."""

from pathlib import Path
from typing import Any, TypeVar

from dgd.baselines.deepar import DeepARFit
from dgd.baselines.gru import GRUFit
from dgd.choice.fit import ChoiceFit
from dgd.errors import ModelFileError
from dgd.files.tensors import incomplete, read_tensors
from dgd.fit import Fit
from dgd.large.shards import MARK, joined_shards, shard_files
from dgd.learning.trained import Trained

KINDS: dict[str, type[Trained]] = {kind.holds: kind for kind in (Fit, ChoiceFit, DeepARFit, GRUFit)}
"""What a file can hold."""

Kind = TypeVar("Kind", bound=Trained)


def load(path: str | Path) -> Any:
    """Read a file that `save` wrote, or the folder of a fit over several processes; what the fit
    says is the same as before saving."""
    if (Path(path) / MARK).is_file():
        return joined_shards([_load_file(file) for file in shard_files(Path(path))])
    return _load_file(path)


def _load_file(path: str | Path) -> Any:
    holds, facts, tensors = read_tensors(path)
    if holds not in KINDS:
        raise ModelFileError(
            f'"{path}" holds a {holds}, which this dgd does not know; upgrade dgd.'
        )
    try:
        return KINDS[holds].restored(facts, tensors)
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError) as error:
        raise incomplete(path, error) from error


def load_kind(path: str | Path, kind: type[Kind]) -> Kind:
    """The same, refused where the file holds anything but a fit of that `kind`."""
    found = load(path)
    if not isinstance(found, kind):
        raise ModelFileError(
            f'"{path}" holds a {found.holds}, and this needs a {kind.holds}; name another file.'
        )
    return found
