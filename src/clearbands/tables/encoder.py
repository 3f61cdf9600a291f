"""An encoder that turns tables with text, categories, dates and gaps into plain numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from clearbands.rows.checks import check_choice
from clearbands.rows.coded import coded
from clearbands.rows.frames import check_table, is_frame
from clearbands.rows.messages import warn
from clearbands.rows.typed import Table, TableLike
from clearbands.tables.categories import CategoryCodes
from clearbands.tables.dates import DateParts
from clearbands.tables.kinds import (
    KINDS,
    Name,
    Series,
    check_kind,
    has_gaps,
    has_zone,
    is_blank,
    kind_of,
    numbers_of,
    remark_on,
    texts_of,
)
from clearbands.tables.spelling import WHOLE

DATES = ("parts", "seconds")
NEARLY = 0.9  # a column in which more of the rows have a value of their own holds names
FEWEST_NAMES = 20  # rows below which every column of text looks like names
MOST_TEXTS = 2_000  # columns of text: each costs every member as much as a few columns of numbers
NEVER_SEEN = "\0"  # a text that no table has


class NamesWarning(UserWarning):
    """A column holds a text of its own in nearly every row."""


class ZoneWarning(UserWarning):
    """A column has moments with a time zone, where it had none in fit, or the other way round."""


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turns a table into numbers: fills gaps, encodes text, and divides dates into their parts.

    The encoder takes arrays of floats, in which NaN is a missing value, and frames of pandas,
    polars and others. A category that was not seen in `fit` gives zeros, or counts as rare where
    rare categories were pooled; a missing category is a category of its own. A column without any
    value in `fit` is left out with a warning. A column must keep its kind: if it held numbers in
    `fit`, it must hold numbers later, too.

    Parameters
    ----------
    numeric : transformer of a float array with NaN, optional
        What fills gaps in columns of numbers. The default takes the median of the training rows and
        adds an indicator for each column with gaps.
    categorical : transformer of an object array, optional
        What turns text and categories into numbers. The default is one-hot encoding with at most 40
        columns per feature, in which the rarest categories share one. `ClearRegressor` and
        `ClearClassifier` take `CategoryCodes` where they choose the models.
    dates : "parts" or "seconds"
        What a date becomes. With "seconds" it becomes the seconds since 1970. With "parts" it also
        becomes the year, the month, the weekday, the hour and the season, as far as they vary in
        `fit`.

    Attributes
    ----------
    kinds_ : dict
        What each column held, by its name (or by its position for arrays); see
        `clearbands.tables.kinds`.
    numeric_columns_, categorical_columns_ : list
        The columns that become numbers, and the columns of text and categories.
    zoned_columns_ : list
        The columns whose moments had a time zone.
    numeric_, categorical_ : transformer or None
        The fitted transformers; None where there are no such columns.
    date_parts_ : dict
        For each column of dates, by name, the parts that vary.
    has_names_ : bool
        Whether columns are known by their names; those of an array are known by their positions.

    Examples
    --------
    >>> import polars as pl
    >>> from clearbands import TableEncoder
    >>> houses = pl.DataFrame({"size": [50.0, None, 90.0], "town": ["Bern", "Chur", "Bern"]})
    >>> encoder = TableEncoder().fit(houses)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'missingindicator_size', 'town_Bern', 'town_Chur']
    >>> encoder.transform(houses)
    array([[50.,  0.,  1.,  0.],
           [70.,  1.,  0.,  1.],
           [90.,  0.,  1.,  0.]])
    >>> encoder.transform(houses.with_columns(size=pl.lit("large")))
    Traceback (most recent call last):
        ...
    ValueError: Column 'size' held numbers in fit, but now holds text such as 'large' in row 0 \
(counted from 0); \
give it the type it had in fit.
    """

    def __init__(
        self,
        numeric: BaseEstimator | None = None,
        categorical: BaseEstimator | None = None,
        *,
        dates: str = "parts",
    ) -> None:
        self.numeric = numeric
        self.categorical = categorical
        self.dates = dates

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> TableEncoder:
        X = check_table(self, X, reset=True)
        check_choice(self.dates, "dates", DATES)
        self.kinds_, self.has_names_ = _kinds(X), is_frame(X)
        self.numeric_columns_ = [n for n, kind in self.kinds_.items() if KINDS[kind].read]
        self.categorical_columns_ = [n for n, kind in self.kinds_.items() if kind == "text"]
        self.zoned_columns_ = [name for name, column in self._moments(X) if has_zone(column)]
        _check_number_of_texts(len(self.categorical_columns_))
        self.numeric_ = self.categorical_ = None
        numeric, categorical = self._blocks(X)
        if self.numeric_columns_:
            self.numeric_ = _with_array_output(_imputer() if self.numeric is None else self.numeric)
            self.numeric_.fit(numeric)
        self.date_parts_ = self._fit_dates(numeric)
        if self.categorical_columns_:
            self.categorical_ = _with_array_output(
                _one_hot() if self.categorical is None else self.categorical
            )
            self.categorical_.fit(categorical)
            self.warn_of_names(len(categorical))
        return self

    @property
    def code_columns(self) -> tuple[int, ...]:
        """The numbers of the columns of `transform` that hold codes; they are the last ones."""
        check_is_fitted(self)
        n_codes = getattr(self.categorical_, "n_codes", 0)
        n_columns = len(self.get_feature_names_out()) if n_codes else 0
        return tuple(range(n_columns - n_codes, n_columns))

    @property
    def n_values(self) -> list[int]:
        """The number of codes in each column of codes."""
        if not isinstance(self.categorical_, CategoryCodes):
            return []
        known = zip(self.categorical_.categories_, self.categorical_.is_coded_, strict=True)
        return [len(values) for values, is_coded in known if is_coded]

    def learn_categories(self, texts: Callable[[Name], Iterable[str | None]]) -> None:
        """Give codes to all texts of a table, where `fit` saw only some of its rows."""
        check_is_fitted(self)
        if isinstance(self.categorical_, CategoryCodes):
            self.categorical_.widen([texts(name) for name in self.categorical_columns_])

    def transform(self, X: TableLike) -> np.ndarray:
        """Return floats (n, columns): numeric columns, then parts of dates, then categories."""
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        numeric, categorical = self._blocks(X)
        self._warn_of_zones(X)
        blocks = []
        with config_context(transform_output="default"):  # also for the parts of an imputer
            if self.numeric_ is not None:
                blocks.append(self._without_gaps(self.numeric_, numeric))
                blocks += self._date_blocks(numeric)
            if self.categorical_ is not None:
                blocks.append(self.categorical_.transform(categorical))
        return np.ascontiguousarray(np.hstack(blocks), dtype=np.float64)

    def _without_gaps(self, imputer: Any, numeric: np.ndarray) -> np.ndarray:
        """Return the numeric columns with their gaps filled by the imputer.

        The default imputer is skipped where no value is missing: for a single row it would take
        longer than all other steps.
        """
        if self.numeric is not None or np.isnan(numeric).any():
            return imputer.transform(numeric)
        known = ~np.isnan(imputer.statistics_)  # all other columns had no value at all
        no_gaps = np.zeros((len(numeric), len(imputer.indicator_.features_)))
        return np.hstack([numeric[:, known], no_gaps])

    def text_block(self, X: TableLike) -> np.ndarray:
        """Return the categories as they stand in X, objects (n, text columns), "" where missing."""
        check_is_fitted(self)
        _, categorical = self._blocks(check_table(self, X, reset=False))
        return np.where(categorical == None, "", categorical)  # noqa: E711

    def forget(self, encoded: np.ndarray, texts: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        """Return encoded rows as they would be if `fit` had never seen some of their texts.

        `texts` (n, text columns) are those of `text_block`; `columns` are the numbers of those
        that `fit` shall not have seen.
        """
        check_is_fitted(self)
        assert self.categorical_ is not None
        categorical = texts.copy()
        categorical[texts == ""] = None
        categorical[:, list(columns)] = NEVER_SEEN
        with warnings.catch_warnings(), config_context(transform_output="default"):
            warnings.simplefilter("ignore")  # the categories are unknown on purpose
            block = self.categorical_.transform(categorical)
        return np.hstack([encoded[:, : encoded.shape[1] - block.shape[1]], block])

    def complete_columns(self) -> np.ndarray:
        """Return which numeric columns had no gap in `fit`; none if an imputer was given."""
        check_is_fitted(self)
        if self.numeric_ is None or self.numeric is not None:
            return np.zeros(len(self.numeric_columns_), bool)
        has_gaps = np.zeros(len(self.numeric_columns_), bool)
        has_gaps[self.numeric_.indicator_.features_] = True
        return ~has_gaps

    def new_gaps(self, X: TableLike) -> np.ndarray:
        """Return the gaps in columns without gaps in `fit`, booleans (n, numeric columns)."""
        table = check_table(self, X, reset=False)
        complete = self.complete_columns()
        if not self._has_gaps(table, complete):
            return np.zeros((_num_samples(X), len(complete)), bool)
        return np.isnan(self._blocks(table)[0]) & complete

    def _has_gaps(self, X: Table, columns: np.ndarray) -> bool:
        """Whether one of these numeric columns has a gap; of an array, whether any column has."""
        if isinstance(X, np.ndarray):
            return bool(np.isnan(X).any())
        by_name = self._columns(nw.from_native(X, eager_only=True))
        names = [name for name, own in zip(self.numeric_columns_, columns, strict=True) if own]
        return any(has_gaps(by_name[name]) for name in names)

    def drop_value(self, encoded: np.ndarray, column: int) -> np.ndarray:
        """Return encoded rows as they would be if one of their numeric columns had no value.

        `column` is its number among the numeric columns; it had no gaps in `fit`.
        """
        check_is_fitted(self)
        assert self.numeric_ is not None
        dropped, name = encoded.copy(), self.numeric_columns_[column]
        dropped[:, column] = self.numeric_.statistics_[column]
        place = len(self.numeric_columns_) + len(self.numeric_.indicator_.features_)
        for other, parts in self.date_parts_.items():
            block = parts.block(np.array([parts.usual]))
            if other == name:
                dropped[:, place : place + block.shape[1]] = block
            place += block.shape[1]
        return dropped

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns."""
        check_is_fitted(self)
        names: list[str] = []
        if self.numeric_ is not None:
            names.extend(self.numeric_.get_feature_names_out(_names(self.numeric_columns_)))
        for name, parts in self.date_parts_.items():
            names.extend(f"{name}_{part}" for part in parts.names)
        if self.categorical_ is not None:
            names.extend(self.categorical_.get_feature_names_out(_names(self.categorical_columns_)))
        return np.asarray(names, dtype=object)

    def warn_of_names(self, n_rows: int) -> None:
        """Warn of text columns in which nearly each of `n_rows` rows has a value of its own."""
        for j in self.columns_of_names(n_rows):
            values = self.categorical_.categories_[j]  # type: ignore[union-attr]
            warn(
                f"Column {self.categorical_columns_[j]!r} holds {len(values):,} different texts in "
                f"{n_rows:,} rows, so hardly any two rows share one. Members use it only where it "
                "helps. If it holds names or ids, leave it out.",
                NamesWarning,
            )

    def columns_of_names(self, n_rows: int) -> list[int]:
        """Return the numbers of the text columns in which nearly each row has its own value."""
        if not isinstance(self.categorical_, CategoryCodes) or n_rows < FEWEST_NAMES:
            return []
        known = enumerate(self.categorical_.categories_)
        return [j for j, values in known if len(values) > NEARLY * n_rows]

    def leave_out_names(self, X: np.ndarray, pays: Callable[[np.ndarray], Sequence[bool]]) -> bool:
        """Leave out columns of names that do not help; return whether there are any.

        `X` are the rows of `fit` as `transform` returns them; `pays(X)` says for each column of
        codes whether it helps. At least one column of X is kept.
        """
        names = self.columns_of_names(len(X))
        if not names:
            return False
        is_coded = self.categorical_.is_coded_  # type: ignore[union-attr]
        does_pay = dict(zip(np.flatnonzero(is_coded).tolist(), pays(X), strict=True))
        useless = [j for j in names if not does_pay.get(j, True)][: X.shape[1] - 1]
        self.categorical_.leave_out(useless)  # type: ignore[union-attr]
        return bool(useless)

    @property
    def _date_columns(self) -> list[Name]:
        return [n for n in self.numeric_columns_ if self.kinds_[n] in ("date", "datetime")]

    def _moments(self, X: Table) -> list[tuple[Name, Series]]:
        """Return the columns of dates that have a value."""
        if not self._date_columns:
            return []
        columns = self._columns(nw.from_native(X, eager_only=True))
        return [(name, columns[name]) for name in self._date_columns if not is_blank(columns[name])]

    def _warn_of_zones(self, X: Table) -> None:
        """Warn of moments with a time zone where fit saw none, and the other way round."""
        for name, column in self._moments(X):
            had = name in self.zoned_columns_
            if had != has_zone(column):
                then, now = ("with", "without") if had else ("without", "with")
                warn(
                    f"Column {name!r} held moments {then} a time zone in fit, but now holds some "
                    f"{now} one; those with a zone are turned into UTC, the others count as they "
                    "stand. Give them as in fit.",
                    ZoneWarning,
                )

    def _fit_dates(self, numeric: np.ndarray) -> dict[Name, DateParts]:
        """Find the parts that vary in every column of dates; none where dates are seconds alone."""
        if self.dates == "seconds":
            return {}
        places = {name: self.numeric_columns_.index(name) for name in self._date_columns}
        return {name: DateParts.of(numeric[:, j]) for name, j in places.items()}

    def _date_blocks(self, numeric: np.ndarray) -> list[np.ndarray]:
        """Return the parts of dates; a missing date has the parts of the usual one."""
        blocks = []
        for name, parts in self.date_parts_.items():
            known = numeric[:, self.numeric_columns_.index(name)]
            blocks.append(parts.block(np.where(np.isnan(known), parts.usual, known)))
        return blocks

    def _blocks(self, X: Table) -> tuple[np.ndarray, np.ndarray]:
        """Return numeric columns as floats, and the others as text in which None is missing."""
        if isinstance(X, np.ndarray):
            return self._blocks_of_array(X)
        frame = nw.from_native(X, eager_only=True)
        columns = self._columns(frame)
        for name, column in columns.items():
            check_kind(column, name, self.kinds_[name])
        numeric = np.empty((len(frame), len(self.numeric_columns_)))
        for j, name in enumerate(self.numeric_columns_):
            numeric[:, j] = numbers_of(columns[name], name)
        categorical = np.empty((len(frame), len(self.categorical_columns_)), object)
        for j, name in enumerate(self.categorical_columns_):
            categorical[:, j] = texts_of(columns[name])
            _check_spelling(categorical[:, j], self._known_texts(j), name)
        return numeric, categorical

    def _columns(self, frame: nw.DataFrame[Any]) -> dict[Name, Series]:
        """Return the columns by their names in fit, or in their order where fit saw no names."""
        names = list(self.kinds_)
        own_names = names if set(frame.columns).issuperset(names) else frame.columns
        if own_names is not names and self.has_names_:
            missing = next(name for name in names if name not in set(frame.columns))
            raise ValueError(
                f"X has no column {missing!r}, which was there in fit: give the columns of fit, in "
                "any order."
            )
        return {name: frame.get_column(of) for name, of in zip(names, own_names, strict=True)}  # type: ignore[arg-type]

    def _known_texts(self, j: int) -> Sequence[Any]:
        """Return the categories of the j-th text column, or none if the transformer keeps none."""
        known = getattr(self.categorical_, "categories_", None)
        return () if known is None else known[j]

    def _blocks_of_array(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = []
        for place, (name, kind) in enumerate(self.kinds_.items()):
            if kind not in ("number", "any"):
                raise ValueError(
                    f"X is an array, but column {name!r} held {KINDS[kind].in_words} in fit; give "
                    "a table with the columns of fit."
                )
            places += [place] if kind == "number" else []
        return X[:, places], np.empty((len(X), 0), object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def encode(encoder: BaseEstimator, X: TableLike) -> Any:
    """Return an encoder's array for X, whatever scikit-learn is set to return."""
    with config_context(transform_output="default"):
        return encoder.transform(X)


def encode_to_fit(encoder: BaseEstimator, X: TableLike) -> Any:
    """Encode rows for training: the array says which of its columns are codes of categories."""
    encoded = encode(encoder, X)
    columns = getattr(encoder, "code_columns", ())
    return coded(encoded, columns) if columns else encoded


def _check_number_of_texts(n_columns: int) -> None:
    if n_columns > MOST_TEXTS:
        raise ValueError(
            f"X has {n_columns:,} columns of text; at most {MOST_TEXTS:,} can be learned from. "
            "Drop those that say nothing of the target, or turn them into numbers."
        )


def _imputer() -> BaseEstimator:
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median", add_indicator=True)


def _one_hot() -> BaseEstimator:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=40, sparse_output=False
    )


def _names(columns: Sequence[Name]) -> list[str]:
    return [f"x{c}" if isinstance(c, int) else str(c) for c in columns]


def _with_array_output(transformer: BaseEstimator) -> BaseEstimator:
    """Return a copy that returns arrays, whatever scikit-learn is set to return."""
    copy = clone(transformer)
    return copy.set_output(transform="default") if hasattr(copy, "set_output") else copy


def _kinds(X: Table) -> dict[Name, str]:
    """Return the kind of every column, "any" with a warning for a column without any value."""
    kinds: dict[Name, str]
    blank: set[Name]
    if not isinstance(X, np.ndarray):
        frame = nw.from_native(X, eager_only=True)
        columns: dict[Name, Series] = {n: frame.get_column(n) for n in frame.columns}
        blank = {name for name, column in columns.items() if is_blank(column)}
        kinds = {n: "any" if n in blank else kind_of(c, n) for n, c in columns.items()}
        for name, column in columns.items():
            words = remark_on(column, name, kinds[name])
            if words is not None:
                warn(words)
    else:
        blank = set(np.flatnonzero(np.isnan(X).all(axis=0)).tolist())
        kinds = {j: "any" if j in blank else "number" for j in range(X.shape[1])}
    if len(blank) == len(kinds):
        raise ValueError("No column has a value in any training row; give rows with some.")
    if blank:
        names = ", ".join(repr(name) for name in kinds if name in blank)
        has = "Column {} has" if len(blank) == 1 else "The columns {} have"
        warn(
            f"{has.format(names)} no value in any training row and cannot help to predict: left "
            "out."
        )
    return kinds


def _check_spelling(texts: np.ndarray, known: Sequence[Any], name: Name) -> None:
    """Raise for a number that fit knew as text in another spelling: "1.0", where it was "1"."""
    whole = {text: WHOLE.fullmatch(text) for text in set(texts) if text is not None}
    numbers = {text: match[1] for text, match in whole.items() if match}
    as_in_fit = set(known) if numbers else set()
    for text, number in numbers.items():
        for other in (number, f"{number}.0"):
            if text not in as_in_fit and other in as_in_fit:
                raise ValueError(
                    f"Column {name!r} holds the text {text!r}, which fit knew as {other!r}; write "
                    "it as in fit."
                )
