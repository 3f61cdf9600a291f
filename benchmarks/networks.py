"""Five networks at once against five in a row: `python -m benchmarks.networks`

The networks are those of DeepEnsemble. In a row they are trained by the same loop with one member
each, and by the loop that one would write with torch's own layers and optimiser; at once by our
loop, and by torch.func.vmap over such layers. All on one thread, without early stopping; times are
CPU seconds for the same number of epochs, the least of a few rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Callable

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import nn

from benchmarks.measure import load_average
from benchmarks.tables import markdown
from clearbands.bagging import Bootstraps
from clearbands.networks.losses import squared_error
from clearbands.networks.shape import Shape
from clearbands.networks.training import Plan, train

MEMBERS, HIDDEN, BATCH, RATE, DECAY, DROPOUT = 5, (256, 128), 64, 1e-3, 1e-5, 0.1
SIZES = ((1000, 8), (1000, 80))


class Work:
    """The same rows, bootstraps and number of epochs for all ways of training."""

    def __init__(self, n: int, d: int, epochs: int) -> None:
        rng = np.random.RandomState(0)
        self.X = rng.normal(size=(n, d))
        self.y = self.X[:, 0] + rng.normal(size=n)
        self.counts = Bootstraps.draw(n, MEMBERS, rng).counts
        self.epochs = epochs

    def batched(self) -> None:
        self._train(range(MEMBERS))

    def in_a_row(self) -> None:
        for member in range(MEMBERS):
            self._train([member])

    def _train(self, members) -> None:
        shape = Shape(HIDDEN, self.X.shape[1], 1, False, 0.0, DROPOUT, True)
        plan = Plan(self.epochs, self.epochs, BATCH, RATE, weight_decay=DECAY, input_noise=0.01)
        counts = self.counts[list(members)]
        train(shape, plan, squared_error, self.X, self.y, counts, list(members), stage="benchmark")

    def plain_torch(self) -> None:
        """No judging of rows left out, no input noise: only what training needs."""
        for member in range(MEMBERS):
            network = self._network()
            adam = torch.optim.Adam(network.parameters(), RATE, weight_decay=DECAY)
            X, y = (torch.from_numpy(v).float() for v in self._drawn(member))
            for rows in self._batches():
                adam.zero_grad()
                nn.functional.mse_loss(network(X[rows]), y[rows]).backward()
                adam.step()

    def vmap(self) -> None:
        networks = [self._network(track=False) for _ in range(MEMBERS)]
        parameters, _ = torch.func.stack_module_state(networks)
        skeleton = copy.deepcopy(networks[0]).to("meta")

        def loss(own, X, y):
            return nn.functional.mse_loss(torch.func.functional_call(skeleton, own, (X,)), y)

        gradients = torch.func.vmap(torch.func.grad(loss), randomness="different")
        adam = torch.optim.Adam(parameters.values(), RATE, weight_decay=DECAY)
        drawn = [self._drawn(member) for member in range(MEMBERS)]
        X, y = (torch.from_numpy(np.stack(v)).float() for v in zip(*drawn, strict=True))
        for rows in self._batches():
            for name, gradient in gradients(parameters, X[:, rows], y[:, rows]).items():
                parameters[name].grad = gradient
            adam.step()

    def _network(self, track: bool = True) -> nn.Module:
        layers, width = [], self.X.shape[1]
        for units in HIDDEN:
            norm = nn.BatchNorm1d(units, track_running_stats=track)
            layers += [nn.Linear(width, units), norm, nn.ReLU(), nn.Dropout(DROPOUT)]
            width = units
        return nn.Sequential(*layers, nn.Linear(width, 1))

    def _drawn(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.repeat(np.arange(len(self.y)), self.counts[member])
        return self.X[rows], self.y[rows, None]

    def _batches(self):
        for _ in range(self.epochs):
            yield from torch.randperm(len(self.y)).chunk(math.ceil(len(self.y) / BATCH))


def cpu_seconds(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    header = ["rows", "batched", "same loop in a row", "ratio", "plain torch in a row", "ratio"]
    lines = []
    with threadpool_limits(limits=1):
        for n, d in SIZES:
            Work(n, d, 1).batched()  # warm up
            work = Work(n, d, args.epochs)
            ways = (work.batched, work.in_a_row, work.plain_torch, work.vmap)
            rounds = [[cpu_seconds(way) for way in ways] for _ in range(args.rounds)]
            ours, row, plain, vmap = np.min(rounds, axis=0)
            ratios = [f"{other / ours:.1f}" for other in (row, plain, vmap)]
            rest = (f"{plain:.2f}", ratios[1], f"{vmap:.2f}", ratios[2])
            lines.append((f"{n:,} x {d}", f"{ours:.2f}", f"{row:.2f}", ratios[0], *rest))
    print(f"{MEMBERS} networks, {args.epochs} epochs, CPU s, load {load_average():.1f}\n")
    print(markdown([*header, "torch.func.vmap", "ratio"], lines))


if __name__ == "__main__":
    main()
