"""Linear regression by instruments, and labels taken out by means: as the textbook has them."""

import numpy as np
import pytest

from dgd.choice.inversion import differentiation
from dgd.choice.inversion.absorbing import Absorbed
from dgd.choice.inversion.moments import first_stage_f
from dgd.choice.inversion.two_stage import Instrumented, independent, instrumental_variables
from support.endogenous_markets import endogenous_markets

ROWS = 300


@pytest.fixture
def rows() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    known = np.c_[np.ones(ROWS), rng.normal(size=(ROWS, 2))]
    excluded = rng.normal(size=(ROWS, 3))
    xi = rng.normal(size=ROWS) * (1 + np.abs(known[:, 1]))
    price = excluded @ [0.5, 0.3, -0.2] + 0.7 * xi + rng.normal(size=ROWS)
    outcome = known @ [1.0, 0.5, -0.5] - 2.0 * price + xi
    return {
        "known": known,
        "excluded": excluded,
        "price": price,
        "outcome": outcome,
        "cluster": np.repeat(np.arange(ROWS // 5), 5),
    }


def textbook(x: np.ndarray, z: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(X'Z W Z'X)^-1 X'Z W Z'y."""
    return np.linalg.solve(x.T @ z @ weight @ z.T @ x, x.T @ z @ weight @ z.T @ y)


def test_two_stage_least_squares_is_the_textbooks(rows: dict[str, np.ndarray]) -> None:
    x = np.c_[rows["known"], rows["price"]]
    z = np.c_[rows["known"], rows["excluded"]]
    found = instrumental_variables(rows["outcome"], Instrumented.of(x, z, rows["cluster"]))
    expected = textbook(x, z, rows["outcome"], np.linalg.inv(z.T @ z))
    assert np.allclose(found.coefficients, expected, rtol=0, atol=1e-10)
    least_squares = np.linalg.lstsq(x, rows["outcome"], rcond=None)[0]
    assert abs(least_squares[-1] + 2.0) > 2 * abs(found.coefficients[-1] + 2.0)


@pytest.mark.parametrize("kind", ["robust", "clustered"])
def test_the_second_step_and_its_errors_are_the_textbooks(
    rows: dict[str, np.ndarray], kind: str
) -> None:
    x = np.c_[rows["known"], rows["price"]]
    z = np.c_[rows["known"], rows["excluded"]]
    cluster = rows["cluster"] if kind == "clustered" else np.arange(ROWS)
    found = instrumental_variables(rows["outcome"], Instrumented.of(x, z, cluster), steps=2)

    def spread(xi: np.ndarray) -> np.ndarray:
        moments = z * xi[:, None]
        moments = moments - moments.mean(0)
        sums = np.array([moments[cluster == c].sum(0) for c in range(cluster.max() + 1)])
        return sums.T @ sums

    first = textbook(x, z, rows["outcome"], np.linalg.inv(z.T @ z))
    weight = np.linalg.inv(spread(rows["outcome"] - x @ first))
    expected = textbook(x, z, rows["outcome"], weight)
    xi = rows["outcome"] - x @ expected
    bread = np.linalg.inv(x.T @ z @ weight @ z.T @ x) @ x.T @ z @ weight
    assert np.allclose(found.coefficients, expected, rtol=0, atol=1e-10)
    assert np.allclose(found.covariance, bread @ spread(xi) @ bread.T, rtol=1e-8, atol=0)
    assert found.objective == pytest.approx(xi @ z @ weight @ z.T @ xi, rel=1e-8)


def test_columns_of_instruments_that_repeat_others_change_nothing(
    rows: dict[str, np.ndarray],
) -> None:
    x = np.c_[rows["known"], rows["price"]]
    z = np.c_[rows["known"], rows["excluded"]]
    more = np.c_[z, z[:, 1] - 3 * z[:, 4], np.zeros(ROWS)]
    assert independent(more).tolist() == [True] * 6 + [False] * 2
    one, other = (
        instrumental_variables(rows["outcome"], Instrumented.of(x, part, rows["cluster"]), 2)
        for part in (z, more)
    )
    assert np.allclose(one.coefficients, other.coefficients, rtol=0, atol=1e-9)


def test_with_one_instrument_f_is_the_square_of_its_t(rows: dict[str, np.ndarray]) -> None:
    one = rows["excluded"][:, :1]
    found = first_stage_f(rows["price"], rows["known"], one, rows["cluster"])
    x = np.c_[rows["known"], one]
    effect = np.linalg.lstsq(x, rows["price"], rcond=None)[0]
    scores = x * (rows["price"] - x @ effect)[:, None]
    sums = np.array([scores[rows["cluster"] == c].sum(0) for c in range(ROWS // 5)])
    inverse = np.linalg.inv(x.T @ x)
    variance = inverse @ sums.T @ sums @ inverse
    assert found == pytest.approx(effect[-1] ** 2 / variance[-1, -1], rel=1e-9)


@pytest.mark.parametrize("absorb", [["product"], ["product", "market"], ["product", "firm"]])
def test_taking_out_means_is_regressing_on_dummies(absorb: list[str]) -> None:
    markets, _ = endogenous_markets(4, 30, 0.5, absorb=absorb)
    values = np.random.default_rng(2).normal(size=(int(markets.available.sum()), 2))
    absorbed = Absorbed.of(markets)
    rest, effects = absorbed.parted(values)
    dummies = np.hstack([column.toarray().T for column in absorbed.members])
    expected = values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0]
    assert np.abs(rest - expected).max() < 1e-10
    assert np.abs(rest + dummies @ np.vstack(effects) - values).max() < 1e-10


def test_differences_from_rivals_are_sums_over_pairs() -> None:
    rng = np.random.default_rng(3)
    available = np.array([[True, True, True, False], [True, False, True, False]])
    known = rng.normal(size=(2, 4, 2)) + 50.0
    squares = differentiation.squares(known, available)
    products = differentiation.products(known, available)
    for m, j in np.argwhere(available):
        others = [r for r in range(4) if available[m, r] and r != j]
        off = known[m, others] - known[m, j]
        assert np.allclose(squares[m, j], (off**2).sum(0), rtol=1e-10)
        assert np.allclose(products[m, j], (off[:, 0] * off[:, 1]).sum(), rtol=1e-10)
        assert differentiation.rivals(available)[m, j, 0] == len(others)
    assert not squares[~available].any()
