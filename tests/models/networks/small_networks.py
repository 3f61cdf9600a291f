"""Small networks with quick training, which the tests of networks share."""

import numpy as np

from clearbands.models.networks.losses import squared_error
from clearbands.models.networks.shape import Shape
from clearbands.models.networks.training import TrainingPlan, hold_out_counts, train
from tests.deep import need_torch
from tests.toys import noisy_line

torch = need_torch()


def small_shape(**changes):
    given = {
        "hidden": (8, 6),
        "n_inputs": 2,
        "n_outputs": 1,
        "layer_norm": False,
        "negative_slope": 0.0,
        "dropout": 0.1,
        "skip": True,
    }
    return Shape(**given | changes)


def quick_plan(**changes):
    given = {"max_epochs": 6, "patience": 50, "batch_size": 32, "learning_rate": 0.01}
    return TrainingPlan(**given | changes)


def train_lines(counts=None, seeds=(1, 2, 3), plan=None, shape=None, loss=squared_error, y=None):
    X, given = noisy_line(120)
    rng = np.random.RandomState(0)
    counts = hold_out_counts(120, len(seeds), 0.1, rng) if counts is None else counts
    return train(
        shape or small_shape(),
        plan or quick_plan(),
        loss,
        X,
        given if y is None else y,
        counts,
        seeds,
        stage="test",
    )
