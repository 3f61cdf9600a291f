"""The shape of networks, and the places of their parameters in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearbands.rows.checks import check_count


@dataclass(frozen=True)
class Shape:
    """Hidden layers of linear map, normalisation, (leaky) ReLU and dropout, and a linear output.

    With `skip` the output also sees the input and every hidden layer. This shortens the way of the
    gradient, and the network contains a linear model.
    """

    hidden: tuple[int, ...]
    n_inputs: int
    n_outputs: int
    layer_norm: bool  # normalise over the units of a row; otherwise over the rows of a batch
    negative_slope: float
    dropout: float
    skip: bool

    @classmethod
    def of_centers(
        cls, hidden: Sequence[int], n_inputs: int, dropout: float, n_outputs: int = 1
    ) -> Shape:
        """Return the paper's ensemble shape: batch normalisation, ReLU and skip connections."""
        return cls(
            check_hidden(hidden),
            n_inputs,
            n_outputs,
            layer_norm=False,
            negative_slope=0.0,
            dropout=dropout,
            skip=True,
        )

    @classmethod
    def of_noise(
        cls,
        hidden: Sequence[int],
        n_inputs: int,
        n_outputs: int,
        dropout: float,
        *,
        skip: bool = False,
    ) -> Shape:
        """Return the shape of the paper's simultaneous quantiles: layer normalisation, leaky ReLU.

        With `skip` it is that of the authors' program: batch normalisation, ReLU and skip
        connections.
        """
        return cls(
            check_hidden(hidden),
            n_inputs,
            n_outputs,
            layer_norm=not skip,
            negative_slope=0.0 if skip else 0.01,
            dropout=dropout,
            skip=skip,
        )

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the input and the hidden layers."""
        return (self.n_inputs, *self.hidden)

    @property
    def seen_by_output(self) -> tuple[int, ...]:
        return self.widths if self.skip else self.widths[-1:]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The shapes of weight, scale and shift of each layer, then of the output and its bias."""
        layers = zip(self.hidden, self.widths, strict=False)
        blocks = [block for h, w in layers for block in ((h, w), (h, 1), (h, 1))]
        return [*blocks, *((self.n_outputs, w) for w in self.seen_by_output), (self.n_outputs, 1)]

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """Draw parameters (p,) with uniform weights within one over the root of their inputs."""
        parts: list[np.ndarray] = []
        for h, w in zip(self.hidden, self.widths, strict=False):
            parts += [_uniform(rng, h * w, w), np.ones(h, np.float32), np.zeros(h, np.float32)]
        n_seen = sum(self.seen_by_output)
        parts += [_uniform(rng, self.n_outputs * w, n_seen) for w in self.seen_by_output]
        return np.concatenate([*parts, np.zeros(self.n_outputs, np.float32)])

    def views(self, flat: Any) -> list[Any]:
        """Return the blocks (m, rows, columns) of flat parameters (m, p), of NumPy or torch."""
        ends = np.cumsum([rows * columns for rows, columns in self.blocks]).tolist()
        starts = [0, *ends[:-1]]
        return [
            flat[:, start:end].reshape(len(flat), *block)
            for start, end, block in zip(starts, ends, self.blocks, strict=True)
        ]


def check_hidden(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the widths of the hidden layers; raise if they are invalid."""
    if isinstance(hidden, str) or not np.iterable(hidden):
        raise TypeError(f"hidden must be a list of layer widths such as (64, 64), got {hidden!r}.")
    for width in hidden:
        check_count(width, "Each width in hidden")
    return tuple(int(width) for width in hidden)


def _uniform(rng: np.random.Generator, size: int, n_inputs: int) -> np.ndarray:
    return (rng.random(size, dtype=np.float32) * 2 - 1) / np.float32(np.sqrt(n_inputs))
