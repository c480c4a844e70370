"""Single choices of people: the Swissmetro survey, beside xlogit and held out by people.

    pip install --no-deps biogeme==3.3.2
    python benchmarks/choice_swissmetro.py --json choice-swissmetro.json

Commuters and business travellers chose nine times each between train, Swissmetro and car; utility
is linear in cost, time and a constant for train and for car. First the plain logit by dgd and by
xlogit: the same log-likelihood. Then a part of the people is held out, and dgd's types, once
with every choice another person's and once with each person's tastes kept over the nine, are
scored on them beside the plain logit. Types are asked for, so that nothing is decided by
validation.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from choice_data import ALTERNATIVES, swissmetro, swissmetro_file, swissmetro_markets
from dgd.choice import ChoiceFit, ChoiceModel
from dgd.choice.estimation.evidence import ChoiceEvidence
from dgd.choice.estimation.target import log_likelihoods
from dgd.choice.markets import Markets
from dgd.files.atomic import write_atomically
from dgd.runtime import computing

NAMES = ["time", "TRAIN", "CAR", "cost"]
PEOPLE_SEED = 1
HELD_OUT = 1 / 3


def log_likelihood(fit: ChoiceFit, markets: Markets) -> float:
    """Of the choices of `markets`, those of a person together where persons are known."""
    with computing():
        evidence = ChoiceEvidence.of(markets, fit.fitted.of(markets))
        return float(log_likelihoods(fit.parameters[0], evidence).sum())


def by_xlogit(table: pl.DataFrame) -> dict[str, float]:
    """The same plain logit by xlogit: log-likelihood and coefficients."""
    from xlogit import MultinomialLogit

    known = table.with_columns(
        (pl.col("product") == name).cast(pl.Float64).alias(name) for name in ("TRAIN", "CAR")
    )
    model = MultinomialLogit()
    model.fit(
        known.select(NAMES).to_numpy(),
        known["chosen"].to_numpy(),
        NAMES,
        known["product"].to_numpy(),
        known["choice"].to_numpy(),
        avail=known["available"].to_numpy(),
        tol_opts={"ftol": 1e-14, "gtol": 1e-9},
        verbose=0,
    )
    found = dict(zip(NAMES, map(float, model.coeff_), strict=True))
    return {"log-likelihood": float(model.loglikelihood), **found}


def by_dgd(table: pl.DataFrame) -> dict[str, float]:
    fit = ChoiceModel(population="point").fit(swissmetro_markets(table))
    rows = fit.coefficients(kind="polars")
    found = dict(zip(rows["coefficient"], rows["estimate"], strict=True))
    return {
        "log-likelihood": log_likelihood(fit, fit.markets),
        **{name: found[f"taste for {name}"] for name in NAMES[:-1]},
        "cost": -found["price sensitivity"],
    }


def held_out(table: pl.DataFrame, seeds: int, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per model: the log-likelihood of choices of people it has not seen."""
    people = table["ID"].unique(maintain_order=True).to_numpy()
    rng = np.random.default_rng(PEOPLE_SEED)
    out = rng.choice(people, round(HELD_OUT * len(people)), replace=False).tolist()
    unseen = pl.col("ID").is_in(out)
    rows = []
    for name, household, model in (
        ("plain logit", None, ChoiceModel(population="point")),
        ("types", None, ChoiceModel(types="kept", **settings)),
        ("types, people keep their tastes", "ID", ChoiceModel(types="kept", **settings)),
    ):
        training, test = (
            swissmetro_markets(table.filter(part), household=household)
            for part in (~unseen, unseen)
        )
        begin = time.perf_counter()
        fit = model.fit(training, seeds=range(1, seeds + 1), progress=False)
        spent = time.perf_counter() - begin
        value = log_likelihood(fit, test)
        rows.append(
            {
                "model": name,
                "held-out log-likelihood": value,
                "per choice": value / len(test.markets),
                "converged": fit.runs[0].reason,
                "seconds": spent,
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--components", type=int, default=2)
    parser.add_argument("--dim", type=int, default=2)
    given = parser.parse_args()
    file = swissmetro_file()
    if file is None:
        parser.error("the survey is not there: pip install --no-deps biogeme==3.3.2")
    table = swissmetro(file)
    print(f"{len(table) // len(ALTERNATIVES):,} choices of {table['ID'].n_unique():,} people")
    plain = {"dgd": by_dgd(table), "xlogit": by_xlogit(table)}
    for name, values in plain.items():
        print(f"{name:<8}" + "".join(f"{key:>16} {value:.6f}" for key, value in values.items()))
    settings = {"starts": given.starts, "components": given.components, "dim": given.dim}
    rows = held_out(table, given.seeds, settings)
    with pl.Config(tbl_cols=20, tbl_width_chars=120, fmt_str_lengths=40, float_precision=4):
        print(pl.DataFrame(rows))
    if given.json is not None:
        figures = {"plain logit": plain, "settings": settings, "held out": rows}
        write_atomically(given.json.absolute(), json.dumps(figures, indent=1).encode())


if __name__ == "__main__":
    main()
