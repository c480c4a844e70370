"""Every number dgd gives on a fixed job, as digests: has a change of the code moved any bit?

python benchmarks/fingerprint.py > before.txt
... change the code ...
python benchmarks/fingerprint.py | diff before.txt -

Fits of the model and its variants, opponents, a choice fit and, where the data are there, the
paper's preset on Online Retail: forecasts, scores, tables and the bytes of saved files. Digests
are equal on one machine only; another processor adds in another order.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dgd

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "fixed": {"population": "fixed"},
    "discrete": {"population": "discrete"},
    "two dimensions": {"dim": 2, "nodes": 3},
    "without dynamics": {"dynamics": "none"},
    "separated": {"readout": "separated"},
    "events": {"supervision": "events"},
}
OPPONENTS: dict[str, Any] = {
    "training history": dgd.baselines.TrainingHistory(),
    "last day": dgd.baselines.LastDayHistory(),
    "smoothed history": dgd.baselines.SmoothedHistory(),
    "slow history": dgd.baselines.SlowHistory(),
    "weekday history": dgd.baselines.WeekdayHistory(),
    "deepar": dgd.baselines.DeepAR(epochs=5, widths=(4,), histories=32),
    "gru": dgd.baselines.GRU(epochs=5),
}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def of_arrays(*arrays: Any) -> str:
    return digest(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays))


def of_prediction(predicted: dgd.Predictive) -> str:
    return of_arrays(predicted.arrivals, predicted.patterns)


def of_table(table: Any) -> str:
    return digest(table.write_json().encode())


def of_file(fitted: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.dgd"
        fitted.save(file)
        return digest(file.read_bytes())


def of_fit(fit: Any, origins: np.ndarray) -> Iterator[tuple[str, str]]:
    yield "predictions", of_prediction(fit.predict(origins, 3))
    origin = fit.panel.dates[origins[0]]
    yield "forecast", of_table(fit.forecast(3, origin=origin).to_frame("polars"))
    yield "history", of_table(fit.history("polars"))
    yield "file", of_file(fit)


def of_world() -> Iterator[tuple[str, str]]:
    """The simulated example: every variant and opponent, and one backtest of them all."""
    drawn = dgd.simulate(dgd.example_world(arrivals=15), 40, seed=3)
    dates = drawn.panel.dates
    ends = {"train_end": dates[27], "validation_end": dates[34]}
    origins = np.array([34, 35, 36])
    fits: dict[str, Any] = {}
    for name, changed in VARIANTS.items():
        fits[name] = dgd.DGD(epochs=12, **changed).fit(drawn.panel, seeds=[1, 2], **ends)
        yield from ((f"{name}, {what}", found) for what, found in of_fit(fits[name], origins))
    for name, opponent in OPPONENTS.items():
        fits[name] = opponent.fit(drawn.panel, seeds=[1, 2], **ends)
        yield f"{name}, predictions", of_prediction(fits[name].predict(origins, 3))
    result = dgd.backtest(drawn.panel, fits, horizons=[1, 3], **ends, paths=0)
    yield "backtest", of_table(result.to_frame("polars"))
    yield "daily totals", of_table(result.daily("polars"))


def of_retail(folder: Path) -> Iterator[tuple[str, str]]:
    for year in (2010, 2011):
        dataset = dgd.datasets.online_retail(folder, year)
        ends: dict[str, Any] = {
            "warmup_end": dataset.window.warmup_end,
            "train_end": dataset.window.train_end,
            "validation_end": dataset.window.validation_end,
        }
        model = dgd.DGD.paper(summary_retention=dataset.summary_retention)
        fit = model.fit(dataset.panel, **ends)
        days = np.arange(fit.split.validation_stop - 1, dataset.panel.days - 3)
        yield from ((f"Retail {year}, {what}", found) for what, found in of_fit(fit, days))
        result = dgd.backtest(dataset.panel, {"dgd": fit}, horizons=[1, 3], **ends, paths=0)
        yield f"Retail {year}, backtest", of_table(result.to_frame("polars"))


def of_choice() -> Iterator[tuple[str, str]]:
    markets = dgd.choice.simulate_markets(dgd.choice.gaussian_world(), 16, seed=2).markets
    fit = dgd.choice.ChoiceModel(method="early stopping", epochs=20).fit(markets, seeds=[1])
    yield "choice, shares", of_table(fit.predict(kind="polars"))
    yield "choice, elasticities", of_table(fit.elasticities(kind="polars"))
    yield "choice, file", of_file(fit)


def main() -> None:
    data = Path(os.environ.get("DGD_DATA", ""))
    jobs = [of_world(), of_choice()]
    if (data / "online_retail_ii").is_dir():
        jobs.append(of_retail(data))
    for job in jobs:
        for what, found in job:
            print(f"{found}  {what}", flush=True)


if __name__ == "__main__":
    main()
