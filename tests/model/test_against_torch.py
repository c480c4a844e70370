"""dgd against a plain PyTorch version of the same equations, written day by day."""

import equinox as eqx
import jax
import numpy as np
import pytest

pytest.importorskip(
    "torch", reason="PyTorch is not installed; `make compare` installs it and runs this comparison"
)

import shapes
import training
from dgd.runtime import computing


@pytest.mark.parametrize("name", ["kuairand", "retail"])
def test_loss_and_gradients_equal_plain_torch(name):
    problem = shapes.problem(shapes.SHAPES[name])
    rival = training.torch_model(problem)
    loss = rival.objective(training.torch_days(problem))
    loss.backward()
    with computing():
        params, fixed = eqx.partition(problem.crowd, problem.crowd.trainable())
        value, gradient = jax.jit(
            jax.value_and_grad(
                lambda p: problem.objective.train(
                    eqx.combine(p, fixed), problem.inputs, problem.outcomes
                )[0]
            )
        )(params)
    assert float(value) == pytest.approx(loss.item(), abs=1e-9)
    compared = 0
    for path, ours in training.named_arrays(gradient):
        if ours.size:
            np.testing.assert_allclose(ours, rival[path].grad.numpy(), atol=1e-7, err_msg=path)
            compared += ours.size
    assert compared == sum(p.numel() for p in rival.parameters())
