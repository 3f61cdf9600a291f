"""Seeds for models that have none, and for the members of bags."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from clearbands.rows.typed import Seed

MAX_SEED = np.iinfo(np.int32).max

Model = TypeVar("Model", bound=BaseEstimator)


def seed_missing(model: Model, rng: np.random.RandomState) -> Model:
    """Give a seed to every `random_state` of `model` that is None; the others stay."""
    open_seeds = [
        name
        for name, value in sorted(model.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    return model.set_params(**{name: int(rng.randint(MAX_SEED)) for name in open_seeds})


def member_seeds(random_state: Seed, n_members: int) -> np.ndarray:
    """Draw one seed per member, before the members are divided among threads."""
    return check_random_state(random_state).randint(MAX_SEED, size=n_members).astype(np.int64)
