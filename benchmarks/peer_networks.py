"""The authors' networks on given rows. Runs in their environment: see authors_networks.py."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.rows import LEVEL, Rows

FIRST_SEED, THEIR_SEED = 777, 42  # of the splits; what their program adds the split's number to
APART = 10_000  # between draws: their members take seeds that lie 1,000 apart
SQR = {
    "hidden_sizes": (128, 128, 64),
    "learning_rate": 5e-4,
    "n_epochs": 4000,
    "batch_size": 128,
    "dropout": 0.2,
    "weight_decay": 1e-5,
    "crossing_penalty": 1.0,
    "patience": 200,
}
DE = {
    "n_members": 5,
    "hidden_sizes": (256, 128),
    "learning_rate": 1e-3,
    "n_epochs": 1500,
    "batch_size": 64,
    "dropout_rate": 0.1,
    "weight_decay": 1e-5,
    "diversity_strategies": [
        "random_init",
        "architecture",
        "dropout",
        "bootstrap",
        "lr_schedule",
        "data_augment",
    ],
    "calibrate_c": True,
}


def main() -> None:
    part, members, draw, row_file, out_file = sys.argv[1:]
    rows = Rows.load(row_file)
    torch.set_num_threads(1)
    torch.manual_seed(seed := THEIR_SEED + rows.seed - FIRST_SEED + APART * int(draw))
    predict = {"SQR": sqr, "DE": deep_ensemble}[part]
    center, lower, upper = predict(rows, seed, int(members))
    np.savez(out_file, center=center, bounds=np.stack([lower, upper], axis=1))


def sqr(rows: Rows, seed: int, members: int) -> Any:
    without_verbose()
    from clear.models.sqr import SQR as Model

    model = Model(alpha=1 - LEVEL, ensemble_size=members, random_state=seed, **SQR)
    return model.fit(rows.X_train, rows.y_train).predict(rows.X_test)


def deep_ensemble(rows: Rows, seed: int, members: int) -> Any:
    from clear.models import deep_ensembles

    take_batches_whole(deep_ensembles)
    model = deep_ensembles.PureEpistemicEnsemble(random_state=seed, **{**DE, "n_members": members})
    model.fit(rows.X_train, rows.y_train, rows.X_validation, rows.y_validation)
    return model.predict_interval(rows.X_test, LEVEL)


def take_batches_whole(module: Any) -> None:
    """The same batches by one index instead of row by row, which takes longer than learning."""
    rows_of, loader = torch.utils.data.TensorDataset, torch.utils.data.DataLoader
    rows_of.__getitems__ = rows_of.__getitem__  # type: ignore[attr-defined]
    module.DataLoader = partial(loader, collate_fn=tuple)


def without_verbose() -> None:
    """Newer torch does not know this argument, which they set to False."""
    known = torch.optim.lr_scheduler.ReduceLROnPlateau

    def schedule(*args: Any, verbose: bool = False, **options: Any) -> Any:
        return known(*args, **options)

    torch.optim.lr_scheduler.ReduceLROnPlateau = schedule  # type: ignore[misc, assignment]


if __name__ == "__main__":
    main()
