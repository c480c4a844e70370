"""Markets that were held out: dgd as it comes beside the plain logit, on cereals and cars.

    python benchmarks/choice_held_out.py --json choice-held-out.json

Cereals are held out by city, a third of the cities at a time; cars by year, three blocks of years.
Both models see the other markets only; whether people differ is decided among these. The figure is
the mean over held-out markets of the Kullback-Leibler divergence

    KL = sum over b of s_b log(s_b / shat_b),

buying nothing included. dgd should never do worse than the plain logit by more than half a percent.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from choice_data import CAR_ATTRIBUTES, cars, cereals, share_markets
from dgd.choice import ChoiceFit, ChoiceModel, Markets
from dgd.files.atomic import write_atomically
from dgd.tables.labels import Label

TURNS = 3
BAR = 1.005
CITY_SEED = 1


def city_turns(table: pl.DataFrame) -> list[list[Label]]:
    """The markets of a third of the cities, drawn once."""
    cities = table["city_ids"].unique(maintain_order=True).to_numpy()
    drawn = np.array_split(np.random.default_rng(CITY_SEED).permutation(cities), TURNS)
    return [_markets(table.filter(pl.col("city_ids").is_in(part.tolist()))) for part in drawn]


def year_turns(table: pl.DataFrame) -> list[list[Label]]:
    """The first, the middle and the last years."""
    years = np.array(sorted(_markets(table)))
    return [part.tolist() for part in np.array_split(years, TURNS)]


def _markets(table: pl.DataFrame) -> list[Label]:
    return table["market_ids"].unique(maintain_order=True).to_list()


def problems() -> Iterator[tuple[str, Markets, list[list[Label]]]]:
    """Name, markets, and which of them are held out in each turn."""
    cereal, car = cereals(), cars()
    turns = city_turns(cereal)
    brands = [name for name in cereal.columns if name.startswith("is ")]
    for name, attributes, absorb in (
        ("cereals: sugar, mushy", ["sugar", "mushy"], []),
        ("cereals: brands absorbed", [], ["product_ids"]),
        ("cereals: a column per brand", brands, []),
    ):
        yield name, share_markets(cereal, "product_ids", attributes, absorb=absorb), turns
    yield "cars", share_markets(car, "car_ids", CAR_ATTRIBUTES), year_turns(car)


def divergence(fit: ChoiceFit, markets: Markets) -> float:
    """Mean KL of observed from predicted shares over the markets."""
    said = fit.demand(markets).shares
    predicted = np.c_[said.products, said.outside]
    counts = np.c_[markets.count, markets.outside]
    share = counts / markets.size[:, None]
    sold = share > 0
    ratio = np.where(sold, share, 1.0) / np.where(sold, predicted, 1.0)
    return float((share * np.log(ratio)).sum(1).mean())


def turn(markets: Markets, held_out: list[Label], options: Mapping[str, Any]) -> dict[str, Any]:
    """Both models without the held-out markets, and scored on them."""
    rest = [label for label in markets.markets if label not in set(held_out)]
    training, test = markets.select(rest), markets.select(held_out)
    begin = time.perf_counter()
    fit = ChoiceModel().fit(training, progress=False, **options)
    spent = time.perf_counter() - begin
    plain = ChoiceModel(population="point").fit(training)
    ours, theirs = divergence(fit, test), divergence(plain, test)
    assert fit.record is not None
    return {
        "people": "alike" if fit.alike else "types",
        "inner gain": fit.record.gain,
        "its error": fit.record.gain_error,
        "dgd KL": ours,
        "logit KL": theirs,
        "ratio": ours / theirs,
        "seconds": spent,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--only", default="", help="those problems whose name begins like this")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    options = {"seeds": range(1, given.seeds + 1)}
    rows: list[dict[str, Any]] = []
    for name, markets, turns in problems():
        if not name.startswith(given.only):
            continue
        for number, held_out in enumerate(turns, 1):
            rows.append({"markets": name, "turn": number, **turn(markets, held_out, options)})
            print(rows[-1], flush=True)
    table = pl.DataFrame(rows)
    with pl.Config(tbl_rows=50, tbl_cols=20, tbl_width_chars=120, fmt_str_lengths=40):
        print(table)
    worst = max(row["ratio"] for row in rows)
    print(f"Worst ratio {worst:.4f}; the bar is {BAR}: {'held' if worst <= BAR else 'MISSED'}.")
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(rows, indent=1).encode())


if __name__ == "__main__":
    main()
