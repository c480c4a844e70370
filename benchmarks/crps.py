"""Does scoring counts take longer where they are larger?

    python benchmarks/crps.py

Draws counts of several means and dispersions and takes the CRPS of each as a backtest does. Shown
are microseconds per count, the fastest of several runs.
"""

import time

import numpy as np

from dgd.model import negative_binomial

MEANS = (0.1, 10.0, 1e3, 1e5, 1e6)
DISPERSIONS = (0.5, 20.0, 1e4, np.inf)
CELLS = 20_000
RUNS = 5


def seconds_per_count(mean: float, dispersion: float) -> float:
    """The fastest run."""
    means = np.full(CELLS, mean)
    counts = negative_binomial.draw(np.random.default_rng(0), means, dispersion).astype(np.float64)
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        negative_binomial.crps(counts, means, dispersion)
        taken.append(time.perf_counter() - start)
    return min(taken) / CELLS


def main() -> None:
    print("mean count".rjust(12), *(f"r = {r:g}".rjust(10) for r in DISPERSIONS))
    for mean in MEANS:
        times = (1e6 * seconds_per_count(mean, r) for r in DISPERSIONS)
        print(f"{mean:,g}".rjust(12), *(f"{t:.1f}".rjust(10) for t in times))


if __name__ == "__main__":
    main()
