"""What a worker process runs: asks come in, outcomes go out, one after another.

Its standard input is held open by whoever started it; when that ends, the process ends too, in
whatever it is doing. Files are whole or absent, so nothing half done is left.
"""

import os
import pickle
import queue
import sys
import threading
import time
import warnings
from typing import IO

from dgd.errors import DGDError, first_line
from dgd.estimator import DGD
from dgd.many.asks import Ask
from dgd.many.compiling_once import compiling_once
from dgd.many.jobs import FITTED, Outcome


def main() -> None:
    """Fit what is asked for until nobody asks any more."""
    told = _answers()
    asks: queue.SimpleQueue[Ask] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asks), daemon=True).start()
    while True:
        pickle.dump(fitted(asks.get()), told)
        told.flush()


def fitted(ask: Ask) -> Outcome:
    """Fit one panel and keep it; whatever goes wrong is its outcome."""
    began = time.monotonic()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("always", RuntimeWarning)
            with compiling_once(ask.program):
                fit = DGD(**ask.settings).fit(
                    ask.panel(),
                    **ask.ends,  # type: ignore[arg-type]
                    seeds=ask.seeds,
                    progress=False,
                )
            ask.keep(fit)
    except DGDError as error:
        return Outcome.failed(ask.name, str(error))
    except Exception as error:
        said = f"{type(error).__name__}: {first_line(error)}"
        sentence = f"an unexpected failure ({said}); fit this panel by itself to see where."
        return Outcome.failed(ask.name, sentence)
    return Outcome(
        ask.name,
        FITTED,
        time.monotonic() - began,
        min(run.best_objective for run in fit.runs),
        str(ask.file),
        warnings=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        diverged=fit.diverged,
    )


def _answers() -> IO[bytes]:
    """Where outcomes go; whatever else is printed goes to standard error."""
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return told


def _listen(heard: IO[bytes], asks: "queue.SimpleQueue[Ask]") -> None:
    try:
        while True:
            asks.put(pickle.load(heard))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
