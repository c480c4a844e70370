"""`python -m support.fuzzing KIND FIRST STOP FOLDER`: cases by number, their outcomes as JSON.

A process of its own, for here no import hook stands before dgd's own checks. Each case is
drawn from its number alone: a case that went wrong can be tried again by itself.
No case may take more than a gigabyte; with DGD_FUZZ set each has a minute, and none may ask
for gigabytes that it does not take: address space is limited, but for what allocators reserve.
"""

import json
import os
import resource
import sys
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

from support.fuzzing.outcomes import REFUSED, WORKS, WRONG, Outcome, outcome_of

SECONDS = 60
DRAWS_CHARTS = "command_lines"
"""What draws charts reserves address space by the dozen gigabytes, and takes little of it."""
MOST_MEGABYTES = 1024
MORE_BYTES = 4 << 30


def main(kind: str, first: int, stop: int, folder: Path) -> dict[str, object]:
    """How many cases worked and were refused, and everything about those that went wrong."""
    warnings.simplefilter("ignore")
    draw = import_module(f"support.fuzzing.{kind}").prepare(folder)
    limited = "DGD_FUZZ" in os.environ
    if limited and kind != DRAWS_CHARTS:
        limit_memory()
    outcomes: Counter[str] = Counter()
    wrong, most = [], 0
    for number in range(first, stop):
        case = draw(np.random.default_rng([len(kind), number]))
        before = taken()
        found = outcome_of(case, SECONDS if limited else 0)
        more = taken() - before
        most = max(most, more)
        if more > MOST_MEGABYTES:
            found = Outcome(WRONG, f"took {more} megabytes")
        outcomes[found.how] += 1
        if found.how == WRONG:
            wrong.append(f"{kind} {number}, {case.what}: {found.why}")
    return {
        WORKS: outcomes[WORKS],
        REFUSED: outcomes[REFUSED],
        WRONG: wrong,
        "megabytes": most,
    }


def taken() -> int:
    """The most megabytes this process has held so far, its parent's left out; 0 if nobody says."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def limit_memory() -> None:
    if not Path("/proc/self/statm").exists():
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    _, kind, first, stop, folder = sys.argv
    found = main(kind, int(first), int(stop), Path(folder))
    sys.__stdout__.write(json.dumps(found) + "\n")  # type: ignore[union-attr]
