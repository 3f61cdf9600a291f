"""The command `updates`: a comparison of ways to go on calibrating after the fit.

The rows are those of both forecast series, and simulated ones: noise that does not change, and
noise whose level moves by one or by four standard deviations after a third of the rows. A row for
each case, seed, way and half of the rows is appended as it is computed. The first half is for
choices, and the second half shows how good they are. Existing rows are not run again.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from clearbands import CalibrationWarning, ClearRegressor, metrics
from clearbands.calibration.any_level import AnyLevel
from clearbands.calibration.conformal import rank
from clearbands.calibration.rolling import Pace, Rolling
from clearbands.rows.levels import alpha, normal_distances
from experiments import series_data
from experiments.protocol import FIRST_SEED

RESULTS = Path(__file__).parent / "results" / "updates.csv"
SEEDS = tuple(range(FIRST_SEED, FIRST_SEED + 3))
MOVES = {"noise": 0.0, "noise, moved by 1": 1.0, "noise, moved by 4": 4.0}
CASES = (*series_data.SERIES, *MOVES)
LEVEL, WINDOW, N_SIMULATED = 0.9, 1000, 3000
METRICS = ("coverage", "below", "above", "width", "quantile_loss", "worst_month", "error")
FIELDS = ("case", "seed", "way", "half", *METRICS)


@dataclass(frozen=True)
class Stream:
    """Future rows, as a fitted model sees them."""

    bands: AnyLevel
    center: np.ndarray  # (n,)
    distances: np.ndarray  # (n, 2, 1)
    y: np.ndarray
    ahead: int  # so many rows are forecast at once, and become known at once
    month: int

    @property
    def positions(self) -> np.ndarray:
        return self.bands.positions_of(self.y, self.center, self.distances)

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the values (n,) of the targets at positions z."""
        around = self.bands.distribution(self.center, self.distances)
        finite = np.where(np.isfinite(z), z, 0.0)
        return np.where(np.isfinite(z), around.points_of_rows(finite), z)


Told = tuple[np.ndarray, np.ndarray]
"""The positions of bounds (n, 2), and those of points (n,), where NaN is the center."""


def of_series(name: str, seed: int) -> Stream:
    series = series_data.load(name)
    n, ahead = series.n_train, series.ahead
    model = ClearRegressor(confidence_level=LEVEL, split="time", gap=ahead - 1, random_state=seed)
    model.fit(series.X[:n], series.y[:n], time=series.time[:n])
    assert model.any_level_ is not None
    center, *parts = model.answers(series.X[n:]).calibrated
    return Stream(model.any_level_, center, np.add(*parts), series.y[n:], ahead, series.month)


def simulated(move: float, seed: int) -> Stream:
    rng = np.random.default_rng(seed)
    before, y = rng.normal(size=WINDOW), rng.normal(size=N_SIMULATED)
    y[N_SIMULATED // 3 :] += move
    bands = AnyLevel(np.array([LEVEL]), np.array([0]), before)
    distances = np.full((N_SIMULATED, 2, 1), normal_distances([LEVEL])[0])
    return Stream(bands, np.zeros(N_SIMULATED), distances, y, 24, 24 * 30)


def blocks(stream: Stream) -> Iterator[slice]:
    for start in range(0, len(stream.y), stream.ahead):
        yield slice(start, start + stream.ahead)


def as_fitted(stream: Stream) -> Told:
    (reach,) = normal_distances([LEVEL])
    n = len(stream.y)
    return np.tile([-reach, reach], (n, 1)), np.full(n, np.nan)


def by_side(stream: Stream, *, window: int = WINDOW) -> Told:
    """Calibrate as the library does, each side by itself."""
    rolling = Rolling.begin([LEVEL], stream.bands.positions, Pace(window, lead=stream.ahead))
    z, bounds, points = stream.positions, [], []
    for block in blocks(stream):
        bands = rolling.bands(stream.bands)
        bounds.append(np.tile(bands.ends(LEVEL), (len(z[block]), 1)))
        points.append(np.full(len(z[block]), np.median(bands.positions)))
        rolling = rolling.updated_by(z[block])
    return np.concatenate(bounds), np.concatenate(points)


def by_size(stream: Stream, *, shifted: bool = False) -> Told:
    """Calibrate both sides alike by absolute positions; with `shifted`, around their median."""
    share, rate = alpha(LEVEL), min(0.005, 0.05 / stream.ahead)  # the rate of Gibbs and Candes
    last, z, bounds, points = stream.bands.positions, stream.positions, [], []
    for block in blocks(stream):
        last = last[-WINDOW:]
        middle = float(np.median(last)) if shifted else 0.0
        sizes, k = np.sort(np.abs(last - middle)), rank(len(last), 1 - share)
        reach = np.inf if k > len(last) else sizes[max(k, 1) - 1]
        bounds.append(np.tile([middle - reach, middle + reach], (len(z[block]), 1)))
        points.append(np.full(len(z[block]), middle if shifted else np.nan))
        missed = np.abs(z[block] - middle) > reach
        share += rate * (len(missed) * alpha(LEVEL) - missed.sum())
        last = np.concatenate([last, z[block]])
    return np.concatenate(bounds), np.concatenate(points)


OURS = f"by side, window {WINDOW:,}"
WAYS: dict[str, Callable[[Stream], Told]] = {
    "as fitted": as_fitted,
    "by size": by_size,
    "by size around the median": partial(by_size, shifted=True),
    **{f"by side, window {n:,}": partial(by_side, window=n) for n in (500, WINDOW, 2000)},
}


def add_commands(commands) -> None:
    help_ = "ways to go on calibrating after the fit, on series and simulated rows"
    parser = commands.add_parser("updates", help=help_, description=help_)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), choices=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="print the table, run nothing")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    if not args.table:
        run_missing(args.cases, args.seeds, args.results)
    print(table(pd.read_csv(args.results)))
    return 0


def run_missing(cases: list[str], seeds: list[int], path: Path) -> None:
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[["case", "seed"]].itertuples(index=False, name=None))
    for seed in seeds:
        for case in cases:
            if (case, seed) in done:
                continue
            stream = simulated(MOVES[case], seed) if case in MOVES else of_series(case, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)  # infinite widths are counted
                rows = [{"case": case, "seed": seed, **row} for row in compare(stream)]
            append(path, rows)


def compare(stream: Stream) -> Iterator[dict]:
    """Yield the scores of every way, whose intervals hold the center, and of ours without that."""
    half = len(stream.y) // 2
    for way, tell in WAYS.items():
        z, points = tell(stream)
        bounds = np.stack([stream.values(end) for end in z.T], axis=1)
        point = np.where(np.isnan(points), stream.center, stream.values(np.nan_to_num(points)))
        reaching = np.stack(
            [np.minimum(bounds[:, 0], stream.center), np.maximum(bounds[:, 1], stream.center)], 1
        )
        told = {way: (reaching, stream.center)}
        if way == OURS:
            told[f"{way}, point moved"] = bounds, point
        for name, (interval, center) in told.items():
            for number, rows in ((1, slice(half)), (2, slice(half, None))):
                found = scores(stream.y[rows], interval[rows], center[rows], stream.month)
                yield {"way": name, "half": number, **found}


def scores(y: np.ndarray, bounds: np.ndarray, center: np.ndarray, month: int) -> dict[str, float]:
    below, above = y < bounds[:, 0], y > bounds[:, 1]
    inside = ~(below | above)
    return {
        "coverage": float(inside.mean()),
        "below": float(below.mean()),
        "above": float(above.mean()),
        "width": float(np.mean(bounds[:, 1] - bounds[:, 0])),
        "quantile_loss": metrics.quantile_loss(y, bounds, LEVEL),
        "worst_month": float(np.convolve(inside, np.ones(month), "valid").min() / month),
        "error": float(np.abs(y - center).mean()),
    }


def append(path: Path, rows: list[dict]) -> None:
    """Append all rows of a case at once, so that a killed run leaves no case half done."""
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(
            {k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        )


def table(rows: pd.DataFrame) -> str:
    """Write means over seeds: the loss of both halves, and the other metrics of the second."""
    lines = [
        "| case | way | loss, first half | loss, second half | coverage | below | above "
        "| worst month | error of the point |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    means = rows.groupby(["case", "way", "half"], sort=False)[list(METRICS)].mean()
    for case, way in dict.fromkeys(zip(rows["case"], rows["way"], strict=True)):
        first, second = means.loc[(case, way, 1)], means.loc[(case, way, 2)]
        shown = " | ".join(f"{second[name]:.3f}" for name in ("coverage", "below", "above"))
        lines.append(
            f"| {case} | {way} | {first['quantile_loss']:.4g} | {second['quantile_loss']:.4g} "
            f"| {shown} | {second['worst_month']:.3f} | {second['error']:.4g} |"
        )
    return "\n".join(lines)
