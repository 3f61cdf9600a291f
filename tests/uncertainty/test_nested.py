import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from clearbands.models.linear_quantiles import LinearQuantiles
from clearbands.rows.draws import FoldPairs
from clearbands.rows.split import Rows
from clearbands.selection.judging import judge
from clearbands.uncertainty.folded_bounds import FoldedBounds
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from clearbands.uncertainty.nested import NestedPredictions
from clearbands.uncertainty.scaled_residuals import ScaledResiduals
from tests.toys import noisy_line


def nested_of(X, y, n_folds=5):
    ensemble = FoldedEnsemble(LinearRegression(), 5, 2, random_state=0).fit(X, y)
    return ensemble, NestedPredictions.fit(ensemble, Rows(X, y), n_folds)


def test_every_two_folds_are_left_out_by_one_member():
    draws = FoldPairs.draw(53, 6, np.random.RandomState(0))
    assert len(draws) == 15
    left_out = [frozenset(draws.fold[unseen]) for unseen in draws.unseen]
    assert len(set(left_out)) == 15
    assert all(len(folds) == 2 for folds in left_out)
    assert (draws.unseen.sum(axis=0) == 5).all()
    assert (draws.folds().unseen.sum(axis=0) == 1).all()


def test_rows_that_belong_together_are_in_one_fold():
    visits = np.arange(60) // 6
    fold = FoldPairs.draw(60, 5, np.random.RandomState(0), visits).fold
    assert all(len(set(fold[visits == who])) == 1 for who in range(10))


def test_what_is_said_without_a_fold_has_no_part_of_its_targets():
    X, y = noisy_line(60)
    _, before = nested_of(X, y)
    fold = before.draws.fold
    y[fold == 2] += 1000 * np.arange(np.sum(fold == 2))
    _, after = nested_of(X, y)
    others = fold != 2
    np.testing.assert_array_equal(
        after.without_fold(2).center[others], before.without_fold(2).center[others]
    )
    assert not np.array_equal(
        after.without_fold(1).center[others], before.without_fold(1).center[others]
    )


def test_the_center_without_a_fold_is_a_line_through_all_other_rows():
    X, y = noisy_line(40)
    _, nested = nested_of(X, y)
    fold = nested.draws.fold
    for row, own in enumerate(fold[:10]):
        for other in set(range(5)) - {own}:
            seen = (fold != own) & (fold != other)
            line = LinearRegression().fit(X[seen], y[seen])
            expected = line.predict(X[row : row + 1])[0]
            assert nested.without_fold(other).center[row] == pytest.approx(expected)


@pytest.mark.parametrize(
    "part",
    [
        ScaledResiduals(LinearRegression(), random_state=0),
        ScaledResiduals(LinearRegression(), learn_log=True, random_state=0),
        FoldedBounds(LinearQuantiles(), random_state=0),
    ],
)
def test_noise_that_judges_a_row_has_learned_nothing_of_it(part):
    """It has not even seen residuals of neighbours by a center that saw the row."""
    X, y = noisy_line(60)
    new = np.linspace(-1, 1, 7).reshape(-1, 1)

    def members(y):
        ensemble, nested = nested_of(X, y)
        said = ensemble.predict_unseen(X)
        found = judge(Rows(X, y), ("", ""), ensemble, said, part, [0.9], "nothing", nested)
        shown = np.tile(new, (1, X.shape[1]))
        return found.pair.aleatoric.bag_.predict_members(shown), nested.draws.fold

    before, fold = members(y)
    odd = np.flatnonzero(fold == 3)
    # The median size of residuals, which is the unit of the logarithm, must not change.
    largest = odd[np.argsort(-np.abs(y[odd]))[:2]]
    y[largest] *= 1.5
    after, _ = members(y)
    np.testing.assert_allclose(after[..., 3], before[..., 3], rtol=0.02)
    assert not np.allclose(after[..., 1], before[..., 1], rtol=0.02)


def test_too_few_rows_are_refused():
    X, y = noisy_line(10)
    with pytest.raises(ValueError, match="only n_samples=2 rows: at least 3 are needed"):
        nested_of(X[:2], y[:2])
    with pytest.raises(ValueError, match="only n_samples=2 labels that keep rows together"):
        FoldPairs.draw(10, 5, np.random.RandomState(0), np.arange(10) % 2)
    assert len(nested_of(X[:4], y[:4], 10)[1].draws) == 6
