"""How accurate dgd is beside its opponents, on every window that the data allow.

    python benchmarks/accuracy.py --data DIR --json accuracy.json

The same as `dgd reproduce arena`; `--windows` holds it on some windows only.
"""

import argparse
from pathlib import Path

from dgd.cli.arena import arena
from dgd.errors import DGDError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--json", type=Path, help="file to write the rows to")
    parser.add_argument("--results", type=Path, help="Markdown page to write")
    parser.add_argument("--windows", help="names of windows, separated by commas")
    chosen = parser.parse_args()
    windows = None
    if chosen.windows is not None:
        windows = [name.strip() for name in chosen.windows.split(",")]
    try:
        arena(chosen.data, chosen.json, chosen.results, windows)
    except DGDError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
