"""Calls that cannot be right are refused by dgd itself, in Python as in the shell.

They run in a process of their own: the tests' checks of types would refuse them first.
"""

import json
import subprocess
import sys
from pathlib import Path

CALLS = {
    "fit a frame": 'dgd.DGD().fit(table, train_end="2024-01-14", validation_end="2024-01-21")',
    "one seed": "dgd.DGD().fit(panel, **ends, seeds=1)",
    "seeds in words": 'dgd.DGD().fit(panel, **ends, seeds="12")',
    "progress in words": 'dgd.DGD().fit(panel, **ends, progress="bar")',
    "progress of a backtest": 'dgd.backtest(panel, {"g": dgd.DGD()}, **ends, progress=3)',
    "many panels in a list": "dgd.fit_many([panel], dgd.DGD(), **ends, folder='many')",
    "many panels by number": "dgd.fit_many({1: panel}, dgd.DGD(), **ends, folder='many')",
    "many panels without a model": "dgd.fit_many({'a': panel}, 3, **ends, folder='many')",
    "progress of many panels": "dgd.fit_many({}, dgd.DGD(), **ends, folder='many', progress=3)",
    "a broken seed": "dgd.DGD().fit(panel, **ends, seeds=[1.5])",
    "a negative seed": "dgd.DGD().fit(panel, **ends, seeds=[-1])",
    "an unknown setting": "dgd.DGD(epoch=3)",
    "an unnamed setting": "dgd.DGD(3)",
    "broken nodes": "dgd.DGD(nodes=2.5)",
    "components in words": 'dgd.DGD(components="2")',
    "a wide start": "dgd.DGD(initial_scale=800)",
    "a yes for a number": "dgd.DGD(epochs=True)",
    "too many components": "dgd.DGD(components=99999999)",
    "too many points": "dgd.DGD(components=64, nodes=100, dim=4)",
    "unknown setting of an opponent": "dgd.baselines.DeepAR(width=8)",
    "widths in words": 'dgd.baselines.DeepAR(widths="8")',
    "unknown setting of choice": "dgd.choice.ChoiceModel(component=2)",
    "sizes in words": 'dgd.Panel.from_counts(table, behaviors=["click", "like"], sizes="sizes")',
    "a size in words": 'dgd.Panel.from_counts(table, behaviors=both, sizes={"new": "many"})',
    "a date as a number": "dgd.Panel.from_counts(table, behaviors=both, start=20220404)",
    "a date in a list": 'dgd.Panel.from_counts(table, behaviors=both, end=["2022-04-04"])',
    "one behavior in words": 'dgd.Panel.from_counts(table, behaviors="click")',
    "behaviors by number": "dgd.Panel.from_counts(table, behaviors=[1, 2])",
    "a broken horizon": "fit.forecast(2.5)",
    "a horizon in words": 'fit.forecast("week")',
    "a horizon of a lifetime": "fit.forecast(10**9)",
    "an origin in words": 'fit.forecast(1, origin="soon")',
    "effort without effort": "fit.forecast(1, effort=later)",
    "features without features": "fit.forecast(1, features=later)",
    "no change": "fit.scenario([], 3)",
    "a change in words": 'fit.scenario("more", 3)',
    "a change of effort without effort": 'fit.scenario(dgd.Change("effort", "set", 2), 3)',
    "a change by half a name": 'fit.scenario({"what": "size", "how": "set"}, 3)',
    "a scenario of half a day": 'fit.scenario(dgd.Change("size", "set", 2), 0.5)',
    "paths in words": 'fit.scenario(dgd.Change("size", "set", 2), 1, paths="many")',
    "a plan without effort": 'fit.plan(10, "like", horizon=2)',
    "a push without effort": "fit.push()",
    "a curve without effort": "fit.response_curve()",
}

SCRIPT = """
import json, sys, warnings
import polars as pl
sys.path.insert(0, "tests")
import dgd
from support.small_counts import ENDS as ends, panel_of
from support.untrained import untrained
panel = panel_of(36)
both = ["click", "like"]
table = panel.to_frame()
fit = untrained(dgd.DGD(), panel)
later = pl.DataFrame({"date": [panel.dates[-1].astype(object)], "effort": [1.0], "price": [1.0]})
found = {}
for name, call in json.loads(sys.argv[1]).items():
    try:
        eval(call)
        found[name] = "no refusal"
    except dgd.DGDError as error:
        found[name] = f"refused: {error}"
    except BaseException as error:
        found[name] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def test_every_wrong_call_is_refused_in_a_sentence() -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(CALLS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert not {name: said for name, said in found.items() if not said.startswith("refused: ")}
    assert not {name: said for name, said in found.items() if "\\n" in said}
    assert "epochs" in found["an unknown setting"]
    assert "Panel.from_counts" in found["fit a frame"]
    assert "20,000" in found["too many points"]
