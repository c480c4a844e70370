"""The same data in PyBLP: the same estimates, errors and objectives."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dgd.choice import Markets, Scales
from dgd.choice.inversion.gmm import estimate_quality, estimated
from dgd.choice.inversion.minimum import QualityProblem
from dgd.choice.inversion.random_tastes import RandomTastes, alike, standard_gaussian
from dgd.choice.inversion.two_stage import instrumental_variables
from dgd.model.quadrature import standard_normal_rule
from dgd.runtime import computing

pyblp = pytest.importorskip("pyblp", reason="PyBLP is not installed")

NEVO_INSTRUMENTS = [f"demand_instruments{index}" for index in range(20)]
MARKETS, PRODUCTS, NODES = 40, 6, 5
INSTRUMENTS = ["w0", "w1", "from x", "from y"]
START = np.array([0.6, 0.6])
FREE = ((1, 0), (2, 1))
"""A taste for x that differs along the first dimension, and one for y along the second."""


@pytest.fixture(scope="module")
def cereals() -> pd.DataFrame:
    pyblp.options.verbose = False
    table = pd.read_csv(pyblp.data.NEVO_PRODUCTS_LOCATION)
    return table.assign(clustering_ids=table.market_ids)


def cereal_markets(table: pd.DataFrame, attributes: list[str], absorb: list[str]) -> Markets:
    return Markets.from_table(
        table,
        attributes=attributes,
        market="market_ids",
        product="product_ids",
        price="prices",
        share="shares",
        count=None,
        instruments=NEVO_INSTRUMENTS,
        absorb=absorb,
    )


def price_effect(results: Any) -> tuple[float, float]:
    at = results.beta_labels.index("prices")
    return float(results.beta[at, 0]), float(results.beta_se[at, 0])


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("kind", ["absorbed", "plain"])
def test_the_logit_of_cereals_is_pyblps(cereals: pd.DataFrame, kind: str, steps: int) -> None:
    """Moments clustered by market in both, and J is PyBLP's objective."""
    if kind == "absorbed":
        markets = cereal_markets(cereals, [], ["product_ids"])
        formulation = pyblp.Formulation("0 + prices", absorb="C(product_ids)")
    else:
        markets = cereal_markets(cereals, ["sugar", "mushy"], [])
        formulation = pyblp.Formulation("1 + prices + sugar + mushy")
    ours = estimate_quality(markets, heterogeneous=False, dim=1, nodes=1, steps=steps)
    clustered = {"W_type": "clustered", "se_type": "clustered"}
    theirs = pyblp.Problem(formulation, cereals).solve(method=f"{steps}s", **clustered)
    effect, error = price_effect(theirs)
    unit = float(ours.demand.scales.price)
    assert -ours.parameters[-1] / unit == pytest.approx(effect, abs=1e-6)
    assert ours.standard_errors[-1] / unit == pytest.approx(error, abs=1e-6)
    assert ours.objective == pytest.approx(float(theirs.objective.item()), rel=1e-8)
    xi = theirs.xi.ravel()
    assert np.abs(ours.quality[markets.available] - xi).max() < 1e-6


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("kind", ["absorbed", "plain"])
def test_robust_errors_and_weights_are_pyblps(cereals: pd.DataFrame, kind: str, steps: int) -> None:
    """PyBLP's defaults: every offer a cluster of its own."""
    if kind == "absorbed":
        markets = cereal_markets(cereals, [], ["product_ids"])
        formulation = pyblp.Formulation("0 + prices", absorb="C(product_ids)")
    else:
        markets = cereal_markets(cereals, ["sugar", "mushy"], [])
        formulation = pyblp.Formulation("1 + prices + sugar + mushy")
    with computing():
        problem = QualityProblem.of(markets, alike(markets, 1))
        value = problem.valued(np.zeros(0)).delta
        within = problem.design.absorbed.rest(value[:, None])[:, 0]
        robust = problem.linear._replace(cluster=np.arange(len(value)))
        ours = instrumental_variables(within, robust, steps)
        unit = float(problem.tastes.scales.price)
    theirs = pyblp.Problem(formulation, cereals).solve(method=f"{steps}s")
    effect, error = price_effect(theirs)
    assert -ours.coefficients[-1] / unit == pytest.approx(effect, abs=1e-6)
    assert np.sqrt(ours.covariance[-1, -1]) / unit == pytest.approx(error, abs=1e-6)
    assert ours.objective == pytest.approx(float(theirs.objective.item()), rel=1e-8)


@pytest.fixture(scope="module")
def agents() -> pd.DataFrame:
    rule = standard_normal_rule(2, NODES)
    return pd.DataFrame(
        {
            "market_ids": np.repeat(np.arange(MARKETS), len(rule.weights)),
            "weights": np.tile(rule.weights, MARKETS),
            "nodes0": np.tile(rule.points[:, 0], MARKETS),
            "nodes1": np.tile(rule.points[:, 1], MARKETS),
        }
    )


@pytest.fixture(scope="module")
def simulated(agents: pd.DataFrame) -> pd.DataFrame:
    """Equilibrium prices and shares that PyBLP finds for tastes that differ."""
    pyblp.options.verbose = False
    rng = np.random.default_rng(3)
    rows = MARKETS * PRODUCTS
    table = pd.DataFrame(
        {
            "market_ids": np.repeat(np.arange(MARKETS), PRODUCTS),
            "firm_ids": np.tile(np.arange(PRODUCTS) // 2, MARKETS),
            **{name: rng.normal(size=rows) for name in ("x", "y", "w0", "w1")},
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulation = pyblp.Simulation(
            product_formulations=(
                pyblp.Formulation("1 + prices + x + y"),
                pyblp.Formulation("0 + x + y"),
                pyblp.Formulation("1 + x + y + w0 + w1"),
            ),
            product_data=table,
            beta=[5, -2, 1, 0.5],
            sigma=np.diag([1.0, 0.7]),
            gamma=[3, 0.2, 0.2, 0.3, 0.3],
            agent_data=agents,
            xi_variance=0.3,
            omega_variance=0.3,
            correlation=0.5,
            seed=1,
        )
        found = simulation.replace_endogenous().product_data
    by_market = table.groupby("market_ids")
    return table.assign(
        product=np.tile(np.arange(PRODUCTS), MARKETS),
        price=found.prices.ravel(),
        part=found.shares.ravel(),
        **{
            f"from {name}": by_market[name].transform(
                lambda x: [((x - value) ** 2).sum() for value in x]
            )
            for name in ("x", "y")
        },
    )


@pytest.fixture(scope="module")
def markets(simulated: pd.DataFrame) -> Markets:
    return Markets.from_table(
        simulated,
        attributes=["x", "y"],
        market="market_ids",
        share="part",
        count=None,
        instruments=INSTRUMENTS,
    )


@pytest.fixture(scope="module")
def theirs(simulated: pd.DataFrame, markets: Markets, agents: pd.DataFrame) -> Any:
    """PyBLP's problem, of attributes and prices on the scales that dgd learns on."""
    with computing():
        center, spread, unit = (np.asarray(part) for part in Scales.of(markets))
    table = pd.DataFrame(
        {
            "market_ids": simulated.market_ids,
            "clustering_ids": simulated.market_ids,
            "shares": simulated.part,
            "prices": simulated.price / unit,
            "x": (simulated.x - center[1]) / spread[1],
            "y": (simulated.y - center[2]) / spread[2],
            **{
                f"demand_instruments{index}": simulated[name]
                for index, name in enumerate(INSTRUMENTS)
            },
        }
    )
    formulations = (pyblp.Formulation("1 + x + y + prices"), pyblp.Formulation("0 + x + y"))
    return pyblp.Problem(formulations, table, agent_data=agents)


def tastes(markets: Markets, price_is_linear: bool) -> RandomTastes:
    """No differences in price sensitivity: v = 0."""
    population = standard_gaussian(1, 2, NODES)
    return RandomTastes(population, Scales.of(markets), 3, 2, FREE, price_is_linear)


def solved(problem: Any, **options: Any) -> Any:
    free = np.diag([np.inf, np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem.solve(
            sigma=np.diag(START),
            sigma_bounds=(-free, free),
            W_type="clustered",
            se_type="clustered",
            iteration=pyblp.Iteration("squarem", {"atol": 1e-14}),
            **options,
        )


def test_the_objective_is_pyblps_at_the_same_parameters(markets: Markets, theirs: Any) -> None:
    expected = solved(theirs, method="1s", optimization=pyblp.Optimization("return"))
    with computing():
        problem = QualityProblem.of(markets, tastes(markets, True))
        valued = problem.valued(START)
        left = problem.linear.left(valued.delta, problem.linear.first_weight)
        slopes = problem.linear.left(valued.slopes, problem.linear.first_weight)
    assert np.abs(valued.delta - expected.delta.ravel()).max() < 1e-11
    assert left @ left == pytest.approx(float(expected.objective.item()), rel=1e-10)
    assert np.allclose(2 * slopes.T @ left, expected.gradient.ravel(), rtol=1e-8, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 2])
def test_estimates_and_errors_are_pyblps_where_tastes_differ(
    markets: Markets, theirs: Any, steps: int
) -> None:
    optimization = pyblp.Optimization("bfgs", {"gtol": 1e-8})
    expected = solved(theirs, method=f"{steps}s", optimization=optimization)
    with computing():
        ours = estimated(markets, tastes(markets, True), steps=steps, starts=1, seed=0)
    assert ours.converged
    sigma, beta = np.diag(expected.sigma), expected.beta.ravel()
    linear = np.r_[beta[:-1], -beta[-1]]
    assert np.abs(ours.parameters - np.r_[sigma, linear]).max() < 1e-6
    errors = np.r_[np.diag(expected.sigma_se), expected.beta_se.ravel()]
    assert np.allclose(ours.standard_errors, errors, rtol=1e-5, atol=0)
    assert ours.objective == pytest.approx(float(expected.objective.item()), rel=1e-7)


def test_price_through_softplus_finds_what_a_linear_price_finds(markets: Markets) -> None:
    """With v = 0 the price effect is alike for all, whichever way it is searched for."""
    with computing():
        linear, curved = (
            estimated(markets, tastes(markets, way), steps=2, starts=1, seed=0)
            for way in (True, False)
        )
    assert curved.converged
    assert curved.objective == pytest.approx(linear.objective, rel=1e-6)
    sensitivity = np.logaddexp(0.0, curved.parameters[0])
    assert sensitivity == pytest.approx(linear.parameters[-1], abs=1e-6)
    assert np.abs(curved.parameters[1:] - linear.parameters[:-1]).max() < 1e-6
    assert np.abs(curved.quality - linear.quality).max() < 1e-6
