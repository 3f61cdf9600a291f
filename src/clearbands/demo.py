"""The demo: intervals for patients of scikit-learn's diabetes data that no model saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.bands import covered
from clearbands.conformal import rank
from clearbands.plots import band_by_rank
from clearbands.predictions import epistemic_share, prediction_table
from clearbands.progress import Listener
from clearbands.regressor import ClearRegressor
from clearbands.report import Report, make_report

if TYPE_CHECKING:
    import polars as pl

TARGET = "progression"


@dataclass(frozen=True)
class Demo:
    """A fitted model and the rows that were kept from it."""

    model: ClearRegressor
    X: pl.DataFrame
    y: np.ndarray

    def table(self) -> pl.DataFrame:
        """What `clearbands predict` would write, behind the true values."""
        import polars as pl

        predictions = prediction_table(self.model, self.X)
        return predictions.insert_column(0, pl.Series(TARGET, self.y))

    def draw(self, path: Path) -> None:
        """Save the picture of the bands."""
        axes = band_by_rank(self.model.predict_uncertainty(self.X), self.y)
        axes.set_xlabel("Patients the model has not seen, ordered by prediction")
        axes.set_ylabel("Disease progression after one year")
        figure: Any = axes.figure
        figure.savefig(path, dpi=150, bbox_inches="tight", pad_inches=0.15)

    def report(self) -> Report:
        """The page about the model on the rows kept from it."""
        origin = {"Command": "clearbands demo", "Data": "load_diabetes of scikit-learn"}
        return make_report(self.model, self.X, self.y, target=TARGET, origin=origin)

    def summary(self) -> dict[str, str]:
        """The result in a few words."""
        model, parts = self.model, self.model.predict_uncertainty(self.X)
        _, intervals = model.predict_interval(self.X)
        inside = covered(self.y, intervals[:, :, 0])
        widths = intervals[:, 1, 0] - intervals[:, 0, 0]
        share = epistemic_share(parts)
        low, high = self._chance()
        aleatoric = int(np.sum(parts.dominant == "aleatoric"))
        return {
            "coverage": f"{inside.mean():.0%} of {len(self.y)} unseen rows "
            f"(target {parts.confidence_level:.0%}, by chance {low:.0%} to {high:.0%})",
            "typical width": f"{np.median(widths):.0f} "
            f"(the true values range from {self.y.min():.0f} to {self.y.max():.0f})",
            "epistemic share": f"{np.median(share):.0%} of the typical width, "
            f"from {share.min():.0%} to {share.max():.0%}",
            "dominant part": f"aleatoric (noise) in {aleatoric} rows, "
            f"epistemic in {len(self.y) - aleatoric}",
            "lambda, gamma1": f"{model.lambda_[0]:.3g}, {model.gamma1_[0]:.3g}",
            "best model": model.epistemic_.leaderboard_[0]["model"],
        }

    def _chance(self) -> np.ndarray:
        """Between which shares the coverage of so few rows falls nine times out of ten."""
        from scipy.stats import betabinom

        within = rank(self.model.n_calibration_, self.model.levels_[0])
        beyond = self.model.n_calibration_ - within
        return np.array(betabinom(len(self.y), within, beyond + 1).interval(0.9)) / len(self.y)


def run(progress: Listener | None = None) -> Demo:
    """Fit on three quarters of the rows."""
    import polars as pl
    from sklearn.datasets import load_diabetes
    from sklearn.model_selection import train_test_split

    data = load_diabetes(scaled=False)
    X = pl.DataFrame(dict(zip(data.feature_names, data.data.T, strict=True)))
    X_train, X_test, y_train, y_test = train_test_split(X, data.target, random_state=0)
    model = ClearRegressor(random_state=0, n_jobs=-1).fit(X_train, y_train, progress=progress)
    return Demo(model, X_test, y_test)
