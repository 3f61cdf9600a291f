"""A model card in Markdown, as model hubs show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clearbands import __version__
from clearbands.apps.reading.features import Feature, features_of, row_features
from clearbands.calibration.guarantee import Guarantee
from clearbands.persistence.origin import origin_of
from clearbands.rows import display


def make_card(model: Any, *, name: str = "model.clear", target: str = "") -> str:
    """Write what the model predicts, how good it is, where it breaks and what is guaranteed."""
    is_classifier = hasattr(model, "classes_")
    origin = origin_of(model)
    target = _one_line(target or origin.target or "the target")
    what = "Classes" if is_classifier else "Prediction intervals"
    sections = [
        _front_matter(is_classifier),
        f"# {what} for {target}",
        *_about(model, origin, target),
        "## How good it is",
        *(_class_scores(model) if is_classifier else _scores(model, origin)),
        "## Where it breaks",
        *_limits(model, is_classifier),
        "## What is guaranteed",
        f"{model.guarantee_[0].upper()}{model.guarantee_[1:]}. "
        f"{Guarantee.in_text(model.guarantee_).in_words}",
        "## How to load it",
        *_loading(name, is_classifier),
    ]
    return "\n\n".join(sections).replace(display.GAP, " ") + "\n"


def _front_matter(is_classifier: bool) -> str:
    task = "tabular-classification" if is_classifier else "tabular-regression"
    tags = (task, "prediction-intervals", "uncertainty", "conformal-prediction")
    return "\n".join(
        ["---", "library_name: clearbands", "tags:", *(f"- {tag}" for tag in tags), "---"]
    )


def _about(model: Any, origin: Any, target: str) -> Iterator[str]:
    unit = f" in {origin.unit}" if origin.unit else ""
    if hasattr(model, "classes_"):
        named = ", ".join(f"`{label}`" for label in model.classes_.tolist())
        yield f"It predicts **{target}**, one of {named}."
    else:
        levels = ", ".join(display.level(level) for level in model.levels_.tolist())
        yield (
            f"It predicts **{target}**{unit}, with intervals at {levels}, and says of every row "
            "how much of the interval is noise and how much is ignorance."
        )
    rows = f"{model.n_train_:,} rows trained it and {model.n_calibration_:,} rows calibrated it"
    if model.calibration_ == "cross":
        rows = f"{model.n_train_:,} rows trained and calibrated it"
    if origin.fitted:
        rows += f" ({origin.data or 'data'}, fingerprint `{origin.fingerprint}`, {origin.fitted})"
    yield f"{rows}. It is a `{type(model).__name__}` of clearbands {__version__}."
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        yield f"A row is {model.n_features_in_} numbers, in the order of the fit."
        return
    features = row_features(model) if origin.calibration_groups else features_of(model)
    yield _table(("column", "holds", "values"), map(_column, features))


def _column(feature: Feature) -> tuple[str, str, str]:
    if feature.categories:
        values = display.first_of(feature.categories)
    else:
        values = "" if feature.typical is None else f"typically {_value_words(feature.typical)}"
    return f"`{feature.name.replace('`', '')}`", feature.kind, values


def _value_words(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return display.number(float(value)) if is_number else str(value)


def _scores(model: Any, origin: Any) -> Iterator[str]:
    unseen, unit = model.unseen_, origin.unit
    yield (
        f"The scores come from {display.count(unseen.n_rows)}, each judged by members that did not "
        "see it. The same rows set the width of the intervals, so their coverage is near the level "
        "by construction: `clearbands evaluate` and `clearbands report` test it on other rows."
    )
    yield _table(
        ("level", "coverage", "typical width"),
        (
            (display.level(level), display.percent(coverage, 1), display.with_unit(width, unit))
            for level, coverage, width in zip(
                model.levels_.tolist(), unseen.coverage, unseen.width, strict=True
            )
        ),
    )
    yield (
        f"The root mean squared error of the prediction is {display.with_unit(unseen.rmse, unit)}; "
        f"a model that always says the mean has {display.with_unit(unseen.rmse_of_mean, unit)}."
    )


def _class_scores(model: Any) -> Iterator[str]:
    if not model.leaderboard_:
        yield "Its members were trained elsewhere: score it with `clearbands evaluate`."
        return
    yield "The loss on rows that members did not see, in nats per row:"
    board = model.leaderboard_.items()
    yield _table(("model", "loss"), ((each, display.number(loss)) for each, loss in board))


def _limits(model: Any, is_classifier: bool) -> Iterator[str]:
    limits = [
        "The level holds on average over rows like those of the fit, not for every group of them: "
        "`diagnose` finds groups where it does not.",
        "Rows unlike those of the fit, by a value outside the range of its column or a category "
        "that was never seen, are marked in the column `unfamiliar` of `predict_frame`."
        if model.familiar_ is not None
        else "It cannot tell rows that are unlike those of the fit.",
    ]
    if getattr(model, "split", "random") == "random":
        limits.append(
            "It takes new rows to be like the old ones: when they drift, coverage falls. "
            "`clearbands monitor` watches that."
        )
    if not is_classifier and model.unseen_.lowest_target >= 0 > model.unseen_.lowest_bound:
        lowest = display.number(model.unseen_.lowest_bound)
        limits.append(f"No target was negative, but lower bounds go down to {lowest}.")
    if not is_classifier and not np.all(np.isfinite(model.unseen_.width)):
        limits.append(
            "Some intervals are infinite: the calibration rows are too few for the level."
        )
    yield "\n".join(f"- {words}" for words in limits)


def _loading(name: str, is_classifier: bool) -> Iterator[str]:
    kind = ", clearbands.ClearClassifier" if is_classifier else ""
    code = (
        "```python\n"
        "import clearbands\n\n"
        f'model = clearbands.load("{name}"{kind})  # runs no code from the file\n'
        "frame = model.predict_frame(X_new)\n"
        "```"
    )
    yield code
    yield f"Or without Python: `clearbands predict {name} new.csv --out predictions.csv`."


def _table(names: Sequence[str], rows: Any) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(
        "| " + " | ".join(_one_line(str(cell)).replace("|", "\\|") for cell in line) + " |"
        for line in lines
    )


def _one_line(text: str) -> str:
    """Return a name without markup or line breaks, whatever it holds."""
    plain = " ".join(text.split())
    return plain if plain.startswith("`") else plain.replace("<", "&lt;")
