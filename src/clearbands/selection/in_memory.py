"""A fit on rows in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from clearbands.calibration.rolling import four_standard_errors
from clearbands.models.categories import useful_columns
from clearbands.models.monotone import Monotone, directions
from clearbands.rows.copies import ROUNDING, check_copies
from clearbands.rows.messages import warn
from clearbands.rows.split import Rows
from clearbands.rows.typed import TableLike
from clearbands.selection.fit_parts import fit_parts
from clearbands.selection.fit_result import FitResult
from clearbands.selection.plan import Plan, encoded, rescaled
from clearbands.tables.encoder import TableEncoder
from clearbands.tables.kinds import KINDS


def fit_in_memory(
    plan: Plan, rows: Rows, held_out: Rows | None, rng: np.random.RandomState
) -> FitResult:
    """Fit encoder and parts, and judge rows by members that did not see them.

    `rows` were given to train, and `held_out` to calibrate.
    """
    as_given = plan.divide_rows(rows, held_out, rng)
    targets = plan.fit_targets(as_given[0].y)
    targets.check(rows.y)  # all rows as they were given, so that an error names the right row
    if held_out is not None:
        targets.check(held_out.y)
    shares = [rescaled(rows, targets) for rows in as_given]
    encoder, shares, has_copies = encode_shares(
        plan.encoder, shares, are_apart=held_out is not None
    )
    direction = encoded_directions(plan.monotone, encoder, as_given[0].X)
    plan = replace(plan, direction=direction)
    train, *others = shares
    chosen = fit_parts(plan, train, others[0] if others else None, rng)
    y = np.concatenate([rows.y for rows in as_given])
    known = {"y": y, "n_train": len(train), "has_copies": has_copies}
    result = FitResult.of(plan, encoder, targets, chosen, train, others, **known)
    if others and not has_copies:
        center = result.calibration_set.components.center
        is_known = check_known(train, others[-1], center, chosen.unseen_center)
        result = replace(result, has_copies=is_known)
    return result


def encode_shares(
    encoder: BaseEstimator, shares: list[Rows], *, are_apart: bool, may_share: bool = False
) -> tuple[BaseEstimator, list[Rows], bool]:
    """Return the fitted encoder, the rows as models see them, and whether rows judge their copies.

    `are_apart` says whether the rows that calibrate were given apart from those that train, and
    `may_share` whether nothing is trained, so that a row may stand in both sets.
    """
    encoder = encoder.fit(shares[0].X, shares[0].y)
    train = encoded(shares[0], encoder)
    if isinstance(encoder, TableEncoder) and _leaves_out_names(encoder, train):
        train = encoded(shares[0], encoder)
    others = [encoded(rows, encoder) for rows in shares[1:]]
    has_copies = not may_share and check_copies(train, others, are_apart=are_apart)
    return encoder, [train, *others], has_copies


def _leaves_out_names(encoder: TableEncoder, train: Rows) -> bool:
    """Whether columns in which nearly every row has its own name were useless and left out.

    Members would not be shown them either, but a fit with such a column would differ by chance from
    one without it.
    """
    y, weight, groups = train.y, train.sample_weight, train.groups
    is_number = np.issubdtype(y.dtype, np.floating)

    def pays(X: np.ndarray) -> list[bool]:
        targets = y[:, None] if is_number else (y[:, None] == np.unique(y)).astype(float)
        return useful_columns(X, targets, weight, groups)

    return encoder.leave_out_names(train.X, pays)


def encoded_directions(
    monotone: Monotone, encoder: BaseEstimator, X: TableLike
) -> np.ndarray | None:
    """Return the directions of the columns (columns,) that `encoder`, fitted on X, makes of X."""
    if monotone is None:
        return None
    if isinstance(X, np.ndarray) and encoder.transform(X) is X:
        return directions(monotone, range(X.shape[1]))
    if not isinstance(encoder, TableEncoder) or encoder.numeric is not None:
        raise ValueError(
            f"monotone needs an encoder that tells what becomes of each column, and "
            f"{type(encoder).__name__} does not: "
            'leave encoder="auto", or give an array of numbers and encoder=None.'
        )
    of_columns = directions(monotone, list(encoder.kinds_))
    if of_columns is None:
        return None
    columns = encoder.get_feature_names_out().tolist()
    ways = np.zeros(len(columns), np.int8)
    for name, way in zip(encoder.kinds_, of_columns.tolist(), strict=True):
        if way == 0:
            continue
        if name not in encoder.numeric_columns_:
            kind = KINDS[encoder.kinds_[name]].in_words
            raise ValueError(
                f"monotone names {name!r}, which holds {kind}: only a column of numbers or dates "
                "can be monotone."
            )
        ways[columns.index(f"x{name}" if isinstance(name, int) else str(name))] = way
    return ways


MUCH_CLOSER = 0.1  # the distance to a training row, over the distance from there to the next
FAR_BELOW = 0.5  # the error, as a share of that of members that did not see the row
ENOUGH_ROWS = 500  # the number of rows that are compared to tell whether most are known


def check_known(
    train: Rows,
    held_out: Rows,
    center: np.ndarray,
    unseen_center: Callable[[np.ndarray], np.ndarray | None],
) -> bool:
    """Whether most of the rows held out seem to be training rows with small changes; then warn.

    Such a row lies much closer to a training row than that one lies to the next, and the error of
    its `center` is far below the training row's error by members that did not see that one, whose
    centers `unseen_center` gives. If all rows come from the same place, neither is true of more
    than half of the rows, whatever their distribution: by symmetry, each comparison might as well
    go the other way.
    """
    if not (isinstance(train.X, np.ndarray) and np.isfinite(train.X).all()):
        return False
    some = np.linspace(0, len(held_out) - 1, min(len(held_out), ENOUGH_ROWS)).astype(int)
    X = held_out.X[some]
    if not np.isfinite(X).all():
        return False
    nearest, is_close = _nearest(train.X, X)
    unseen = unseen_center(train.X) if _are_most(is_close) else None
    if unseen is None:
        return False
    error, unseen_error = np.abs(held_out.y - center)[some], np.abs(train.y - unseen)[nearest]
    is_known = is_close & (error < FAR_BELOW * unseen_error)
    if not _are_most(is_known[~np.isnan(unseen_error)]):
        return False
    warn(
        "Most rows that calibrate lie next to a training row, and their errors are far below those "
        "of members that did not see that row: they seem to be training rows that were changed a "
        "little, and the intervals are too short. Calibrate on other observations.",
        UserWarning,
    )
    return True


def _are_most(is_so: np.ndarray) -> bool:
    """Whether more than half of these are true, beyond what chance explains."""
    n = len(is_so)
    return n > 0 and bool(np.mean(is_so) - 0.5 > four_standard_errors(0.5, n))


def _nearest(X: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest row of X to each of `others` (n,), and whether that one is its copy.

    A row of X has only one copy among `others`: if X has few values, all lie near to few rows.
    """
    # Imported late: scikit-learn's neighbours take a while to load, which few fits need.
    from sklearn.neighbors import NearestNeighbors

    middle, unit = X.mean(axis=0), X.std(axis=0)
    unit[unit <= ROUNDING * np.abs(middle)] = 1.0  # a constant
    X, others = (X - middle) / unit, (others - middle) / unit
    table = NearestNeighbors(n_neighbors=min(2, len(X)), algorithm="brute").fit(X)
    distances, rows = table.kneighbors(others)
    nearest, distance = rows[:, 0], distances[:, 0]
    to_next = table.kneighbors(X[nearest])[0][:, -1]
    is_first = np.zeros(len(others), bool)
    is_first[np.unique(nearest, return_index=True)[1]] = True
    return nearest, is_first & (distance < MUCH_CLOSER * to_next)
