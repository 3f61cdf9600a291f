"""Losses against values by hand and against torch."""

import math

import pytest

from clearbands.models.networks.losses import normal_deviation, normal_likelihood, pinball
from tests.models.networks.small_networks import torch


def test_pinball_loss_and_crossing_penalty():
    output = torch.tensor([[[3.0], [1.0], [2.0]]])  # the first two cross by 2
    target = torch.tensor([[2.0]])
    shortfalls = [0.9 * 1, 0.5 * 1, 0.0]  # 1 below at 0.1, 1 above at 0.5, equal at 0.9
    plain = pinball([0.1, 0.5, 0.9], 0.0)(output, target)
    assert plain.item() == pytest.approx(sum(shortfalls) / 3)
    penalised = pinball([0.1, 0.5, 0.9], 10.0)(output, target)
    assert penalised.item() == pytest.approx(sum(shortfalls) / 3 + 10 * 2)


def test_the_normal_likelihood_is_that_of_torch():
    output = torch.tensor([[[0.5, -1.0], [0.3, 2.0]]])
    target = torch.tensor([[1.0, 2.0]])
    deviation = torch.from_numpy(normal_deviation(output[:, 1].numpy()))
    law = torch.distributions.Normal(output[:, 0], deviation)
    expected = -law.log_prob(target) - 0.5 * math.log(2 * math.pi)
    torch.testing.assert_close(normal_likelihood(output, target), expected)
