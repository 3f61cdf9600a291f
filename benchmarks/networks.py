"""Five networks trained at once beside five in a row: `python -m benchmarks.networks`

The networks are those of DeepEnsemble. In a row, they are trained by our loop with one member each,
and by a plain loop with torch's own layers and optimiser, the same input noise, and the best
weights by the rows left out. At once, they are trained by our loop, and by torch.func.vmap over
torch's layers, which neither adds noise nor keeps the best weights. All run on one thread and none
stops early. Times are CPU seconds for the same number of epochs, the least of a few rounds in which
all take turns.
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
from clearbands.models.networks.losses import squared_error
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.training import TrainingPlan, train
from clearbands.rows.draws import Bootstraps

MEMBERS, HIDDEN, BATCH = 5, (256, 128), 64
RATE, DECAY, DROPOUT, NOISE = 1e-3, 1e-5, 0.1, 0.01
SIZES = ((1000, 8), (1000, 80))


class Network(nn.Module):
    """A network whose output sees the input and every hidden layer, as in DeepEnsemble."""

    def __init__(self, n_inputs: int, track: bool = True) -> None:
        super().__init__()
        widths = (n_inputs, *HIDDEN)
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Linear(width, units, bias=False),
                nn.BatchNorm1d(units, track_running_stats=track),
                nn.ReLU(),
                nn.Dropout(DROPOUT),
            )
            for width, units in zip(widths, HIDDEN, strict=False)
        )
        self.output = nn.Linear(sum(widths), 1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        seen = [X]
        for layer in self.layers:
            seen.append(layer(seen[-1]))
        return self.output(torch.cat(seen, dim=1))


class Work:
    """The rows, bootstraps and number of epochs, which all ways of training share."""

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
        shape = Shape.of_centers(HIDDEN, self.X.shape[1], DROPOUT)
        plan = TrainingPlan(
            self.epochs, self.epochs, BATCH, RATE, weight_decay=DECAY, input_noise=NOISE
        )
        counts = self.counts[list(members)]
        train(shape, plan, squared_error, self.X, self.y, counts, list(members), stage="benchmark")

    def plain_torch(self) -> None:
        for member in range(MEMBERS):
            network = Network(self.X.shape[1])
            adam = torch.optim.Adam(network.parameters(), RATE, weight_decay=DECAY)
            X, y = (torch.from_numpy(v).float() for v in self._drawn(member))
            left_out = self.counts[member] == 0
            unseen = (self.X[left_out], self.y[left_out, None])
            X_out, y_out = (torch.from_numpy(v).float() for v in unseen)
            least = math.inf
            for _ in range(self.epochs):
                network.train()
                for rows in self._batches():
                    adam.zero_grad()
                    noisy = X[rows] + NOISE * torch.randn(len(rows), X.shape[1])
                    nn.functional.mse_loss(network(noisy), y[rows]).backward()
                    adam.step()
                network.eval()
                with torch.no_grad():
                    loss = nn.functional.mse_loss(network(X_out), y_out).item()
                if loss < least:
                    least, _best = loss, copy.deepcopy(network.state_dict())

    def vmap(self) -> None:
        networks = [Network(self.X.shape[1], track=False) for _ in range(MEMBERS)]
        parameters, _ = torch.func.stack_module_state(networks)
        skeleton = copy.deepcopy(networks[0]).to("meta")

        def loss(own, X, y):
            return nn.functional.mse_loss(torch.func.functional_call(skeleton, own, (X,)), y)

        gradients = torch.func.vmap(torch.func.grad(loss), randomness="different")
        adam = torch.optim.Adam(parameters.values(), RATE, weight_decay=DECAY)
        drawn = [self._drawn(member) for member in range(MEMBERS)]
        X, y = (torch.from_numpy(np.stack(v)).float() for v in zip(*drawn, strict=True))
        for _ in range(self.epochs):
            for rows in self._batches():
                for name, gradient in gradients(parameters, X[:, rows], y[:, rows]).items():
                    parameters[name].grad = gradient
                adam.step()

    def _drawn(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.repeat(np.arange(len(self.y)), self.counts[member])
        return self.X[rows], self.y[rows, None]

    def _batches(self):
        return torch.randperm(len(self.y)).chunk(math.ceil(len(self.y) / BATCH))


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
