"""Losses of networks: functions of outputs (m, q, rows) and targets (m, rows), for each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

Loss = Callable[[Any, Any], Any]
"""A function of torch tensors that returns the losses (m, rows)."""

SMALLEST_DEVIATION = 1e-3  # the smallest deviation, for targets whose standard deviation is 1


def squared_error(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return (output[:, 0] - target) ** 2


def pinball(levels: Sequence[float], crossing_penalty: float) -> Loss:
    """Return the mean pinball loss over the levels with a penalty on quantiles out of order."""

    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        level = output.new_tensor(levels)[None, :, None]
        above = target[:, None] - output
        value = (level * above - above.clamp(max=0)).mean(1)
        if len(levels) > 1 and crossing_penalty > 0:
            crossing = (output[:, :-1] - output[:, 1:]).clamp(min=0).sum(1)
            value = value + crossing_penalty * crossing
        return value

    return loss


def normal_likelihood(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the negative log likelihood of a normal law with outputs mean and raw deviation."""
    from torch.nn.functional import softplus

    deviation = softplus(output[:, 1]) + SMALLEST_DEVIATION
    return 0.5 * ((target - output[:, 0]) / deviation) ** 2 + deviation.log()


def cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the negative log likelihood of classes: outputs are logits, targets are positions."""
    return -output.log_softmax(1).gather(1, target.long()[:, None])[:, 0]


def normal_deviation(raw: np.ndarray) -> np.ndarray:
    """Return the deviation that `normal_likelihood` computes from its second output."""
    return np.logaddexp(0, raw) + SMALLEST_DEVIATION
