"""What a least epistemic share costs and gives: `python -m experiments.least_epistemic`.

Models are fitted once; each share then calibrates and scores the same rows. The first table has
the mean quantile loss against that of share 0 on the data sets, the second the simulations, where
coverage beyond radius 3 is exact.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

from clearbands import ClearCalibrator, ClearRegressor, metrics, variant_b
from experiments import datasets
from experiments.simulate import paper_cells
from experiments.simulation_data import LEVEL, NOISES, on_sphere
from experiments.simulation_fit import fit_world, generators

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
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
FAR = (3.01, 4.01, 5.01, 6.01)
MODELS = {"default": ClearRegressor, "b": variant_b}
Arrays = tuple[np.ndarray, ...]  # y, center, aleatoric, epistemic


class Recorder(ClearCalibrator):
    """Keeps the rows that it was calibrated on."""

    def fit(self, *arrays, **others):
        self.rows_ = tuple(np.asarray(array) for array in arrays)
        return super().fit(*arrays, **others)


def fitted_rows(model: str, n_rows: int, seed: int) -> Iterator[tuple[Arrays, Arrays]]:
    """Calibration rows and test rows of every data set."""
    for name in SETS:
        X, y = datasets.load(name)
        order = np.random.RandomState(seed).permutation(len(y))
        n_train = min(n_rows, len(y) * 3 // 4)
        train, test = order[:n_train], order[n_train : n_train + 2000]
        regressor = MODELS[model](calibrator=Recorder(), random_state=seed)
        regressor.fit(X[train], y[train])
        yield regressor.calibrator_.rows_, (y[test], *regressor.components(X[test]))


def calibrated(share: float, rows: Arrays) -> ClearCalibrator:
    return ClearCalibrator([LEVEL], least_epistemic=share).fit(*rows)


def on_data(model: str, n_rows: int, seeds: range) -> None:
    losses, zeros = [], []
    for seed in seeds:
        for rows, (y, *components) in fitted_rows(model, n_rows, seed):
            fits = [calibrated(share, rows) for share in SHARES]
            losses.append(
                [metrics.quantile_loss(y, f.predict_interval(*components), LEVEL) for f in fits]
            )
            zeros.append(fits[0].lambda_[0] == 0)
    change = 100 * (np.array(losses) / np.array(losses)[:, :1] - 1)
    print(f"{model}: {len(zeros)} fits, lambda 0 in {np.mean(zeros):.0%}")
    for share, column in zip(SHARES, change.T, strict=True):
        print(f"least share {share:.2f}: loss {column.mean():+.3f} %, worst {column.max():+.2f} %")


def on_simulations(n_rows: int, seeds: range) -> None:
    cells = paper_cells(list(NOISES), list(seeds))
    far = np.empty((len(cells), len(SHARES)))
    for cell, row in zip(cells, far, strict=True):
        model = fit_world(cell, n_rows, 25)
        rng = generators(cell.seed)[1]
        points = np.concatenate([on_sphere(radius, cell.d, rng)[:200] for radius in FAR])
        parts = model.parts(points)
        held_out = model.calibration
        rows = (held_out.y, held_out.center, held_out.aleatoric, held_out.epistemic)
        for j, share in enumerate(SHARES):
            bounds = calibrated(share, rows).predict_interval(
                parts.center, parts.aleatoric, parts.epistemic
            )[:, :, 0]
            row[j] = model.world.coverage(points, bounds).mean()
    print(f"simulations: {len(cells)} worlds, coverage beyond radius 3")
    for share, mean in zip(SHARES, far.mean(axis=0), strict=True):
        print(f"least share {share:.2f}: {mean:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="default")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # small calibration sets say so
    on_data(asked.model, asked.rows, range(asked.seeds))
    on_simulations(800, range(asked.seeds))


if __name__ == "__main__":
    main()
