"""Model cards say what the model says elsewhere."""

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression

from clearbands import ClearClassifier
from clearbands.persistence.origin import record_origin
from clearbands.rows.display import number
from tests.toys import linear_clear, noisy_line


def test_a_card_says_what_when_how_good_and_how_to_load():
    X, y = noisy_line()
    frame = pl.DataFrame(X, schema=["a|b", "c"]).with_columns(town=pl.Series(["n", "s"] * 120))
    model = linear_clear(confidence_level=[0.9, 0.5]).fit(frame, y)
    model.origin_ = record_origin(frame, y, target="price", unit="EUR", data="houses.csv")
    card, unseen = model.card(name="houses.clear"), model.unseen_
    assert card.startswith("---\nlibrary_name: clearbands\n")
    for words in (
        "# Prediction intervals for price",
        "in EUR",
        "houses.csv",
        r"`a\|b`",
        "n, s",
        f"| 50 % | {100 * unseen.coverage[1]:.1f} % | {number(unseen.width[1])} EUR |",
        number(unseen.rmse_of_mean),
        "Asymptotic coverage. ",
        'clearbands.load("houses.clear")',
    ):
        assert words in card
    assert "\N{NO-BREAK SPACE}" not in card


def test_a_model_of_arrays_and_of_classes_has_one_as_well():
    X, y = noisy_line()
    assert "A row is 2 numbers" in linear_clear().fit(X, y).card(target="y")
    classes = ClearClassifier(LogisticRegression(), n_folds=3, n_repeats=1, random_state=0)
    card = classes.fit(X, np.where(y > 0, "up", "down")).card()
    assert "one of `down`, `up`" in card
    assert "clearbands.ClearClassifier" in card


def test_scores_of_unseen_rows_are_those_of_the_intervals():
    X, y = noisy_line()
    model = linear_clear(calibration="joint").fit(X[:160], y[:160], X_cal=X[160:], y_cal=y[160:])
    center, intervals = model.predict_interval(X[160:])
    unseen = model.unseen_
    assert unseen.n_rows == 80
    lower, upper = intervals[:, :, 0].T
    assert unseen.coverage == (np.mean((lower <= y[160:]) & (y[160:] <= upper)),)
    assert unseen.width == (np.median(upper - lower),)
    np.testing.assert_allclose(unseen.rmse, np.sqrt(np.mean((y[160:] - center) ** 2)))
    np.testing.assert_allclose(unseen.rmse_of_mean, np.std(y[160:]))
    assert unseen.lowest_bound == lower.min()


def test_names_in_a_card_are_neither_markup_nor_new_lines():
    X, y = noisy_line()
    frame = pl.DataFrame(X, schema=["<b>`x`\n# y", "c"])
    frame = frame.with_columns(town=pl.Series(["<img src=x>", "s"] * 120))
    card = linear_clear().fit(frame, y).card(target="<i>price\n# cost")
    assert "| `<b>x # y` | number |" in card
    assert "| &lt;img src=x>, s |" in card
    assert "# Prediction intervals for &lt;i>price # cost\n" in card
    assert "\n# y" not in card
