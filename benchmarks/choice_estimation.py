"""A mixed logit estimated by dgd and by xlogit from the same counts and the same draws.

Tastes for every attribute and for price are independent normals, as xlogit has them. xlogit is
handed every market and choice once, weighted by its count, which is the shortest form of the
individuals it expects; the weights are scaled to a mean of one, since its search fails
otherwise. Its search also needs the start from a logit that it makes by default.
"""

import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize
from scipy.stats import norm, qmc

from dgd.choice import (
    ChoiceDemand,
    ChoiceModel,
    Markets,
    Offers,
    Scales,
    Utility,
    gaussian_world,
    simulate_markets,
)
from dgd.choice.objective import Sales, choice_loss
from dgd.model import SupportPoints
from dgd.runtime import computing

FIRST_SPREAD = 0.1
"""Standard deviation of tastes at the start, as xlogit has it."""


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class NormalTastes(Utility):
    """xlogit's utility: price sensitivity is normal like every taste, not kept positive."""

    def price_sensitivity(
        self, points: Float[Array, "cohort node dim"]
    ) -> Float[Array, "cohort node"]:
        return points @ self.price_loading + self.price_intercept


def mixed_logit_by_dgd(markets: Markets, draws: np.ndarray) -> Callable[[], tuple[float, int]]:
    """A run from start to convergence: its log-likelihood, and how often it was evaluated."""
    attributes = len(markets.attribute_names)
    with computing():
        population = SupportPoints(jnp.zeros((1, len(draws))), jnp.asarray(draws)[None])
        offers, sales = Offers.of(markets), Sales.of(markets)
        scales = Scales.plain(attributes)

    @jax.jit
    def value_and_slope(effects: Array) -> Any:
        def loss(effects: Array) -> Array:
            mean, spread = effects[: attributes + 1], effects[attributes + 1 :]
            loading = jnp.eye(attributes, attributes + 1) * spread[:-1, None]
            aside = jnp.zeros(attributes + 1).at[-1].set(spread[-1])
            utility = NormalTastes(mean[:-1], loading, mean[-1], aside)
            return choice_loss(ChoiceDemand(population, utility, scales), offers, sales)

        return jax.value_and_grad(loss)(effects)

    def run() -> tuple[float, int]:
        with computing():
            mean, spread = np.zeros(attributes + 1), np.full(attributes + 1, FIRST_SPREAD)
            found = minimize(
                lambda effects: tuple(map(np.asarray, value_and_slope(effects))),
                np.r_[mean, spread],
                jac=True,
                method="BFGS",
                options={"gtol": 1e-7},
            )
        return -float(found.fun) * markets.size.sum(), int(found.nfev)

    return run


def mixed_logit_by_xlogit(markets: Markets, draws: np.ndarray) -> Callable[[], tuple[float, int]]:
    from xlogit import MixedLogit

    class SameDraws(MixedLogit):  # type: ignore[misc]
        def _generate_draws(self, sample_size: int, *_: Any, **__: Any) -> np.ndarray:
            return np.repeat(draws.T[None], sample_size, axis=0)

    number, products = markets.count.shape
    nothing = np.zeros((number, 1, len(markets.attribute_names)))
    known = np.concatenate([nothing, markets.attributes], 1)
    price = np.c_[np.zeros(number), markets.price]
    offers = np.concatenate([known, price[..., None]], -1)
    choices = products + 1
    counts = np.c_[markets.outside, markets.count]
    long = np.repeat(offers[:, None], choices, axis=1).reshape(number * choices * choices, -1)
    alternatives = np.tile(np.arange(choices), number * choices)
    chosen = np.repeat(np.tile(np.arange(choices), number), choices)
    names = [*markets.attribute_names, "price"]

    def run() -> tuple[float, int]:
        model = SameDraws()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(
                long,
                alternatives == chosen,
                names,
                alternatives,
                np.repeat(np.arange(number * choices), choices),
                dict.fromkeys(names, "n"),
                weights=np.repeat(counts.ravel() / counts.mean(), choices),
                n_draws=len(draws),
                skip_std_errs=True,
                verbose=0,
            )
        return float(model.loglikelihood * counts.mean()), int(model.total_fun_eval)

    return run


def mirrored_draws(number: int, dim: int) -> Float[np.ndarray, "draw dim"]:
    """Halton draws mirrored in every axis, so that the sign of a spread does not matter and the
    likelihood has one maximum for all to find."""
    signs = np.array(list(product((-1.0, 1.0), repeat=dim)))
    quarter = np.abs(norm.ppf(qmc.Halton(dim, seed=1).random(number // len(signs))))
    return np.asarray((signs[:, None] * quarter[None]).reshape(-1, dim))


def estimation(number: int, draws: int, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds until converged and the log-likelihood reached, taking turns."""
    markets = simulate_markets(gaussian_world(), number, seed=2).markets
    normal = mirrored_draws(draws, len(markets.attribute_names) + 1)
    ours, theirs = mixed_logit_by_dgd(markets, normal), mixed_logit_by_xlogit(markets, normal)
    first = seconds(ours)
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    mine, other = (float(np.median(column)) for column in zip(*times, strict=True))
    (our_value, our_calls), (their_value, their_calls) = ours(), theirs()
    return {
        "dgd": {"seconds": mine, "log-likelihood": our_value, "evaluations": our_calls},
        "dgd, the first time": {"seconds": first},
        "xlogit": {"seconds": other, "log-likelihood": their_value, "evaluations": their_calls},
        "xlogit by dgd": {"ratio": other / mine},
        "ChoiceModel instead": choice_model(markets),
    }


def choice_model(markets: Markets) -> dict[str, float]:
    """What a user of dgd would do instead: two Gaussian types, one seed from one start."""
    settings = ChoiceModel(starts=1)
    begin = time.perf_counter()
    fit = settings.fit(markets, seeds=[1])
    spent = time.perf_counter() - begin
    with computing():
        loss = float(choice_loss(fit.parameters[0], Offers.of(markets), Sales.of(markets)))
    return {"seconds": spent, "log-likelihood": -loss * float(markets.size.sum())}
