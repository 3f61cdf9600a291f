"""The judgement calls on the Ames data: transformers of frames that make up a preprocessing.

Modes, medians, levels and columns to keep are learned in `fit`, from training rows. A step ignores
columns that a frame does not have.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

OPTIONS = {
    "identical": (0.65, 0.8, 0.95),
    "neighborhoods": (10, 20),
    "missing": ("other", "mode"),
    "simplify": (True, False),
    "response": ("none", "log", "sqrt"),
    "correlation": (0.0, 0.5),
    "categories": ("numeric", "simplified dummy", "dummy"),
}
MOST_MISSING = 0.5  # columns with a larger share of gaps are dropped
LEVELS_LEFT = 2  # the number of levels that a simplified nominal column keeps


class Scale(NamedTuple):
    """The levels of an ordered column from worst to best, and the first of the better ones."""

    levels: tuple[str, ...]
    better_from: str


QUALITY = ("Po", "Fa", "TA", "Gd", "Ex")
FINISHED = ("Unf", "LwQ", "Rec", "BLQ", "ALQ", "GLQ")
SCALES = {
    "bsmt_cond": Scale(QUALITY, "Gd"),
    "bsmt_exposure": Scale(("No", "Mn", "Av", "Gd"), "Av"),
    "bsmt_qual": Scale(QUALITY, "Gd"),
    "bsmtfin_type_1": Scale(FINISHED, "ALQ"),
    "bsmtfin_type_2": Scale(FINISHED, "ALQ"),
    "central_air": Scale(("N", "Y"), "Y"),
    "electrical": Scale(("Mix", "FuseP", "FuseF", "FuseA", "SBrkr"), "SBrkr"),
    "exter_cond": Scale(QUALITY, "Gd"),
    "exter_qual": Scale(QUALITY, "Gd"),
    "fireplace_qu": Scale(QUALITY, "Gd"),
    "functional": Scale(("Sal", "Sev", "Maj2", "Maj1", "Mod", "Min2", "Min1", "Typ"), "Typ"),
    "garage_cond": Scale(QUALITY, "TA"),
    "garage_finish": Scale(("Unf", "RFn", "Fin"), "Fin"),
    "garage_qual": Scale(QUALITY, "TA"),
    "heating_qc": Scale(QUALITY, "Gd"),
    "kitchen_qual": Scale(QUALITY, "Gd"),
    "land_slope": Scale(("Sev", "Mod", "Gtl"), "Gtl"),
    "lot_shape": Scale(("IR3", "IR2", "IR1", "Reg"), "Reg"),
    "ms_zoning": Scale(("RH", "RM", "RL", "FV"), "RL"),  # from the densest to the newest
    "paved_drive": Scale(("N", "P", "Y"), "Y"),
    "street": Scale(("Grvl", "Pave"), "Pave"),
    "utilities": Scale(("ELO", "NoSeWa", "NoSewr", "AllPub"), "AllPub"),
}
BATHROOMS = {"full_bath": 1.0, "half_bath": 0.5, "bsmt_full_bath": 1.0, "bsmt_half_bath": 0.5}
PORCHES = ("open_porch_sf", "enclosed_porch", "3ssn_porch", "screen_porch")
PARTS_OF_SUMS = (
    *("1st_flr_sf", "2nd_flr_sf", "low_qual_fin_sf"),  # gr_liv_area is the sum of these
    *("bsmtfin_sf_1", "bsmtfin_sf_2", "bsmt_unf_sf"),  # total_bsmt_sf is the sum of these
)


class Choices(NamedTuple):
    """One way to prepare the data, with an option for each judgement call."""

    identical: float = 0.8
    neighborhoods: int = 10
    missing: str = "other"
    simplify: bool = True
    response: str = "none"
    correlation: float = 0.0
    categories: str = "numeric"

    @property
    def name(self) -> str:
        return ", ".join(f"{call} {option}" for call, option in self._asdict().items())

    def preprocessing(self) -> OnScale:
        return OnScale(self.pipeline(), self.response)

    def pipeline(self) -> Pipeline:
        """Return the judgement calls that concern X, as a pipeline."""
        steps = {
            "clean": Clean(),
            "missing": FillCategories(self.missing),
            "neighborhoods": KeepNeighborhoods(self.neighborhoods),
            "simplify": Simplify() if self.simplify else "passthrough",
            "categories": EncodeCategories(self.categories),
            "identical": DropIdentical(self.identical),
            "correlation": KeepCorrelated(self.correlation),
            "numbers": ToNumbers(),
        }
        return Pipeline(list(steps.items()))


def all_choices() -> list[Choices]:
    return [Choices(*options) for options in product(*OPTIONS.values())]


class Step(TransformerMixin, BaseEstimator):
    """A transformer of frames; steps that learn nothing use this `fit`."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> Step:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class Clean(Step):
    """The cleaning that all versions of the data share.

    Columns that are mostly gaps are dropped. In the others, an unknown frontage becomes the median,
    a garage without a year is as old as the house, and an unknown area or count is 0.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Clean:
        self.kept_ = list(X.columns[X.isna().mean() <= MOST_MISSING])
        self.frontage_ = X["lot_frontage"].median() if "lot_frontage" in X else 0.0
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        X = X[self.kept_]
        filled = {name: X[name].fillna(0) for name in gaps(X[numeric_columns(X)])}
        if "lot_frontage" in filled:
            filled["lot_frontage"] = X["lot_frontage"].fillna(self.frontage_)
        if "garage_yr_blt" in filled and "year_built" in X:
            filled["garage_yr_blt"] = X["garage_yr_blt"].fillna(X["year_built"])
        return X.assign(**filled)


class FillCategories(Step):
    """Replace missing categories by the category "other", or by the commonest one ("mode")."""

    def __init__(self, missing: str = "other") -> None:
        self.missing = missing

    def fit(self, X: pd.DataFrame, y: Any = None) -> FillCategories:
        columns = text_columns(X)
        self.fill_ = dict.fromkeys(columns, "other")
        if self.missing == "mode":
            self.fill_ = {name: by_frequency(X[name])[0] for name in columns}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        filled = {name: X[name].fillna(self.fill_[name]) for name in gaps(X[list(self.fill_)])}
        return X.assign(**filled)


class KeepNeighborhoods(Step):
    """Keep the names of the `n` commonest neighbourhoods, and call all others "other"."""

    def __init__(self, n: int = 10) -> None:
        self.n = n

    def fit(self, X: pd.DataFrame, y: Any = None) -> KeepNeighborhoods:
        self.kept_ = by_frequency(X["neighborhood"])[: self.n] if "neighborhood" in X else []
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        if "neighborhood" not in X:
            return X
        return X.assign(neighborhood=only(X["neighborhood"], self.kept_))


class Simplify(Step):
    """Reduce the numbers of columns and levels.

    Bathrooms are counted together, half ones as halves. One indicator replaces all porches. Areas
    that are part of a sum in another column are dropped. Nominal columns keep their two commonest
    levels.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Simplify:
        self.levels_ = {name: by_frequency(X[name])[:LEVELS_LEFT] for name in nominal_columns(X)}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        X = X.assign(**{name: only(X[name], kept) for name, kept in self.levels_.items()})
        baths = [name for name in BATHROOMS if name in X]
        porches = [name for name in PORCHES if name in X]
        if baths:
            X["bathrooms"] = sum(BATHROOMS[name] * X[name] for name in baths)
        if porches:
            X["porch"] = (X[porches] > 0).any(axis=1).astype(float)
        return X.drop(columns=[*baths, *porches, *(c for c in PARTS_OF_SUMS if c in X)])


class EncodeCategories(Step):
    """Encode text as numbers, except neighbourhoods.

    An ordered column becomes a number from worst to best ("numeric", with 0 for other values), an
    indicator of the better levels ("simplified dummy"), or an indicator of each level ("dummy").
    A nominal column always becomes an indicator of each level. The commonest level has none.
    """

    def __init__(self, categories: str = "numeric") -> None:
        self.categories = categories

    def fit(self, X: pd.DataFrame, y: Any = None) -> EncodeCategories:
        indicated = nominal_columns(X)
        if self.categories == "dummy":
            indicated += ordered_columns(X)
        self.levels_ = {name: sorted(by_frequency(X[name])[1:]) for name in indicated}
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        encoded = {}
        for name, levels in self.levels_.items():
            values = X[name].to_numpy(object)
            encoded |= {f"{name}={level}": (values == level).astype(float) for level in levels}
        for name in ordered_columns(X):
            if name not in self.levels_:
                encoded[name] = self._grade(X[name].to_numpy(object), SCALES[name])
        rest = X.drop(columns=[*self.levels_, *ordered_columns(X)])
        return pd.concat([rest, pd.DataFrame(encoded, index=X.index)], axis=1)

    def _grade(self, values: np.ndarray, scale: Scale) -> np.ndarray:
        grades = {level: float(grade) for grade, level in enumerate(scale.levels, start=1)}
        graded = np.array([grades.get(value, 0.0) for value in values])
        if self.categories == "numeric":
            return graded
        return (graded >= grades[scale.better_from]).astype(float)


class DropIdentical(Step):
    """Drop columns whose commonest value has more than this share of the rows."""

    def __init__(self, threshold: float = 0.8) -> None:
        self.threshold = threshold

    def fit(self, X: pd.DataFrame, y: Any = None) -> DropIdentical:
        self.kept_ = [name for name in X if self._commonest(X[name]) <= self.threshold * len(X)]
        return self

    def _commonest(self, column: pd.Series) -> int:
        """Return how often the commonest value occurs."""
        _, counts = np.unique(column.to_numpy(), return_counts=True)
        return counts.max()

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        return X[self.kept_]


class KeepCorrelated(Step):
    """Drop numbers whose absolute correlation with the response is below this threshold."""

    def __init__(self, threshold: float = 0.0) -> None:
        self.threshold = threshold

    def fit(self, X: pd.DataFrame, y: Any) -> KeepCorrelated:
        numbers = numeric_columns(X)
        standardised = StandardScaler().fit_transform(X[numbers].to_numpy(float))
        response = StandardScaler().fit_transform(np.asarray(y, float)[:, None])
        strength = np.abs(standardised.T @ response)[:, 0] / len(X)
        weak = {name for name, r in zip(numbers, strength, strict=True) if r < self.threshold}
        self.kept_ = [name for name in X if name not in weak]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        return X[self.kept_]


class ToNumbers(Step):
    """Return an array of the numbers and an indicator of every neighbourhood except "other"."""

    def fit(self, X: pd.DataFrame, y: Any = None) -> ToNumbers:
        self.neighborhoods_ = []
        if "neighborhood" in X:
            self.neighborhoods_ = sorted(set(X["neighborhood"]) - {"other"})
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        blocks = [X[numeric_columns(X)].to_numpy(float)]
        if self.neighborhoods_:
            values = X["neighborhood"].to_numpy(object)
            blocks += [(values == name).astype(float)[:, None] for name in self.neighborhoods_]
        return np.ascontiguousarray(np.hstack(blocks))


class OnScale(TransformerMixin, BaseEstimator):
    """A preprocessing of X for models that learn the price, its logarithm or its square root."""

    def __init__(self, preprocessing: Any, response: str = "none") -> None:
        self.preprocessing = preprocessing
        self.response = response

    def fit(self, X: pd.DataFrame, y: Any) -> OnScale:
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any) -> np.ndarray:
        self.preprocessing_ = clone(self.preprocessing)
        return self.preprocessing_.fit_transform(X, self.transform_target(y))

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        return self.preprocessing_.transform(X)

    def transform_target(self, y: np.ndarray) -> np.ndarray:
        return {"none": np.asarray, "log": np.log, "sqrt": np.sqrt}[self.response](y)

    def inverse_transform_target(self, predictions: np.ndarray) -> np.ndarray:
        # A negative square root stands for a price below zero.
        back = {"none": np.asarray, "log": np.exp, "sqrt": lambda root: root * np.abs(root)}
        return back[self.response](predictions)


# Columns and levels


def numeric_columns(X: pd.DataFrame) -> list[str]:
    return [name for name, dtype in X.dtypes.items() if pd.api.types.is_numeric_dtype(dtype)]


def text_columns(X: pd.DataFrame) -> list[str]:
    return [name for name, dtype in X.dtypes.items() if not pd.api.types.is_numeric_dtype(dtype)]


def gaps(X: pd.DataFrame) -> list[str]:
    """Return the columns with missing values."""
    return list(X.columns[X.isna().any()])


def ordered_columns(X: pd.DataFrame) -> list[str]:
    return [name for name in text_columns(X) if name in SCALES]


def nominal_columns(X: pd.DataFrame) -> list[str]:
    return [n for n in text_columns(X) if n not in SCALES and n != "neighborhood"]


def by_frequency(column: pd.Series) -> list[str]:
    """Return the values, the commonest first, and equally common ones in alphabetical order."""
    counts = Counter(column.dropna())
    return sorted(counts, key=lambda value: (-counts[value], value))


def only(column: pd.Series, kept: list[str]) -> pd.Series:
    """Replace values that are not kept by "other"."""
    return column.where(column.isin(kept), "other")
