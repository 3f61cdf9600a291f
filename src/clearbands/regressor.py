"""CLEAR as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from clearbands.aleatoric import default_aleatoric
from clearbands.calibration import AdditiveCalibrator, ClearCalibrator
from clearbands.epistemic.base import BaggedEnsemble
from clearbands.epistemic.pcs import PCSEnsemble
from clearbands.interval_regressor import Components, IntervalRegressor, match_quantile_model
from clearbands.lambda_loss import LambdaPath, lambda_path
from clearbands.levels import find_level
from clearbands.progress import Listener, listening
from clearbands.split import Rows, hold_out
from clearbands.tables import is_frame
from clearbands.uncertainty import Uncertainty

if TYPE_CHECKING:
    from clearbands.report import Report

GUARANTEES = {
    "joint": "asymptotic coverage",
    "conformal": "finite-sample marginal coverage",
}
RESIDUALS = ("in-sample", "out-of-bag", "target")


class ClearRegressor(IntervalRegressor):
    """Calibrated prediction intervals that tell noise from ignorance.

    Parameters
    ----------
    epistemic : ensemble, optional
        Gives the center and the epistemic widths; see `clearbands.epistemic.base.Ensemble` for
        the contract. By default a `PCSEnsemble`.
    aleatoric : optional
        Gives the aleatoric widths from the residuals; see `ResidualQuantiles` for the contract.
        By default shallow boosted trees, or a quantile forest from 3,000 training rows on, or
        deeper boosted trees above 50,000; `ResidualQuantiles()` takes the type of model that won.
    calibrator : optional
        `ClearCalibrator` by default, or one of its siblings.
    confidence_level : float or list of float
        Intervals of several levels are nested.
    calibration : "joint" or "conformal"
        "joint": one held-out set chooses lambda and gamma1, the paper's standard. "conformal":
        lambda from one half of it, gamma1 from the other, with a finite-sample guarantee.
    calibration_size : float
        Share of the rows that is held out when `fit` is given no calibration set.
    residuals : "in-sample", "out-of-bag" or "target"
        Which center the aleatoric part's residuals are taken from; with "target" it learns y
        itself, for models that follow y as closely as the center does.
    show_center : bool, optional
        Whether the aleatoric part sees the center as one more feature: noise often depends on
        what is predicted. Of training rows it sees the out-of-bag center, where the ensemble has
        one. By default so with the default aleatoric part, and not with parts that are given.
    encoder : "auto", transformer or None
        Turns tables into numbers; "auto" is a `TableEncoder`, None leaves X as it is.
    n_jobs, random_state
        As in scikit-learn, handed to parts that leave theirs open. The result does not depend
        on `n_jobs`.

    Attributes
    ----------
    lambda_, gamma1_, gamma2_ : (k,), one value per level
    guarantee_ : str, what holds for the coverage
    encoder_, epistemic_, aleatoric_, calibrator_ : the fitted parts
    shows_center_ : bool, whether the aleatoric part sees the center
    lambda_paths_ : tuple of LambdaPath
        The loss over lambda at each level; empty for an `AdditiveCalibrator`, which has none.
    n_train_, n_validation_, n_calibration_ : how many rows each step saw
    """

    def __init__(
        self,
        epistemic: Any = None,
        aleatoric: Any = None,
        calibrator: Any = None,
        *,
        confidence_level: float | Sequence[float] = 0.9,
        calibration: str = "joint",
        calibration_size: float = 0.25,
        residuals: str = "in-sample",
        show_center: bool | None = None,
        encoder: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.epistemic = epistemic
        self.aleatoric = aleatoric
        self.calibrator = calibrator
        self.confidence_level = confidence_level
        self.calibration = calibration
        self.calibration_size = calibration_size
        self.residuals = residuals
        self.show_center = show_center
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_cal: Any = None,
        y_cal: Any = None,
        progress: Listener | None = None,
    ) -> ClearRegressor:
        """Train on a part of the rows and calibrate on the rest.

        With a calibration set (`X_cal`, `y_cal`) given, all of X trains. `progress` is called as
        `progress(stage, done, total)` while the bootstraps run.
        """
        levels = self._check_parameters()
        rng = check_random_state(self.random_state)
        train, validation, calibration = self._split(X, y, X_cal, y_cal, rng)
        with listening(progress):
            self.encoder_ = self._make_encoder().fit(train.X, train.y)
            train, validation = self._encode(train), self._encode(validation)
            calibration = validation if calibration is None else self._encode(calibration)

            self.epistemic_ = self._part(self.epistemic, PCSEnsemble(), levels, rng)
            self._check_bootstraps()
            self.shows_center_ = self._shall_show_center(train.X)
            self.epistemic_.fit(train.X, train.y, validation=(validation.X, validation.y))
            aleatoric = self._part(self.aleatoric, default_aleatoric(len(train.y)), levels, rng)
            self.aleatoric_ = match_quantile_model(aleatoric, self.epistemic_)
            self.aleatoric_.fit(*self._noise(train))

            held_out = (calibration.y, *self._components(calibration.X))
            chooser = None
            if calibration is not validation:
                chooser = (validation.y, *self._components(validation.X))
            self.calibrator_ = self._part(self.calibrator, ClearCalibrator(), levels, rng)
            self.calibrator_.fit(*held_out, validation=chooser)
            self.lambda_paths_ = self._lambda_paths(levels, *(chooser or held_out))
        self.levels_ = np.array(levels)
        self.guarantee_ = GUARANTEES[self.calibration]
        self.n_train_ = len(train)
        self.n_validation_, self.n_calibration_ = len(validation), len(calibration)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,): the center."""
        encoded = self._check_and_encode(X)
        return self.epistemic_.predict(encoded)

    def predict_uncertainty(self, X: Any, *, confidence_level: float | None = None) -> Uncertainty:
        """The calibrated aleatoric and epistemic distances at one level, by default the first."""
        check_is_fitted(self, "calibrator_")
        return self.predict_uncertainties(X)[find_level(self.levels_, confidence_level)]

    def predict_uncertainties(self, X: Any) -> tuple[Uncertainty, ...]:
        """The same at every level, in the order of `levels_`, from one pass over the rows."""
        components = self._components(self._check_and_encode(X))
        aleatoric, epistemic = self.calibrator_.scale(components.aleatoric, components.epistemic)
        index = getattr(X, "index", None)
        return tuple(
            Uncertainty(components.center, aleatoric[:, :, j], epistemic[:, :, j], level, index)
            for j, level in enumerate(self.levels_.tolist())
        )

    def report(
        self,
        X: Any,
        y: Any,
        *,
        target: str = "the target",
        unit: str = "",
        groups: Any = None,
        confidence_level: float | None = None,
    ) -> Report:
        """A page about the model on rows that no step of the fit has seen.

        It says whether the intervals hold, why they are wide, and which rows to look at. `target`
        and `unit` are names to be shown, `groups` labels (n,) between which coverage should not
        differ. Save the page with `.save("report.html")`; in a notebook it shows itself.
        """
        from clearbands.report import make_report

        check_is_fitted(self, "calibrator_")
        return make_report(
            self, X, y, target=target, unit=unit, groups=groups, confidence_level=confidence_level
        )

    @property
    def lambda_(self) -> np.ndarray:
        """(k,): gamma2 / gamma1 at each level."""
        return np.atleast_1d(self.calibrator_.lambda_)

    @property
    def gamma1_(self) -> np.ndarray:
        """(k,): the factor of the aleatoric widths at each level."""
        return np.atleast_1d(self.calibrator_.gamma1_)

    @property
    def gamma2_(self) -> np.ndarray:
        """(k,): the factor of the epistemic widths at each level."""
        return np.atleast_1d(self.calibrator_.gamma2_)

    def _check_parameters(self) -> list[float]:
        levels = super()._check_parameters()
        if self.calibration not in GUARANTEES:
            raise ValueError(
                f'calibration must be "joint" or "conformal", got {self.calibration!r}.'
            )
        if self.residuals not in RESIDUALS:
            raise ValueError(f"residuals must be one of {RESIDUALS}, got {self.residuals!r}.")
        return levels

    def _split(
        self, X: Any, y: Any, X_cal: Any, y_cal: Any, rng: np.random.RandomState
    ) -> tuple[Rows, Rows, Rows | None]:
        """Training rows, those that choose, and those kept for gamma1 alone ("conformal")."""
        train, held_out = self._hold_out(X, y, X_cal, y_cal, rng)
        if self.calibration == "joint":
            return train, held_out, None
        return train, *hold_out(held_out, 0.5, rng)

    def _check_bootstraps(self) -> None:
        if self.residuals == "out-of-bag" and not isinstance(self.epistemic_, BaggedEnsemble):
            raise ValueError(
                'residuals="out-of-bag" needs an ensemble of bootstraps, such as PCSEnsemble; '
                f"{type(self.epistemic_).__name__} has none."
            )

    def _shall_show_center(self, X: Any) -> bool:
        if self.show_center is None:
            is_bagged = isinstance(self.epistemic_, BaggedEnsemble)
            return self.aleatoric is None and is_bagged and not is_frame(X)
        if self.show_center and is_frame(X):
            raise ValueError(
                "show_center adds a column of numbers to X, but encoder=None leaves X a table: "
                'give an encoder, such as "auto", or show_center=False.'
            )
        return self.show_center

    def _noise(self, train: Rows) -> tuple[Any, np.ndarray]:
        """What the aleatoric part sees of the training rows, and what it learns."""
        X = train.X
        if self.residuals == "target" and not self.shows_center_:
            return X, train.y
        center, unseen = self._training_centers(X)
        if self.shows_center_:
            # In the sample the center follows y, which new rows would not let it do.
            X = np.column_stack([X, np.where(np.isnan(unseen), center, unseen)])
        if self.residuals == "target":
            return X, train.y
        if self.residuals == "in-sample":
            return X, train.y - center
        left_out = np.flatnonzero(~np.isnan(unseen))
        if len(left_out) < len(train) / 2:
            raise ValueError(
                f"Only {len(left_out)} of {len(train)} training rows were left out by any "
                "bootstrap; out-of-bag residuals need more bootstraps."
            )
        rows = Rows(X, train.y - unseen).take(left_out)
        return rows.X, rows.y

    def _training_centers(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The center of all members, and of those that did not see the row."""
        needs_unseen = self.shows_center_ or self.residuals == "out-of-bag"
        if needs_unseen and isinstance(self.epistemic_, BaggedEnsemble):
            return self.epistemic_.predict_training(X)
        center = self.epistemic_.predict(X)
        return center, center

    def _components(self, X: Any) -> Components:
        center, epistemic = self.epistemic_.predict_with_widths(X)
        seen = np.column_stack([X, center]) if self.shows_center_ else X
        return Components(center, self.aleatoric_.predict_widths(seen), epistemic)

    def _lambda_paths(
        self,
        levels: list[float],
        y: np.ndarray,
        center: np.ndarray,
        aleatoric: np.ndarray,
        epistemic: np.ndarray,
    ) -> tuple[LambdaPath, ...]:
        if isinstance(self.calibrator_, AdditiveCalibrator):
            return ()
        return tuple(
            lambda_path(y, center, aleatoric[:, :, j], epistemic[:, :, j], level, self.lambda_[j])
            for j, level in enumerate(levels)
        )
