"""Checks of the parts of scikit-learn and SciPy whose compiled code trusts indices in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clearbands.engine.stored import check_numbers
from clearbands.persistence.archive import UnsoundError


def check_compiled(model: Any) -> None:
    """Raise for an index in a model that does not point at a column, node or row."""
    for part in _parts(model):
        for kind in type(part).__mro__:
            check = CHECKS.get(f"{kind.__module__}.{kind.__name__}")
            if check is not None:
                check(part)


def _parts(model: Any) -> Iterator[Any]:
    """Yield all objects that a model is made of, each once."""
    seen: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting += vars(part).values()


def _check_tree(tree: Any) -> None:
    if tree.node_count < 1 or tree.node_count != tree.capacity:
        raise UnsoundError(f"A tree has {tree.capacity} nodes and claims {tree.node_count}.")
    left, right = tree.children_left, tree.children_right
    _check_splits(left != -1, left, right, tree.feature, tree.n_features)


def _check_boosted_tree(tree: Any) -> None:
    nodes = tree.nodes
    splits = nodes["is_leaf"] == 0
    # Only the model that holds the tree knows the number of columns.
    _check_splits(splits, nodes["left"], nodes["right"], nodes["feature_idx"], 2**31)
    if tree.raw_left_cat_bitsets.shape[1:] != (8,):
        raise UnsoundError("A set of categories has no 256 bits.")
    sets = nodes["bitset_idx"][splits & (nodes["is_categorical"] != 0)]
    check_numbers(sets, "A split", len(tree.raw_left_cat_bitsets), "sets of categories")


def _check_splits(
    splits: np.ndarray, left: np.ndarray, right: np.ndarray, feature: np.ndarray, n_columns: int
) -> None:
    if len(splits) == 0:
        raise UnsoundError("A tree has no nodes.")
    check_numbers(feature[splits], "A split", n_columns, "columns")
    for child in (left[splits], right[splits]):
        check_numbers(child, "A child", len(splits), "nodes")
        if (child <= np.flatnonzero(splits)).any():
            raise UnsoundError("A node of a tree stands before its parent.")


def _check_columns_of_tree(model: Any) -> None:
    if hasattr(model, "tree_"):
        _check_width(model, model.tree_.n_features)


def _check_columns_of_trees(model: Any) -> None:
    for tree in np.ravel(getattr(model, "estimators_", ())):
        _check_width(model, tree.n_features_in_)


def _check_columns_of_boosting(model: Any) -> None:
    for tree in (tree for iteration in getattr(model, "_predictors", ()) for tree in iteration):
        splits = tree.nodes["is_leaf"] == 0
        columns = tree.nodes["feature_idx"][splits]
        check_numbers(columns, "A split", model.n_features_in_, "columns")


def _check_width(model: Any, n_columns: int) -> None:
    if model.n_features_in_ != n_columns:
        raise UnsoundError(f"A tree for {n_columns} columns gets {model.n_features_in_}.")


def _check_neighbours(tree: Any) -> None:
    rows, order, nodes, bounds = map(np.asarray, tree.get_arrays())
    n_levels, n_nodes = tree.__getstate__()[5:7]
    if not (len(nodes) == n_nodes == bounds.shape[1] == 2**n_levels - 1 > 0) or (
        len(rows) != len(order) or bounds.shape[2] != rows.shape[1]
    ):
        raise UnsoundError("The parts of a tree of neighbours have different sizes.")
    check_numbers(order, "A tree of neighbours", len(rows), "rows")
    check_numbers(nodes["idx_start"], "A node", len(rows), "rows")
    check_numbers(nodes["idx_end"], "A node", len(rows) + 1, "ends of rows")
    check_numbers(np.flatnonzero(nodes["is_leaf"] == 0), "A split", n_nodes // 2, "inner nodes")


def _check_support(model: Any) -> None:
    """Raise if the parts of a support vector machine have different sizes."""
    if not hasattr(model, "support_"):
        return
    count, k = len(model.support_), len(model._n_support)
    vectors, coefficients = model.support_vectors_, model._dual_coef_
    if (
        coefficients.shape != (k - 1, count)
        or len(model._intercept_) != k * (k - 1) // 2
        or model.n_support_.sum() != count
        or (model.kernel != "precomputed" and vectors.shape != (count, model.n_features_in_))
    ):
        raise UnsoundError("The parts of a support vector machine have different sizes.")
    check_numbers(model.support_, "A support vector", model.shape_fit_[0], "rows")


def _check_sparse(matrix: Any) -> None:
    matrix.check_format(full_check=True)


def _check_spline(spline: Any) -> None:
    if not 0 <= spline.k == len(spline.t) - len(spline.c) - 1:
        raise UnsoundError(f"A spline of degree {spline.k} has {len(spline.t)} knots.")


BOOSTING = "sklearn.ensemble._hist_gradient_boosting"
CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.tree._tree.Tree": _check_tree,
    "sklearn.tree._classes.BaseDecisionTree": _check_columns_of_tree,
    "sklearn.ensemble._forest.BaseForest": _check_columns_of_trees,
    "sklearn.ensemble._gb.BaseGradientBoosting": _check_columns_of_trees,
    f"{BOOSTING}.predictor.TreePredictor": _check_boosted_tree,
    f"{BOOSTING}.gradient_boosting.BaseHistGradientBoosting": _check_columns_of_boosting,
    "sklearn.neighbors._kd_tree.BinaryTree64": _check_neighbours,
    "sklearn.neighbors._ball_tree.BinaryTree64": _check_neighbours,
    "sklearn.svm._base.BaseLibSVM": _check_support,
    "scipy.sparse._compressed._cs_matrix": _check_sparse,
    "scipy.interpolate._bsplines.BSpline": _check_spline,
}
