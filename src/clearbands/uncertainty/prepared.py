"""Versions of the data: the rows that models see after a preprocessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from clearbands.models.bag_model import Bag
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike


@dataclass(frozen=True)
class Version:
    """The data as one preprocessing transforms them; without one they stay as they are.

    A preprocessing is a transformer of X. If it also has `transform_target(y)` and
    `inverse_transform_target(predictions)`, the models learn the transformed target, and what
    they predict is taken back to the scale of y.
    """

    name: str = ""
    preprocessing: Any = None

    def fitted(self, train: Rows) -> tuple[Version, Rows]:
        """Return the same, fitted on the training rows, and these rows as the models see them.

        `fit_transform` makes these rows, because a preprocessing may transform the rows that it
        learned from in another way than new ones, as target encoders do.
        """
        if self.preprocessing is None:
            return self, train
        preprocessing = clone(self.preprocessing)
        X = preprocessing.fit_transform(train.X, train.y)
        fitted = replace(self, preprocessing=preprocessing)
        return fitted, replace(train, X=X, y=fitted._target(train.y))

    def view(self, X: TableLike) -> Any:
        """Return new rows as the models see them."""
        return X if self.preprocessing is None else self.preprocessing.transform(X)

    def _target(self, y: np.ndarray) -> np.ndarray:
        if not hasattr(self.preprocessing, "transform_target"):
            return y
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            target = np.asarray(self.preprocessing.transform_target(y), float)
        if not np.isfinite(target).all():
            row = int(np.argmin(np.isfinite(target)))
            raise ValueError(
                f"The preprocessing {self.name!r} has no finite target for y = {y[row]:g}; "
                "leave it out, or shift y."
            )
        return target

    def restore(self, predictions: np.ndarray) -> np.ndarray:
        """Return predictions of the models on the scale of y."""
        if not hasattr(self.preprocessing, "inverse_transform_target"):
            return predictions
        with np.errstate(over="ignore"):  # a bad model may leave the range; its error is infinite
            return np.asarray(self.preprocessing.inverse_transform_target(predictions), float)


@dataclass(frozen=True)
class VersionBags:
    """Bags of members, and the version of the data that these were trained on."""

    version: Version
    bags: Sequence[Bag]

    def predict_members(self, X: TableLike) -> np.ndarray:
        """Return the predictions of the members of all bags (n, members)."""
        view = self.version.view(X)
        members = np.concatenate([bag.predict_members(view)[:, 0] for bag in self.bags], axis=1)
        return self.version.restore(members)
