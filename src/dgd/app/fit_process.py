"""What the process of a fit runs: a reading in, progress as lines of JSON, a model file out.

Its standard input is held open by the app. When that ends, because the app was killed, the
process removes its folder and ends as well.
"""

import json
import math
import os
import shutil
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

from dgd.app.readings import handed_over
from dgd.errors import DGDError
from dgd.estimator import DGD

ASK, MODEL = "ask.json", "model.dgd"
REFUSED = 2
_telling = threading.Lock()
_leaving = threading.Lock()
"""Held by the thread that ends the process, so that the other cannot cut it short."""


def main(folder: Path) -> int:
    """Fit as `ask.json` in the folder says."""
    threading.Thread(target=_end_with_the_app, args=(folder,), daemon=True).start()
    try:
        return _fitted(folder)
    finally:
        _leaving.acquire()


def _fitted(folder: Path) -> int:
    ask = json.loads((folder / ASK).read_text("utf-8"))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            fit = chosen(ask).fit(
                handed_over(folder), **ask["ends"], seeds=ask["seeds"], progress=_progress
            )
        fit.save(folder / MODEL)
    except DGDError as error:
        _tell({"refused": str(error)})
        return REFUSED
    _tell({"warnings": list(dict.fromkeys(str(one.message) for one in caught))})
    return 0


def chosen(ask: dict[str, Any]) -> DGD:
    """The model that was asked for."""
    return DGD.paper(**ask["settings"]) if ask["preset"] == "paper" else DGD(**ask["settings"])


def _progress(seed: int, done: int, best: float) -> None:
    # what is not finite has no place in JSON
    _tell({"seed": seed, "epochs": done, "best": best if math.isfinite(best) else None})


def _tell(line: dict[str, Any]) -> None:
    with _telling:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def _end_with_the_app(folder: Path) -> None:
    while os.read(0, 64):
        pass
    _leaving.acquire()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
