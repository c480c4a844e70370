"""One training epoch of dgd against plain PyTorch, in one run.

    python benchmarks/training.py --json training.json

An epoch is value, gradient and update: for dgd inside its compiled loop, as
training runs it, for PyTorch with autograd and torch.optim.Adam. Rounds
alternate between the two, and each is reported by its median, so that a busy
machine slows both alike. With --large, the peak memory of training the large
shape; with --first, the time to a first result of `dgd fit`, cold and warm.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from dgd.learning.settings import PAPER
from dgd.learning.settings import Settings as DGDSettings
from dgd.model.population.gaussian_mixture import SCALE_FLOOR
from dgd.runtime import computing
from shapes import SHAPES, Problem, problem

EPOCHS = 20
OPTIMIZER = DGDSettings(**PAPER).optimizer


def named_arrays(tree: PyTree) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def torch_model(given: Problem) -> Any:
    """The PyTorch rival with the same parameters."""
    from torch_reference import Settings, TorchDGD

    crowd, objective = given.crowd, given.objective
    params, _ = eqx.partition(crowd, crowd.trainable())
    population: Any = crowd.population
    return TorchDGD(
        {name: np.asarray(value) for name, value in named_arrays(params)},
        {name: np.asarray(value) for name, value in named_arrays(crowd.reference)},
        Settings(
            nodes=population.nodes,
            initial_scale=population.initial_scale,
            scale_floor=SCALE_FLOOR,
            count_weight=objective.count_weight,
            expected_weight=objective.expected_weight,
            penalty_weight=objective.penalty_weight,
            dispersion=objective.dispersion,
        ),
    )


def torch_days(given: Problem) -> Any:
    import torch

    from torch_reference import Days

    def tensor(array: Any) -> torch.Tensor:
        return torch.tensor(np.array(array))

    inputs = given.inputs
    return Days(
        calendar=tensor(inputs.calendar),
        summaries=tensor(inputs.summaries),
        size=tensor(inputs.size),
        effort=tensor(inputs.effort),
        counts=tensor(np.moveaxis(np.asarray(given.outcomes.patterns), 0, -1)),
    )


def torch_epoch(given: Problem) -> Callable[[], None]:
    import torch

    model, days, settings = torch_model(given), torch_days(given), OPTIMIZER
    adam = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)

    def epoch() -> None:
        adam.zero_grad()
        model.objective(days).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
        adam.step()

    return epoch


def dgd_epochs(given: Problem) -> Callable[[], None]:
    """`EPOCHS` epochs in the compiled loop."""
    params, fixed = eqx.partition(given.crowd, given.crowd.trainable())
    flat, unravel = ravel_pytree(params)
    steps = OPTIMIZER.transformation()

    @jax.jit
    def run(vector: Any, moments: Any, data: Any) -> Any:
        inputs, outcomes, rest = data

        def loss(v: Any) -> Any:
            return given.objective.train(eqx.combine(unravel(v), rest), inputs, outcomes)[0]

        def epoch(carry: Any, _: None) -> Any:
            v, state = carry
            value, gradient = jax.value_and_grad(loss)(v)
            update, state = steps.update(gradient, state)
            return (optax.apply_updates(v, update), state), value

        return jax.lax.scan(epoch, (vector, moments), None, length=EPOCHS)

    data, moments = (given.inputs, given.outcomes, fixed), steps.init(flat)

    def work() -> None:
        (vector, _), _ = run(flat, moments, data)
        vector.block_until_ready()

    return work


def seconds(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def compare(name: str, rounds: int) -> dict[str, float]:
    with computing():
        given = problem(SHAPES[name])
        ours, theirs = dgd_epochs(given), torch_epoch(given)
        ours(), theirs()
        times = [(seconds(ours) / EPOCHS, seconds(theirs)) for _ in range(rounds)]
    dgd_ms, torch_ms = (1e3 * float(np.median(column)) for column in zip(*times, strict=True))
    return {"dgd_ms": dgd_ms, "torch_ms": torch_ms, "ratio": torch_ms / dgd_ms}


def large() -> dict[str, float]:
    """Train the large shape in a process of its own and read its peak memory."""
    with computing():
        given = problem(SHAPES["large"])
        run = dgd_epochs(given)
        run()
        spent = seconds(run) / EPOCHS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"dgd_ms": 1e3 * spent, "peak_gb": peak}


def first_result() -> dict[str, float]:
    """`dgd fit` on the Retail shape with three seeds, with an empty and then a filled cache."""
    import polars as pl

    import dgd

    world = dgd.example_world(
        units=("store",), cohorts=("a", "b", "c", "d"), behaviors=("x", "y", "z"), arrivals=10.0
    )
    panel = dgd.simulate(world, 59 + 14, seed=1).panel
    dates = [str(d) for d in panel.dates]
    with tempfile.TemporaryDirectory() as folder:
        counts: pl.DataFrame = panel.to_frame("polars")
        counts.write_csv(Path(folder) / "counts.csv")
        command = [sys.executable, "-c", "from dgd.cli import main; main()", "fit"]
        command += [f"{folder}/counts.csv", "--behaviors", "x,y,z", "--preset", "paper"]
        command += ["--train-end", dates[58], "--validation-end", dates[72]]
        command += ["--output", f"{folder}/model.dgd", "--json"]
        environment = {**os.environ, "DGD_CACHE": f"{folder}/cache"}

        def fit() -> None:
            subprocess.run(command, env=environment, check=True, capture_output=True)

        return {"cold_s": seconds(fit), "warm_s": seconds(fit)}


def apart(option: str) -> dict[str, float]:
    """One of the measurements above, in a process of its own."""
    command = [sys.executable, __file__, option]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(answer.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--large", action="store_true", help="only the large shape's memory")
    parser.add_argument("--first", action="store_true", help="only the time to a first result")
    chosen = parser.parse_args()
    if chosen.large or chosen.first:
        print(json.dumps(large() if chosen.large else first_result()))
        return
    figures = {name: compare(name, chosen.rounds) for name in ("kuairand", "retail")}
    figures["large"] = apart("--large")
    figures["first_result"] = apart("--first")
    for name, values in figures.items():
        print(name, ", ".join(f"{key} {value:,.2f}" for key, value in values.items()))
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
