"""Trained networks as arrays, which predict without torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clearbands.models.networks.shape import Shape

EPSILON = 1e-5  # added to the variance by which a normalisation divides


@dataclass(frozen=True)
class Standard:
    """Standardise columns; constant columns become zero, and their mean when they are undone."""

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Standard:
        is_constant = values.min(axis=0) == values.max(axis=0)
        mean = np.where(is_constant, values[0], values.mean(axis=0))
        return cls(mean, np.where(is_constant, 0.0, values.std(axis=0)))

    @classmethod
    def unchanged(cls) -> Standard:
        """Return the identity, for targets that are used as they are, such as class positions."""
        return cls(np.zeros(()), np.ones(()))

    def apply(self, values: np.ndarray) -> np.ndarray:
        divisor = np.where(self.deviation > 0, self.deviation, 1.0)
        return np.where(self.deviation > 0, (values - self.mean) / divisor, 0.0)

    def undo(self, values: np.ndarray) -> np.ndarray:
        return values * self.deviation + self.mean


@dataclass(frozen=True)
class Stack:
    """The parameters of m networks of one shape.

    A hidden layer is activation(scale * z + shift) of z = weight @ input. With layer normalisation
    z is first normalised over its units. The statistics of batch normalisation are part of
    `scales` and `shifts`.
    """

    shape: Shape
    weights: list[np.ndarray]  # (m, units, inputs) for each hidden layer
    scales: list[np.ndarray]  # (m, units)
    shifts: list[np.ndarray]  # (m, units)
    outputs: list[np.ndarray]  # (m, outputs, units) for each layer that the output sees
    bias: np.ndarray  # (m, outputs)

    @classmethod
    def of(
        cls, shape: Shape, flat: np.ndarray, moments: list[tuple[np.ndarray, np.ndarray]]
    ) -> Stack:
        """Build the stack from flat parameters (m, p) and each layer's mean and variance."""
        blocks = shape.views(flat)
        depth = len(shape.hidden)
        scales, shifts = [], []
        for layer in range(depth):
            scale, shift = blocks[3 * layer + 1][:, :, 0], blocks[3 * layer + 2][:, :, 0]
            if not shape.layer_norm:
                mean, variance = moments[layer]
                scale = scale / np.sqrt(variance + np.float32(EPSILON))
                shift = shift - mean * scale
            scales.append(scale)
            shifts.append(shift)
        weights = blocks[0 : 3 * depth : 3]
        return cls(shape, weights, scales, shifts, blocks[3 * depth : -1], blocks[-1][:, :, 0])

    def __len__(self) -> int:
        return len(self.bias)

    def members(self, chosen: slice) -> Stack:
        """Return some of the networks as views, without copies."""
        return replace(
            self,
            weights=[layer[chosen] for layer in self.weights],
            scales=[layer[chosen] for layer in self.scales],
            shifts=[layer[chosen] for layer in self.shifts],
            outputs=[layer[chosen] for layer in self.outputs],
            bias=self.bias[chosen],
        )

    def forward(
        self, member: int, X: np.ndarray, unit_factors: Sequence[np.ndarray] | None = None
    ) -> np.ndarray:
        """Return the outputs (n, outputs) of one member for standardised rows.

        Hidden units are multiplied by `unit_factors`.
        """
        seen = [X]
        for layer, weight in enumerate(self.weights):
            z = seen[-1] @ weight[member].T
            if self.shape.layer_norm:
                z -= z.mean(axis=1, keepdims=True)
                z /= np.sqrt(np.square(z).mean(axis=1, keepdims=True) + np.float32(EPSILON))
            z *= self.scales[layer][member]
            z += self.shifts[layer][member]
            np.maximum(z, np.float32(self.shape.negative_slope) * z, out=z)
            if unit_factors is not None:
                z *= unit_factors[layer]
            seen.append(z)
        read = seen if self.shape.skip else seen[-1:]
        parts = (a @ w[member].T for a, w in zip(read, self.outputs, strict=True))
        return sum(parts, start=self.bias[member])


@dataclass(frozen=True)
class FittedNetworks:
    """A stack with the scales of its inputs and its target, which predicts for raw rows."""

    inputs: Standard
    target: Standard
    stack: Stack
    epochs: np.ndarray  # (m,): the number of epochs after which each member was best
    losses: np.ndarray  # (m,): the loss then, on the rows that judge it, for the standard target

    def predict_members(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions (n, outputs, m); quantiles may cross."""
        return self.target.undo(np.stack(list(self.standard_outputs(X)), axis=-1))

    def member(self, number: int) -> FittedNetworks:
        """Return one of the networks."""
        own = slice(number, number + 1)
        return replace(
            self, stack=self.stack.members(own), epochs=self.epochs[own], losses=self.losses[own]
        )

    def standard_outputs(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield for each member the outputs (n, outputs) on the scale of the standardised target.

        They are in double precision, so that the prediction of a row does not depend on the others.
        """
        rows = self.inputs.apply(X)
        return (self.stack.forward(member, rows) for member in range(len(self.stack)))
