"""Model files with bytes changed, and files crafted anew with a digest that is right."""

import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as to_bytes

import dgd
from dgd.baselines import GRU, DeepAR
from dgd.files.tensors import sealed
from support.fuzzing.damage import damaged
from support.fuzzing.odd_values import any_of, shown
from support.fuzzing.outcomes import Case
from support.random_choice import make as make_markets
from support.random_choice import random_fit
from support.small_counts import panel_of
from support.untrained import untrained

Facts = dict[str, Any]
Tensors = dict[str, np.ndarray]

JSON_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 10**9, 60_000_000, 2**63, 10**300, -(2**64), 0.5, 1e308,
    1e-308, float("nan"), float("inf"), "", "fit", "007", "2022-04-01", "9999-12-31", "x" * 10_000,
    "\0", [], {}, [1], ["a"], ["a", "a"], [[[]]], {"a": 1}, [0] * 1000, [10**9, 10**9], [None],
]  # fmt: skip
ODD_NUMBERS = [
    np.nan, np.inf, -np.inf, 1e308, -1e308, 1e15, 1e7, 1e6, -1e6, 1e3, -1e3, 30.0, 1.0, 0.0,
    -1.0, 1e-320,
]  # fmt: skip
MANY_RUNS = 100_000


def prepare(folder: Path) -> Callable[[np.random.Generator], Case]:
    """What draws a case; every kind of fit is saved once, none of them trained."""
    panel = panel_of(40)
    fits = [
        untrained(dgd.DGD(nodes=3), panel),
        random_fit(make_markets()),
        untrained(DeepAR(), panel, seeds=(1,)),
        untrained(GRU(), panel, seeds=(1,)),
    ]
    contents = []
    for number, fit in enumerate(fits):
        fit.save(folder / f"{number}.dgd")
        contents.append((folder / f"{number}.dgd").read_bytes())
        sensible(dgd.load(folder / f"{number}.dgd"))
    weights = [0.55, 0.15, 0.15, 0.15]
    path = folder / "model.dgd"
    return lambda rng: _case(rng, contents[rng.choice(len(contents), p=weights)], path)


def _case(rng: np.random.Generator, content: bytes, path: Path) -> Case:
    if rng.random() < 0.2:
        what, changed = damaged(rng, content)
    elif rng.random() < 0.1:
        what, changed = _other_header(rng, content)
    else:
        facts, tensors = facts_of(content), tensors_of(content)
        changes = [
            any_of(rng, CHANGES)(rng, facts, tensors) for _ in range(any_of(rng, [1, 1, 1, 2, 3]))
        ]
        what, changed = "; ".join(changes), sealed_file(facts, tensors)

    def attempt() -> None:
        path.write_bytes(changed)
        sensible(dgd.load(path))

    return Case(what, attempt)


def sensible(fit: Any) -> None:
    """What a fit says can be written down, and what it forecasts is finite."""
    assert json.dumps(fit.payload(), default=str)
    assert repr(fit)
    if fit.holds == "choice fit":
        found = fit.predict(kind="polars")["share"].to_numpy()
        assert np.all((found >= 0) & (found <= 1))
        return
    origin = fit.panel.days - 1 - int(fit.panel.has_effort)
    expected = fit.predict(np.array([max(origin, 0)]), 1).averaged()
    assert np.all(np.isfinite(expected.arrivals))
    assert np.all(expected.arrivals >= 0)
    assert np.all(np.isfinite(expected.patterns))
    if fit.holds == "fit":
        table = fit.forecast(1, origin=fit.panel.dates[max(origin, 0)]).to_frame("polars")
        assert np.all(np.isfinite(table["arrivals"].to_numpy()))


def facts_of(content: bytes) -> Facts:
    """dgd's own facts in the header of a file."""
    header = _header(content)["__metadata__"]["dgd"]
    facts: Facts = json.loads(header.partition("\n")[2])
    return facts


def sealed_file(facts: Facts, tensors: Tensors) -> bytes:
    """A whole file with a digest that matches: what someone with the source could craft."""
    return to_bytes(tensors, {"dgd": sealed(json.dumps(facts), tensors)})


def _header(content: bytes) -> dict[str, Any]:
    length = struct.unpack("<Q", content[:8])[0]
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    return header


def _other_header(rng: np.random.Generator, content: bytes) -> tuple[str, bytes]:
    """The header of the tensors themselves says something else than the bytes after it."""
    header = _header(content)
    body = content[8 + struct.unpack("<Q", content[:8])[0] :]
    name = any_of(rng, [n for n in header if n != "__metadata__"])
    entry = any_of(rng, ["shape", "dtype", "data_offsets"])
    value = any_of(rng, [[10**9], [0], [-1], [2**40, 2**40], "F16", "I64", "BF16", [0, 2**62], 1])
    header[name][entry] = value
    text = json.dumps(header).encode()
    length = any_of(rng, [len(text), len(text), len(text), 2**62, 0])
    return f"{name} {entry} {value}", struct.pack("<Q", length) + text + body


# Changes of what a file says, whose digest is then made right


def _fact(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    place, key = any_of(rng, list(_places(facts)))
    value = any_of(rng, JSON_VALUES)
    place[key] = value
    return f"{key} is {shown(value)}"


def _lost_fact(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    place, key = any_of(rng, list(_places(facts)))
    del place[key]
    return f"without {key}"


def _scaled_fact(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    numbers = [(p, k) for p, k in _places(facts) if type(p[k]) in (int, float)]
    place, key = any_of(rng, numbers)
    place[key] *= any_of(rng, [-1, 1, 2, 10, 10**9, 0, 0.5])
    return f"{key} is {place[key]}"


def _deep_fact(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    place, key = any_of(rng, list(_places(facts)))
    nested: Any = []
    for _ in range(int(rng.integers(2, 400))):
        nested = [nested]
    place[key] = nested
    return f"{key} is nested"


def _more_runs(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    number = any_of(rng, [0, 2, 50, MANY_RUNS])
    if not isinstance(facts.get("runs"), list) or not facts["runs"]:
        return "nothing"
    facts["runs"] = [{**facts["runs"][0], "seed": 10 + seed} for seed in range(number)]
    return f"{number} runs"


def _places(facts: Any) -> Iterator[tuple[Any, Any]]:
    """Every fact, however deep, as what holds it and its key there."""
    entries = facts.items() if isinstance(facts, dict) else enumerate(facts)
    for key, value in list(entries):
        yield facts, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def _numbers(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    """Some numbers of a tensor are others."""
    name = any_of(rng, sorted(tensors))
    value = any_of(rng, ODD_NUMBERS)
    changed = tensors[name].copy()
    if not changed.size:
        return "nothing"
    at = slice(None) if rng.random() < 0.3 else rng.integers(0, changed.size, 2)
    with np.errstate(all="ignore"):
        flat = changed.reshape(-1)
        flat[at] = (flat[at] * value if rng.random() < 0.3 else np.asarray(value)).astype(
            flat.dtype
        )
    tensors[name] = changed
    return f"{name} holds {value}"


def _shape(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    name = any_of(rng, sorted(tensors))
    old = tensors[name]
    line = old.reshape(-1)
    shapes = [old[None], line, line[:0], line[:-1], line[1:], np.concatenate([line, line])]
    if old.ndim:
        shapes += [old[:0], old[:-1], np.concatenate([old, old]), np.swapaxes(old, 0, -1)]
    tensors[name] = np.array(any_of(rng, shapes), order="C")
    return f"{name} has shape {tensors[name].shape}, not {old.shape}"


def _kind(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    name = any_of(rng, sorted(tensors))
    kind = any_of(rng, [np.float16, np.float32, np.int8, np.int64, np.uint64, bool])
    with np.errstate(all="ignore"):
        tensors[name] = tensors[name].astype(kind)
    return f"{name} holds {np.dtype(kind)}"


def _lost_tensor(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    name = any_of(rng, sorted(tensors))
    del tensors[name]
    return f"without {name}"


def _exchanged(rng: np.random.Generator, facts: Facts, tensors: Tensors) -> str:
    one, other = any_of(rng, sorted(tensors)), any_of(rng, sorted(tensors))
    tensors[one], tensors[other] = tensors[other], tensors[one]
    return f"{one} and {other} exchanged"


CHANGES: list[Callable[[np.random.Generator, Facts, Tensors], str]] = [
    _fact, _fact, _fact, _fact, _lost_fact, _scaled_fact, _scaled_fact, _deep_fact, _more_runs,
    _numbers, _numbers, _numbers, _shape, _kind, _lost_tensor, _exchanged,
]  # fmt: skip
