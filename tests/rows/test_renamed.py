import inspect

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate

from clearbands import ClearRegressor, diagnose
from clearbands.classifier import ClearClassifier
from clearbands.diagnostics.importance import feature_importance
from clearbands.rows.renamed import renamed
from clearbands.uncertainty.folded_bounds import FoldedBounds
from clearbands.uncertainty.folded_ensemble import FoldedEnsemble
from tests.toys import linear_clear


@pytest.mark.parametrize(
    ("function", "old", "words"),
    [
        (ClearRegressor.fit, "together", "give rows that belong together as groups"),
        (ClearRegressor.predict_interval, "groups", "as calibration_groups"),
        (ClearRegressor.predict_quantiles, "groups", "as calibration_groups"),
        (ClearRegressor.update, "groups", "as calibration_groups"),
        (ClearRegressor.report, "groups", "whose coverage is compared as by"),
        (ClearClassifier.report, "groups", "whose coverage is compared as by"),
        (diagnose, "groups", "whose coverage is compared as by"),
        (feature_importance, "groups", "as calibration_groups"),
    ],
)
def test_an_old_name_gets_a_sentence_that_gives_the_new_one(function, old, words):
    with pytest.raises(TypeError, match=f"{function.__name__} has no argument '{old}': .*{words}"):
        function(**{old: [1]})
    assert old not in inspect.signature(function).parameters


def test_other_arguments_pass():
    @renamed(before="groups")
    def take(groups, *, other=0):
        return groups, other

    assert take(1) == (1, 0)
    assert take(groups=2, other=3) == (2, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"):
        take(1, wrong=2)


class Groups(ClearRegressor):
    """Keeps the labels that fit was given."""

    def fit(self, X, y, *, groups=None):
        self.labels_ = groups
        return super().fit(X, y, groups=groups)


def test_scikit_learn_passes_groups_to_the_folds_and_to_fit():
    rng = np.random.default_rng(0)
    X, patient = rng.normal(size=(90, 2)), np.repeat(np.arange(30), 3)
    y = X[:, 0] + rng.normal(size=90)
    model = linear_clear()
    plain = cross_val_score(model, X, y, groups=patient, cv=GroupKFold(3))
    assert np.isfinite(plain).all()
    parts = FoldedEnsemble(LinearRegression(), 3, 1), FoldedBounds(n_folds=3, n_repeats=1)
    with config_context(enable_metadata_routing=True):
        asked = Groups(*parts, random_state=0).set_fit_request(groups=True)
        assert clone(asked).get_metadata_routing().fit.requests["groups"] is True
        assert ClearRegressor().set_fit_request(groups=True, calibration_groups=False)
        found = cross_validate(
            clone(asked), X, y, params={"groups": patient}, cv=GroupKFold(3), return_estimator=True
        )
    for fitted in found["estimator"]:
        assert len(fitted.labels_) == 60
        assert len(np.unique(fitted.labels_)) == 20
