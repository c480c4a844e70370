"""Where tests find the real data, which is never part of the repository."""

import os
from pathlib import Path

import pytest

BESIDE_THE_REPOSITORY = Path(__file__).parents[3] / "shared" / "data"


def real_data(needs: str = "") -> Path:
    """The folder with the data sets; a test is skipped where it, or `needs` in it, is missing."""
    folder = Path(os.environ.get("DGD_DATA") or BESIDE_THE_REPOSITORY)
    if not (folder / needs).exists():
        pytest.skip(f"real data is not in {folder / needs}; name its folder with DGD_DATA")
    return folder
