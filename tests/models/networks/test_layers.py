"""The layers against torch: derivatives, and the outputs of a whole member."""

import importlib

import numpy as np
import pytest

from clearbands.models.networks.stack import Stack
from clearbands.models.networks.training import fresh_moments
from tests.models.networks.small_networks import small_shape, torch

layers = importlib.import_module("clearbands.models.networks.layers")


# Comparison with other implementations


@pytest.mark.parametrize("axis", [layers.UNITS, layers.ROWS])
@pytest.mark.parametrize("slope", [0.0, 0.01])
def test_the_derivative_is_the_one_of_finite_differences(axis, slope):
    generator = torch.Generator().manual_seed(0)

    def draw(*size):
        return torch.randn(*size, dtype=torch.double, generator=generator, requires_grad=True)

    kept = (draw(2, 5, 7) > -0.5).double() / 0.7

    def active(z, scale, shift):
        return layers._NormalisedActivation.apply(z, scale, shift, kept, axis, slope)[0]

    assert torch.autograd.gradcheck(active, (draw(2, 5, 7), draw(2, 5, 1), draw(2, 5, 1)))


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("skip", [False, True])
def test_a_member_is_the_network_that_torch_would_build(layer_norm, skip):
    """Its outputs agree in training, on the whole batch at once, and afterwards in NumPy."""
    shape = small_shape(layer_norm=layer_norm, skip=skip, dropout=0.0, n_outputs=2)
    flat = shape.initial(np.random.default_rng(0))[None]
    X = np.random.default_rng(1).normal(size=(20, 2)).astype(np.float32)
    blocks = [torch.from_numpy(block) for block in shape.views(flat)]

    expected, seen = 0, [torch.from_numpy(X)]
    for i, units in enumerate(shape.hidden):
        z = seen[-1] @ blocks[3 * i][0].T
        norm = torch.nn.LayerNorm(units) if layer_norm else torch.nn.BatchNorm1d(units)
        seen.append(torch.relu(norm(z)))
    for weight, part in zip(blocks[6:-1], seen if skip else seen[-1:], strict=True):
        expected = expected + part @ weight[0].T

    output, moments = layers.forward(shape, blocks, torch.from_numpy(X)[None], None)
    torch.testing.assert_close(output[0].T, expected)
    found = [tuple(value[:, :, 0].numpy() for value in layer) for layer in moments]
    if layer_norm:
        found = fresh_moments(shape)  # layers with LayerNorm do not use them
    np.testing.assert_allclose(
        Stack.of(shape, flat, found).forward(0, X), expected.detach().numpy(), atol=1e-5
    )
