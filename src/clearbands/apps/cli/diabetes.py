"""The demo: intervals for patients in scikit-learn's diabetes data that no model saw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearbands.apps.report import Report, make_report
from clearbands.apps.report.facts import typical_width
from clearbands.diagnostics.coverage import chance_range
from clearbands.engine.progress import Listener
from clearbands.plots import band_by_rank
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.prediction.predictions import answer
from clearbands.prediction.questions import Questions
from clearbands.prediction.uncertainty import UNCLEAR, Uncertainty
from clearbands.regressor import ClearRegressor
from clearbands.rows.bands import covered
from clearbands.rows.display import count, level, number, percent
from clearbands.selection.leaderboard import best_model

if TYPE_CHECKING:
    import polars as pl

    from clearbands.prediction.predictor import Answers

TARGET = "progression"
WORDS = (ALEATORIC.plain, EPISTEMIC.plain, UNCLEAR)


@dataclass(frozen=True)
class Demo:
    """A fitted model, and rows that it did not see."""

    model: ClearRegressor
    X: pl.DataFrame
    y: np.ndarray

    @cached_property
    def answers(self) -> Answers:
        """The predictions that table, picture, report and summary share."""
        return self.model.answers(self.X)

    @property
    def predicted(self) -> tuple[Uncertainty, ...]:
        return self.answers.uncertainties()

    def table(self) -> pl.DataFrame:
        """Return the table that `clearbands predict` would write, with the true values in front."""
        import polars as pl

        table = answer(self.answers, Questions()).frame()
        return table.insert_column(0, pl.Series(TARGET, self.y))

    def draw(self, path: Path) -> None:
        """Save the picture of the bands."""
        n_calibration = self.model.n_calibration_
        axes = band_by_rank(self.predicted[0], self.y, n_calibration=n_calibration)
        axes.set_xlabel("Patients the model has not seen, ordered by prediction")
        axes.set_ylabel("Disease progression after one year")
        figure: Any = axes.figure
        figure.savefig(path, dpi=150, bbox_inches="tight", pad_inches=0.15)

    def report(self) -> Report:
        """Make the page about the model on the rows that it did not see."""
        origin = {"Command": "clearbands demo", "Data": "load_diabetes of scikit-learn"}
        return make_report(
            self.model, self.X, self.y, target=TARGET, origin=origin, answers=self.answers
        )

    def summary(self) -> dict[str, str]:
        """Return the result in a few words."""
        model, parts = self.model, self.predicted[0]
        inside, share = covered(self.y, parts.interval), parts.epistemic_share
        low, high = chance_range(len(self.y), parts.confidence_level, model.n_calibration_)
        dominant = {name: int(np.sum(parts.dominant == name)) for name in WORDS}
        return {
            "coverage": f"{percent(float(inside.mean()), 1)} of {len(self.y)} unseen rows "
            f"({level(parts.confidence_level)} promised)",
            "by chance alone": f"{percent(low, 1)} to {percent(high, 1)} of so many rows",
            "typical width": f"{number(typical_width(parts))} (the true values range from "
            f"{number(self.y.min())} to {number(self.y.max())})",
            "epistemic share": f"{percent(parts.mean_share)} of the mean width, "
            f"{percent(share.min())} to {percent(share.max())} of a row's",
            "dominant part": ", ".join(f"{name} in {count(n)}" for name, n in dominant.items()),
            "more rows": model.forecast((10,)).sentence() if model.outlook_ else "not known",
            "lambda, gamma1": f"{model.lambda_[0]:.3g}, {model.gamma1_[0]:.3g}",
            "best model": best_model(model) or "the only one",
        }


def run(progress: Listener | None = None) -> Demo:
    """Fit a model on three quarters of the rows."""
    import polars as pl
    from sklearn.datasets import load_diabetes
    from sklearn.model_selection import train_test_split

    data = load_diabetes(scaled=False)
    X = pl.DataFrame(dict(zip(data.feature_names, data.data.T, strict=True)))
    X_train, X_test, y_train, y_test = train_test_split(X, data.target, random_state=0)
    model = ClearRegressor(random_state=0, n_jobs=-1).fit(X_train, y_train, progress=progress)
    return Demo(model, X_test, y_test)
