"""Models of a center, and the capabilities that they declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from clearbands.models.bag_model import BagModel
from clearbands.rows.typed import TableLike


class CenterModel(BagModel):
    """A regressor that can be fitted in bags; subclasses declare what else they can do.

    Attributes
    ----------
    supports_monotone : bool
        Whether the model has a parameter `monotone`, as `SymmetricTrees` has, and keeps to it.
        Models without it do not compete if columns have a direction.
    streams_files : bool
        Whether members can be grown from the bins of a table in files, which `scaling/members.py`
        does for `SymmetricTrees` and their subclasses. Models without it do not compete there.
    """

    supports_monotone: ClassVar[bool] = False
    streams_files: ClassVar[bool] = False

    def predict(self, X: TableLike) -> np.ndarray:
        """Return the predictions (n,)."""
        return self._predict_only_member(X)[:, 0]


Capability = Literal["supports_monotone", "streams_files"]


def has_capability(model: Any, capability: Capability) -> bool:
    """Whether a model, of this package or of others, declares this capability.

    >>> from sklearn.linear_model import LinearRegression
    >>> from clearbands import SymmetricTrees
    >>> models = SymmetricTrees(), LinearRegression()
    >>> [has_capability(model, "streams_files") for model in models]
    [True, False]
    """
    return bool(getattr(model, capability, False))


def models_with(capability: Capability, pool: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the models of a pool with this capability; raise for `what` if none has it."""
    able = {name: model for name, model in pool.items() if has_capability(model, capability)}
    if not able:
        kinds = ", ".join(sorted({type(model).__name__ for model in pool.values()}))
        raise ValueError(
            f"{what} needs a center whose class says `{capability} = True`, as SymmetricTrees "
            f"does; the search has {kinds}. Leave `search` open, or add such a center to it."
        )
    return able
