"""The cost of a least and a usual epistemic share: `python -m experiments.least_epistemic`.

Models are fitted once. Each setting then calibrates and scores the same rows, and its mean quantile
loss is compared with that without a share. `experiments beyond` shows the gain of a share far from
the data.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping

import numpy as np

from clearbands import ClearCalibrator, ClearRegressor, metrics, variant_b
from clearbands.regressor import EPISTEMIC_SHARES
from experiments import datasets
from experiments.simulation_data import LEVEL

Shares = Mapping[str, float]
WAYS: Mapping[str, Shares] = {
    "none": {},
    "least 0.02": {"least_epistemic": 0.02},
    "least 0.05": {"least_epistemic": 0.05},
    "least 0.1": {"least_epistemic": 0.1},
    "least 0.02, usual 0.1": EPISTEMIC_SHARES,
    "least 0.02, usual 0.2": {"least_epistemic": 0.02, "usual_epistemic": 0.2},
}
SETS = (
    "airfoil",
    "ca_housing",
    "computer",
    "concrete",
    "elevator",
    "energy_efficiency",
    "insurance",
    "kin8nm",
    "miami_housing",
    "parkinsons",
    "powerplant",
    "sulfur",
)
MODELS = {"default": ClearRegressor, "b": variant_b}
Arrays = tuple[np.ndarray, ...]


class Recorder(ClearCalibrator):
    """A calibrator that keeps the rows on which it was calibrated."""

    def fit(self, *arrays, **others):
        self.rows_ = tuple(np.asarray(array) for array in arrays)
        return super().fit(*arrays, **others)


def split_rows(name: str, n_rows: int, seed: int) -> tuple[Arrays, Arrays]:
    """Return X and y of rows to fit, and of other rows to test."""
    X, y = datasets.load(name)
    order = np.random.RandomState(seed).permutation(len(y))
    n_train = min(n_rows, len(y) * 3 // 4)
    train, test = order[:n_train], order[n_train : n_train + 2000]
    return (X[train], y[train]), (X[test], y[test])


def fitted_rows(model: str, n_rows: int, seed: int) -> Iterator[tuple[Arrays, Arrays]]:
    """Yield the calibration rows and the test rows of every data set."""
    for name in SETS:
        train, (X, y) = split_rows(name, n_rows, seed)
        regressor = MODELS[model](calibrator=Recorder(), random_state=seed).fit(*train)
        yield regressor.calibrator_.rows_, (y, *regressor.components(X))


def calibrated(rows: Arrays, shares: Shares) -> ClearCalibrator:
    return ClearCalibrator([LEVEL], **shares).fit(*rows)


def on_data(model: str, n_rows: int, seeds: range) -> None:
    losses, zeros = [], []
    for seed in seeds:
        for rows, (y, *components) in fitted_rows(model, n_rows, seed):
            fits = [calibrated(rows, shares) for shares in WAYS.values()]
            losses.append(
                [metrics.quantile_loss(y, f.predict_interval(*components), LEVEL) for f in fits]
            )
            zeros.append(fits[0].lambda_[0] == 0)
    change = 100 * (np.array(losses) / np.array(losses)[:, :1] - 1)
    print(f"{model}: {len(zeros)} fits, lambda 0 in {np.mean(zeros):.0%}")
    for way, column in zip(WAYS, change.T, strict=True):
        print(f"{way}: loss {column.mean():+.3f} %, worst {column.max():+.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="default")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # small calibration sets give warnings
    on_data(asked.model, asked.rows, range(asked.seeds))


if __name__ == "__main__":
    datasets.run(main)
