"""The forward pass in training, for all members at once.

Activations are (members, units, rows), so that the values that batch normalisation adds up lie side
by side. Normalisation, activation and dropout are one step, whose derivative is written out: with
autograd they would take longer than the matrix products.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import leaky_relu_

from clearbands.models.networks.shape import Shape
from clearbands.models.networks.stack import EPSILON

UNITS, ROWS = 1, 2  # the axes of activations


class _NormalisedActivation(torch.autograd.Function):
    """activation(scale * normalised z + shift) * unit_factors, with the mean and variance of z."""

    @staticmethod
    def forward(
        ctx: Any, z: Any, scale: Any, shift: Any, unit_factors: Any, axis: int, slope: float
    ) -> tuple[Any, Any, Any]:
        mean = z.mean(axis, keepdim=True)
        normal = z - mean
        variance = (normal * normal).mean(axis, keepdim=True)
        inverse = (variance + EPSILON).rsqrt_()
        normal.mul_(inverse)
        active = leaky_relu_((normal * scale).add_(shift), slope)
        if unit_factors is not None:
            active.mul_(unit_factors)
        # The derivative over the rows is torch's and needs z; ours over the units needs `normal`.
        ctx.save_for_backward(
            z if axis == ROWS else normal, mean, inverse, scale, active, unit_factors
        )
        ctx.axis, ctx.slope = axis, slope
        ctx.mark_non_differentiable(mean, variance)
        return active, mean, variance

    @staticmethod
    def backward(ctx: Any, gradient: Any, *_: Any) -> tuple[Any, ...]:
        seen, mean, inverse, scale, active, unit_factors = ctx.saved_tensors
        # Where a unit was dropped, `active` is 0, and `unit_factors` make the gradient 0, too.
        g = torch.ops.aten.leaky_relu_backward(gradient, active, ctx.slope, True)
        if unit_factors is not None:
            g.mul_(unit_factors)
        over = _over_rows if ctx.axis == ROWS else _over_units
        return *over(g, seen, mean, inverse, scale), None, None, None


def _over_rows(g: Any, z: Any, mean: Any, inverse: Any, scale: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of batch normalisation; every unit of every member is a channel."""
    gradients = torch.ops.aten.native_batch_norm_backward(
        *(value.reshape(1, -1, value.shape[ROWS]) for value in (g, z)),
        scale.reshape(-1),
        None,
        None,
        mean.reshape(-1),
        inverse.reshape(-1),
        True,
        EPSILON,
        [True, True, True],
    )
    return tuple(
        part.view(like.shape) for part, like in zip(gradients, (g, scale, scale), strict=True)
    )


def _over_units(g: Any, normal: Any, _mean: Any, inverse: Any, scale: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of layer normalisation."""
    along = g * normal
    of_shift, of_scale = g.sum(ROWS, keepdim=True), along.sum(ROWS, keepdim=True)
    weights = scale.transpose(UNITS, ROWS) / g.shape[UNITS]
    means = torch.bmm(weights, g), torch.bmm(weights, along)
    g.mul_(scale).sub_(means[0]).addcmul_(normal, means[1], value=-1).mul_(inverse)
    return g, of_scale, of_shift


def forward(
    shape: Shape,
    blocks: list[torch.Tensor],
    X: torch.Tensor,
    unit_factors: list[torch.Tensor] | None,
) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return outputs (m, outputs, rows) for X (m, rows, inputs), and the moments of each layer."""
    depth = len(shape.hidden)
    seen, moments = [X.transpose(1, 2)], []
    for layer in range(depth):
        weight, scale, shift = blocks[3 * layer : 3 * layer + 3]
        active, mean, variance = _NormalisedActivation.apply(
            torch.bmm(weight, seen[-1]),
            scale,
            shift,
            None if unit_factors is None else unit_factors[layer],
            UNITS if shape.layer_norm else ROWS,
            shape.negative_slope,
        )
        seen.append(active)
        moments.append((mean, variance))
    output = blocks[-1]
    for weight, activation in zip(
        blocks[3 * depth : -1], seen if shape.skip else seen[-1:], strict=True
    ):
        output = torch.baddbmm(output, weight, activation)
    return output, moments
