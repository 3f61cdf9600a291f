"""The page about classes: what it says is so, and other people's text stays text."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from clearbands.apps.report.classes import gather_class_facts
from clearbands.apps.report.row_lists import rows_to_look_at

pytest.importorskip("jinja2")


def rows(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = pd.DataFrame(rng.normal(size=(n, 2)) + 2 * np.eye(3)[y][:, :2], columns=["a", "<b>"])
    return X, np.array(["x", "<script>", "z"])[y]


@pytest.fixture(scope="module")
def model():
    model = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=2, random_state=0)
    return model.fit(*rows(200, 0))


def test_the_page_counts_right(model):
    X, y = rows(150, 1)
    facts = gather_class_facts(model, X, y, target="kind")
    sets = model.predict_set(X)
    covered = sets[np.arange(150), model.positions(y)].sum()
    page = model.report(X, y, target="kind", by=np.arange(150) % 2).html
    assert f"{covered} of 150 true classes are in their" in page
    assert facts.confusion().sum() == 150
    assert np.trace(facts.confusion()) == (model.predict(X) == y).sum()
    assert sum(right.n for *_, right in facts.sureness()) == 150
    assert facts.scores["nll"] < facts.scores_of_shares["nll"]
    assert "Group" in page
    collect, measure = rows_to_look_at(facts.bits, facts.epistemic_share)
    assert collect
    assert measure
    assert not set(collect) & set(measure)


def test_names_of_classes_and_columns_are_escaped(model, tmp_path):
    report = model.report(*rows(60, 2))
    assert "<script>" not in report.html
    assert "&lt;script&gt;" in report.html
    assert "&lt;b&gt;" in report.html
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == report.html


def test_classes_that_were_swapped_break_the_promise(model):
    X, y = rows(150, 3)
    wrong = np.where(y == "x", "z", np.where(y == "z", "x", y))
    assert "promise more than they hold" in model.report(X, wrong).html
    assert "promise more than they hold" not in model.report(X, y).html


def test_too_few_rows_are_refused(model):
    with pytest.raises(ValueError, match="A report needs at least"):
        model.report(*rows(1, 0))
