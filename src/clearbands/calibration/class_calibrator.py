"""Calibration of an ensemble of classifiers: two constants scale the logits."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearbands.calibration.conformal import CalibrationWarning
from clearbands.calibration.logit_search import search_constants
from clearbands.rows.messages import row_name, warn
from clearbands.rows.weighting import check_sample_weight


class JointClassCalibrator(BaseEstimator):
    """Scales the logits of all members (c1) and their spread around the mean logit (c2).

    The logits of member m become c1 * (mean + c2 * (z_m - mean)), and the probabilities are the
    mean of the members' softmax. With c1 = c2 = 1 they are those of the plain ensemble, and c2 = 0
    pools the logits. A c1 below 1 makes the probabilities less certain, and a c2 above 1 gives more
    weight to the disagreement of the members. Both minimise the negative log-likelihood of rows
    that trained no member, which is never higher than that of the plain ensemble.

    The search takes Newton steps with exact derivatives, in milliseconds. With one member, or with
    members that agree, the loss is convex and has one minimum. Otherwise it may have several: a
    grid shows the valleys, the search descends into each of them, and `gradient_norm_` says whether
    it converged. This does not prove that no other constants are better; for the rows of the tests,
    branch and bound proves it.

    Parameters
    ----------
    prior_rows : float
        How many artificial rows, each of a random class, the loss counts in addition. Without them
        c1 has no upper limit if the ensemble is right about every one of a few rows. With 0, the
        default, the loss is the likelihood of the real rows alone.

    Attributes
    ----------
    c1_, c2_ : float
        The two constants. If all members agree on every row, nothing depends on c2, and it is 1.
    loss_ : float
        The mean negative log-likelihood of the rows, in nats, without the artificial rows.
    gradient_norm_ : float
        The norm of the gradient at the minimum, per relative change of the logits; it is 0 if the
        search converged. If the search reached several minima, it keeps the lowest.
    n_classes_ : int

    Examples
    --------
    Members that are twice as sure as they should be:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(1000, 3))
    >>> y = np.argmax(truth + rng.gumbel(size=(1000, 3)), axis=1)
    >>> logits = 2 * (truth[:, None] + 0.1 * rng.normal(size=(1000, 5, 3)))
    >>> calibrator = JointClassCalibrator().fit(y, logits)
    >>> round(calibrator.c1_, 1)
    0.5
    >>> calibrator.predict_proba(logits).shape
    (1000, 3)
    """

    c1_: float
    c2_: float
    loss_: float
    n_classes_: int

    def __init__(self, *, prior_rows: float = 0.0) -> None:
        self.prior_rows = prior_rows

    def fit(
        self, y: ArrayLike, logits: Any, *, sample_weight: ArrayLike | None = None
    ) -> JointClassCalibrator:
        """Choose the two constants on rows that trained no member.

        `y` (n,) holds the class of each row as a number from 0, `logits` (n, members, classes) what
        the members say, and `sample_weight` (n,) how many rows each row counts as.
        """
        if not isinstance(self.prior_rows, Real) or not 0 <= self.prior_rows < np.inf:
            raise ValueError(f"prior_rows must be 0 or a positive number, got {self.prior_rows!r}.")
        logits = check_logits(logits)
        y = _check_classes(y, *logits.shape[::2])
        weight = check_sample_weight(sample_weight, len(y))
        optimum = search_constants(y, logits, float(self.prior_rows), weight)
        self.c1_, self.c2_, self.gradient_norm_ = optimum.c1, optimum.c2, optimum.gradient_norm
        self.n_classes_ = logits.shape[2]
        self.loss_ = negative_log_likelihood(y, self.predict_proba(logits), weight)
        if not optimum.is_limited and not self.prior_rows:
            warn(
                f"The {len(y)} rows set no limit to c1 or c2, as where none of them is wrong: "
                "larger ones look better and better. Give more rows, or set prior_rows=1.",
                CalibrationWarning,
            )
        return self

    def scale(self, logits: Any) -> np.ndarray:
        """Return the calibrated logits (n, members, classes)."""
        check_is_fitted(self, "c1_")
        logits = check_logits(logits)
        if logits.shape[2] != self.n_classes_:
            raise ValueError(
                f"logits has {logits.shape[2]} classes where fit saw {self.n_classes_}."
            )
        mean = logits.mean(axis=1, keepdims=True)
        return self.c1_ * (mean + self.c2_ * (logits - mean))

    def predict_members(self, logits: Any) -> np.ndarray:
        """Return the calibrated probabilities of each member (n, members, classes)."""
        return softmax(self.scale(logits), axis=-1)

    def predict_proba(self, logits: Any) -> np.ndarray:
        """Return the mean of the members' calibrated probabilities (n, classes)."""
        return self.predict_members(logits).mean(axis=1)


def negative_log_likelihood(
    y: np.ndarray, probabilities: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the mean over the rows, in nats; `y` holds classes as whole numbers."""
    own = probabilities[np.arange(len(y)), y]
    with np.errstate(divide="ignore"):
        return float(-np.average(np.log(own), weights=weight))


def check_logits(logits: Any) -> np.ndarray:
    """Return the logits as finite floats (n, members, classes), or say what is wrong with them."""
    array = np.asarray(logits, float)
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(
            f"logits must have shape (n, members, classes), one row at least; got {array.shape}."
        )
    if array.shape[2] < 2:
        raise ValueError("logits has one class only: at least 2 classes are needed.")
    if not np.isfinite(array).all():
        row = np.argwhere(~np.isfinite(array))[0][0]
        raise ValueError(
            f"logits contains NaN or infinity, first in {row_name(row)}; for log-probabilities, "
            "raise zeros to a small number first."
        )
    return array


def _check_classes(y: ArrayLike, n: int, n_classes: int) -> np.ndarray:
    values = np.asarray(y)
    if values.shape != (n,):
        raise ValueError(
            f"y must have shape ({n},), a class per row of logits; got {values.shape}."
        )
    if values.dtype.kind not in "iub" or values.min() < 0 or values.max() >= n_classes:
        raise ValueError(
            f"y must hold whole numbers from 0 to {n_classes - 1}, the positions of the classes in "
            f"logits; got {values[:3].tolist()} ..."
        )
    return values.astype(np.intp)


def mass_ahead(probabilities: np.ndarray) -> np.ndarray:
    """Return for every class the total probability of the more probable ones, (n, classes).

    It is 0 for the most probable class, which therefore belongs to every set: no set is empty. A
    set takes the classes whose score does not exceed a threshold, so it grows where several classes
    are about as probable. Classes of equal probability enter a set together.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    falling = np.take_along_axis(probabilities, order, axis=1)
    ahead = np.zeros_like(falling)
    np.cumsum(falling[:, :-1], axis=1, out=ahead[:, 1:])
    ahead[:, 1:][falling[:, 1:] == falling[:, :-1]] = 0.0  # as its equal before it
    scores = np.empty_like(ahead)
    np.put_along_axis(scores, order, np.maximum.accumulate(ahead, axis=1), axis=1)
    return scores
