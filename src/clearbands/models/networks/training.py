"""The training loop of all networks, for many members at once, each with its own rows and seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from clearbands._compat import require
from clearbands.engine.progress import report
from clearbands.engine.threads import one_blas_thread
from clearbands.models.networks.losses import Loss
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.stack import FittedNetworks, Stack, Standard
from clearbands.rows.checks import check_count, check_share

ROWS_AT_ONCE = 1280  # the rows of all members' batches together that fit into the cache
JUDGED_ON = 2000  # the most rows that decide when a member stops; more would hardly change it
RESTARTS = 3
MOMENTUM = 0.1  # the weight of a batch in the running mean and variance of batch normalisation
ADAM = (0.9, 0.999, 1e-8)

SCHEDULES = {
    "constant": lambda progress: 1.0,
    "cosine": lambda progress: (1 + math.cos(math.pi * progress)) / 2,
    "exponential": lambda progress: 0.01**progress,
}


class TrainingError(ValueError):
    """Training gave no usable network; the message says what to change."""


@dataclass(frozen=True)
class TrainingPlan:
    """The settings of training. Speeds (factors of the rate) and schedules alternate by member."""

    max_epochs: int
    patience: int  # a member stops after so many epochs without a lower loss on unseen rows
    batch_size: int
    learning_rate: float
    speeds: tuple[float, ...] = (1.0,)
    schedules: tuple[str, ...] = ("constant",)
    weight_decay: float = 0.0
    max_gradient_norm: float = math.inf  # longer gradients of a member are shortened to this
    input_noise: float = 0.0  # the noise added to inputs, in their standard deviations
    device: str = "cpu"

    @classmethod
    def of(cls, model: Any, **others: Any) -> TrainingPlan:
        """Take the settings from the parameters of a model with these names, and from `others`."""
        names = {each.name for each in fields(cls)} & model.get_params(deep=False).keys()
        return cls(**{name: getattr(model, name) for name in names}, **others)

    def __post_init__(self) -> None:
        check_count(self.max_epochs, "max_epochs")
        check_count(self.patience, "patience")
        check_count(self.batch_size, "batch_size", smallest=2)  # one row has no variance
        for value, name in (
            (self.weight_decay, "weight_decay"),
            (self.input_noise, "input_noise"),
        ):
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
        for value, name in (
            (self.learning_rate, "learning_rate"),
            (self.max_gradient_norm, "max_gradient_norm"),
        ):
            if not value > 0:
                raise ValueError(f"{name} must be a number above 0, got {value!r}.")


def train(
    shape: Shape,
    plan: TrainingPlan,
    loss: Loss,
    X: np.ndarray,
    y: np.ndarray,
    counts: np.ndarray,
    seeds: Sequence[int] | np.ndarray,
    *,
    weight: np.ndarray | None = None,
    stage: str,
    target: Standard | None = None,
    stopping: np.ndarray | None = None,
) -> FittedNetworks:
    """Train one network per row of `counts` (m, n), which says how often it sees each row of X.

    `target` brings y to the scale of `loss`; by default y is standardised. The rows of `stopping`
    (m, n), by default those that a member never sees, decide when it stops; without any, the rows
    that it sees do. A member must not see its stopping rows. It keeps the parameters that it had
    when its loss on these rows was lowest. A member depends only on its counts and its seed, not on
    the members that are trained beside it. Losses of rows count as their `weight` (n,) says.
    """
    if not 0 <= shape.dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {shape.dropout!r}.")
    torch = require("torch", what="Training networks", extra="deep")
    inputs, target = Standard.of(X), Standard.of(y) if target is None else target
    rows = _Data(
        inputs.apply(X).astype(np.float32),
        target.apply(y).astype(np.float32),
        torch.device(plan.device),
        None if weight is None else (weight / weight.mean()).astype(np.float32),
    )
    judging = counts == 0 if stopping is None else stopping
    members = [
        _Member.draw(shape, plan, i, drawn, unseen, seed)
        for i, (drawn, unseen, seed) in enumerate(zip(counts, judging, seeds, strict=True))
    ]
    size = max(1, ROWS_AT_ONCE // min(plan.batch_size, len(y)))
    groups = [members[start : start + size] for start in range(0, len(members), size)]
    total = len(groups) * plan.max_epochs
    # Products this small gain little from more than one thread. If other programs compete for the
    # cores, threads that wait for each other make training many times slower.
    with torch.enable_grad(), one_blas_thread():
        for i, group in enumerate(groups):
            batch = _Batch(shape, plan, loss, rows, group)
            for epoch in range(plan.max_epochs):
                batch.run_epoch(epoch)
                report(stage, i * plan.max_epochs + epoch + 1, total)
                if not batch.members:
                    break
            report(stage, (i + 1) * plan.max_epochs, total)
    best = [member.best for member in members]
    moments = [
        (np.stack([m.moments[i][0] for m in best]), np.stack([m.moments[i][1] for m in best]))
        for i in range(len(shape.hidden))
    ]
    return FittedNetworks(
        inputs,
        target,
        Stack.of(shape, np.stack([m.parameters for m in best]), moments),
        np.array([m.epoch for m in best]),
        np.array([m.loss for m in best]),
    )


def hold_out_counts(n: int, n_members: int, share: float, rng: np.random.RandomState) -> np.ndarray:
    """Return counts (m, n) of ones, with zeros for a random share of stopping rows per member."""
    check_share(share, "stopping_size")
    counts = np.ones((n_members, n), np.uint8)
    for member in counts:
        member[rng.permutation(n)[: min(math.ceil(share * n), n - 2)]] = 0
    return counts


@dataclass(frozen=True)
class _Data:
    """Standardised rows, in NumPy to judge members and in torch to train them."""

    X: np.ndarray
    y: np.ndarray
    device: Any
    weight: np.ndarray | None = None
    X_torch: Any = field(init=False)
    y_torch: Any = field(init=False)
    weight_torch: Any = field(init=False)

    def __post_init__(self) -> None:
        torch = require("torch", what="Training networks", extra="deep")
        object.__setattr__(self, "X_torch", torch.from_numpy(self.X).to(self.device))
        object.__setattr__(self, "y_torch", torch.from_numpy(self.y).to(self.device))
        weight = None if self.weight is None else torch.from_numpy(self.weight).to(self.device)
        object.__setattr__(self, "weight_torch", weight)


@dataclass(frozen=True)
class _Snapshot:
    parameters: np.ndarray  # (p,)
    moments: list[tuple[np.ndarray, np.ndarray]]  # mean and variance (units,) of each hidden layer
    epoch: int
    loss: float


@dataclass
class _Member:
    """The state of one network in training."""

    rng: np.random.Generator
    initial: np.ndarray
    seen: np.ndarray  # the numbers of its rows, repeated as often as they count
    judged_on: np.ndarray
    rate: float
    schedule: str
    best: _Snapshot
    restarts: int = 0

    @classmethod
    def draw(
        cls,
        shape: Shape,
        plan: TrainingPlan,
        i: int,
        counts: np.ndarray,
        judging: np.ndarray,
        seed: int,
    ) -> _Member:
        rng = np.random.Generator(np.random.SFC64(int(seed)))
        initial = shape.initial(rng)
        unseen = np.flatnonzero(judging)
        if len(unseen) == 0:
            unseen = np.flatnonzero(counts)
        return cls(
            rng,
            initial,
            np.repeat(np.arange(len(counts)), counts),
            rng.permutation(unseen)[:JUDGED_ON],
            plan.learning_rate * plan.speeds[i % len(plan.speeds)],
            plan.schedules[i % len(plan.schedules)],
            _Snapshot(initial, fresh_moments(shape), 0, math.inf),
        )

    def next_order(self, length: int) -> np.ndarray:
        """Return `length` of its rows in random order, repeated if other members have more rows."""
        return np.resize(self.rng.permutation(self.seen), length)

    def noise(self, *size: int) -> np.ndarray:
        return self.rng.standard_normal(size, dtype=np.float32)

    def random_16_bit(self, n: int) -> np.ndarray:
        """Draw uniform 16-bit numbers (n,), four from each random word."""
        return self.rng.bit_generator.random_raw(-(-n // 4)).view(np.uint16)[:n]


def fresh_moments(shape: Shape) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.zeros(h, np.float32), np.ones(h, np.float32)) for h in shape.hidden]


class _Batch:
    """The members that still learn, with their parameters in one array (members, p)."""

    def __init__(
        self, shape: Shape, plan: TrainingPlan, loss: Loss, data: _Data, members: list[_Member]
    ) -> None:
        self.torch = require("torch", what="Training networks", extra="deep")
        self.shape, self.plan, self.loss, self.data = shape, plan, loss, data
        self.members = members
        self.parameters = self._tensor(np.stack([member.initial for member in members]))
        self.first, self.second = (self.torch.zeros_like(self.parameters) for _ in range(2))
        self.steps = np.zeros((len(members), 1))
        self.blocks = self._parameter_views()
        self.moments = [
            [self._tensor(np.tile(value[:, None], (len(members), 1, 1))) for value in layer]
            for layer in fresh_moments(shape)
        ]

    def _tensor(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array).to(self.data.device)

    def _parameter_views(self) -> list[Any]:
        """Return views of the parameters, for gradients; they change with the parameters."""
        return [block.detach().requires_grad_() for block in self.shape.views(self.parameters)]

    def run_epoch(self, epoch: int) -> None:
        """Train every member on all its rows once, judge it, and drop the members that stop."""
        plan = self.plan
        rates = [
            member.rate * SCHEDULES[member.schedule](epoch / plan.max_epochs)
            for member in self.members
        ]
        longest = max(len(member.seen) for member in self.members)
        order = np.stack([member.next_order(longest) for member in self.members])
        # Batches have nearly the same size, so that none is left with a single row.
        for rows in np.array_split(order, math.ceil(longest / plan.batch_size), axis=1):
            self._step(rows, np.array(rates)[:, None])
        self._judge(epoch)

    def _step(self, rows: np.ndarray, rates: np.ndarray) -> None:
        from clearbands.models.networks.layers import forward

        torch = self.torch
        index = self._tensor(rows)
        X = self.data.X_torch[index]
        if self.plan.input_noise > 0:
            noise = np.stack([member.noise(*X.shape[1:]) for member in self.members])
            X.add_(self._tensor(noise), alpha=self.plan.input_noise)
        output, moments = forward(self.shape, self.blocks, X, self._dropout_factors(rows.shape[1]))
        losses = self.loss(output, self.data.y_torch[index])
        if self.data.weight_torch is not None:
            losses = losses * self.data.weight_torch[index]
        gradients = torch.autograd.grad(losses.mean(1).sum(), self.blocks)
        with torch.no_grad():
            self._adam(torch.cat([g.flatten(1) for g in gradients], 1), rates)
            if not self.shape.layer_norm:
                for running, new in zip(self.moments, moments, strict=True):
                    for statistic, value in zip(running, new, strict=True):
                        statistic.lerp_(value, MOMENTUM)

    def _dropout_factors(self, n_rows: int) -> list[Any] | None:
        """Draw for each hidden layer the factors (members, units, rows) of dropout.

        They are 0 for dropped units and 1 / (1 - dropout) for the others.
        """
        dropped = round(self.shape.dropout * 2**16)
        if dropped == 0:
            return None
        sizes = [units * n_rows for units in self.shape.hidden]
        factors = np.empty((len(self.members), sum(sizes)), np.float32)
        factor = np.float32(2**16 / (2**16 - dropped))
        for own, member in zip(factors, self.members, strict=True):
            np.multiply(member.random_16_bit(len(own)) >= dropped, factor, out=own)
        parts = self._tensor(factors).split(sizes, dim=1)
        return [
            part.reshape(len(self.members), units, n_rows)
            for part, units in zip(parts, self.shape.hidden, strict=True)
        ]

    def _adam(self, gradient: Any, rates: np.ndarray) -> None:
        decay1, decay2, epsilon = ADAM
        plan, torch = self.plan, self.torch
        if plan.max_gradient_norm < math.inf:
            norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
            gradient.mul_((plan.max_gradient_norm / (norm + 1e-6)).clamp_(max=1))
        gradient.add_(self.parameters, alpha=plan.weight_decay)
        self.steps += 1
        unbias1, unbias2 = (1 - decay**self.steps for decay in (decay1, decay2))
        rate = self._tensor((rates * np.sqrt(unbias2) / unbias1).astype(np.float32))
        small = self._tensor((epsilon * np.sqrt(unbias2)).astype(np.float32))
        self.first.lerp_(gradient, 1 - decay1)
        self.second.mul_(decay2).addcmul_(gradient, gradient, value=1 - decay2)
        step = torch.sqrt(self.second, out=gradient).add_(small)
        self.parameters.sub_(torch.div(self.first, step, out=step).mul_(rate))

    def _judge(self, epoch: int) -> None:
        """Keep the best parameters of members; stop or restart members that no longer improve."""
        parameters = self.parameters.cpu().numpy()
        moments = [
            (mean.cpu().numpy()[:, :, 0], variance.cpu().numpy()[:, :, 0])
            for mean, variance in self.moments
        ]
        stack = Stack.of(self.shape, parameters, moments)
        going = []
        for i, member in enumerate(self.members):
            loss = self._loss_of(stack, i, member.judged_on)
            if not math.isfinite(loss):
                self._restart(i)
            elif loss < member.best.loss:
                own = [(mean[i].copy(), variance[i].copy()) for mean, variance in moments]
                member.best = _Snapshot(parameters[i].copy(), own, epoch + 1, loss)
            if epoch + 1 - member.best.epoch < self.plan.patience:
                going.append(i)
        if len(going) < len(self.members):
            self._select_members(going)

    def _loss_of(self, stack: Stack, i: int, rows: np.ndarray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            output = stack.forward(i, self.data.X[rows])
        target = self.torch.from_numpy(self.data.y[rows])
        losses = self.loss(self.torch.from_numpy(output.T)[None], target[None])
        if self.data.weight is None:
            return float(losses.mean())
        weight = self.data.weight[rows]
        return float(np.average(losses[0].numpy(), weights=weight if weight.any() else None))

    def _restart(self, i: int) -> None:
        """Reset a member to its best parameters, with a tenth of the learning rate."""
        member = self.members[i]
        member.restarts += 1
        if member.restarts > RESTARTS:
            raise TrainingError(
                f"A network's loss was not finite with learning_rate={self.plan.learning_rate:g}, "
                f"nor with {RESTARTS} rates below it; look for extreme values in X and y, or set a "
                "lower learning_rate."
            )
        member.rate /= 10
        self.parameters[i] = self._tensor(member.best.parameters)
        for state in (self.first, self.second, self.steps):
            state[i] = 0
        for running, saved in zip(self.moments, member.best.moments, strict=True):
            for value, best in zip(running, saved, strict=True):
                value[i] = self._tensor(best[:, None])

    def _select_members(self, going: list[int]) -> None:
        self.members = [self.members[i] for i in going]
        self.parameters, self.first, self.second, self.steps = (
            state[going] for state in (self.parameters, self.first, self.second, self.steps)
        )
        self.moments = [[value[going] for value in layer] for layer in self.moments]
        self.blocks = self._parameter_views()
