"""The answer on top of the page and the promise at its end, in words."""

from __future__ import annotations

import numpy as np

from clearbands.apps.report import seen
from clearbands.apps.report.facts import Facts
from clearbands.calibration.conformal import rows_needed
from clearbands.calibration.guarantee import Guarantee, named
from clearbands.diagnostics.coverage import FALSE_ALARMS
from clearbands.diagnostics.diagnosis import lambda_words
from clearbands.models.monotone import directions_of
from clearbands.persistence.origin import are_many
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import count, level, number, percent, with_unit

MANY_UNFAMILIAR = 0.15  # of the rows, where ordinary ones are 5 %


def verdict(facts: Facts) -> str:
    """The answer in one sentence."""
    diagnosis = facts.diagnosis
    if is_mostly_seen(facts):
        return seen.verdict("intervals")
    if not facts.is_finite:
        return f"No finite interval is valid at {level(facts.confidence_level)}."
    if diagnosis.coverage.is_off:
        if diagnosis.coverage.coverage < facts.confidence_level:
            return "The intervals promise more than they hold on these rows."
        return "The intervals are wider than they need to be on these rows."
    if diagnosis.off or diagnosis.hsic.p_value < FALSE_ALARMS:
        return "The intervals keep their promise on the whole, but not everywhere."
    return "The intervals keep their promise on these rows."


def is_mostly_seen(facts: Facts) -> bool:
    """Whether so many of the rows were in the fit that no number says much about new ones."""
    return are_many(facts.n_seen, len(facts.y))


def answer(facts: Facts) -> list[str]:
    """The same in a few more words: coverage, width, what dominates."""
    cell, asked = facts.diagnosis.coverage, level(facts.confidence_level)
    if not facts.is_finite:
        return [f"{_too_few(facts)} The bounds are infinite and hold every value."]
    said = [f"{cell.n_covered:,} of {cell.n:,} true values lie inside their {asked} intervals."]
    said.append(
        f"A typical interval for {facts.target} is {with_unit(facts.typical_width, facts.unit)} "
        f"wide, where the true values range from {number(facts.y.min())} to "
        f"{number(facts.y.max())}."
    )
    if is_mostly_seen(facts):
        return said
    if cell.is_off:
        too_few = cell.coverage < facts.confidence_level
        aim = "before you rely on them" if too_few else "to make them shorter"
        said.append(f"Calibrate the model again on rows like these {aim}.")
    said.append(_what_dominates(facts))
    if facts.unfamiliar is not None and facts.unfamiliar.mean() > MANY_UNFAMILIAR:
        said.append(
            f"{percent(float(facts.unfamiliar.mean()))} of these rows are unlike those of the fit, "
            "where 5 % would be ordinary."
        )
    return said


def _what_dominates(facts: Facts) -> str:
    lambda_, edge = facts.diagnosis.lambda_, facts.diagnosis.lambda_edge
    share, outlook = facts.epistemic_share, getattr(facts.model, "outlook_", None)
    if outlook is not None:
        return _by_curve(facts)
    if lambda_ is not None and edge and share in (0, 1):
        said = lambda_words(lambda_, edge)
        return f"{said[:1].upper()}{said[1:]}"
    if share > 0.5:
        return (
            f"{percent(share)} of the mean width is {EPISTEMIC.plain} of the model: "
            f"{EPISTEMIC.remedy}, above all like those listed below, would help most."
        )
    return (
        f"{percent(1 - share)} of the mean width is {ALEATORIC.plain}: more rows alone would not "
        f"make the intervals much shorter, {ALEATORIC.remedy} might."
    )


def _by_curve(facts: Facts) -> str:
    """What ten times the rows would do, and how much of the width is noise or ignorance."""
    forecast, parts = facts.model.forecast((10,)), facts.parts
    if forecast.reason:
        return forecast.reason
    share = facts.epistemic_share
    low, high = parts.share_low or 0.0, parts.share_high or 0.0
    return (
        f"{forecast.sentence()} {percent(share)} of the mean width is {EPISTEMIC.plain} "
        f"({percent(low)} to {percent(high)}), which more rows or a better model would take "
        f"away; the rest is {ALEATORIC.plain}, the width of the best possible interval from these "
        "columns."
    )


def _too_few(facts: Facts) -> str:
    needed = rows_needed(facts.confidence_level)
    n = facts.model.n_calibration_
    if n < needed:
        return f"{count(n, 'calibration row')} are too few; the level needs at least {needed:,}."
    return "Too many calibration rows lie off the center where both widths are zero."


def who_chose_lambda(facts: Facts) -> str:
    """Which rows weighed the two parts."""
    model = facts.model
    if model.calibration_ == "cross":
        return f"The {count(model.n_calibration_)} of the fit, unseen by what judged them,"
    if model.calibration_ == "conformal":
        return count(model.n_validation_, "held-out row")
    return f"The {count(model.n_calibration_, 'calibration row')}"


def how_lambda_won(facts: Facts) -> str:
    """By its loss alone, or the least weight that leaves ignorance its part."""
    calibrator, path = facts.model.calibrator_, facts.path
    least = getattr(calibrator, "least_epistemic", 0.0)
    usual = getattr(calibrator, "usual_epistemic", 0.0)
    is_raised = path is not None and path.chosen.loss > (1 + 1e-9) * np.nanmin(path.losses)
    if not is_raised or not max(least, usual):
        return "the least quantile loss on them wins."
    told_apart = (
        f" and, as long as these rows cannot tell the difference, up to {percent(usual)}"
        if usual > least
        else ""
    )
    return (
        f"the least quantile loss on them wins among those that leave {EPISTEMIC.plain} at least "
        f"{percent(least)} of the mean width{told_apart}. With less, intervals would hardly grow "
        "where there are no data."
    )


def rows_of_the_fit(facts: Facts) -> str:
    """How many rows each step saw."""
    model = facts.model
    if model.calibration_ == "cross":
        return f"{model.n_train_:,} trained; {model.n_calibration_:,} of them calibrated, unseen"
    chose = f"{model.n_validation_:,} chose λ, " if model.calibration_ == "conformal" else ""
    return f"{model.n_train_:,} trained, {chose}{model.n_calibration_:,} calibrated"


WITHOUT_BETA = (Guarantee.UNKNOWN, Guarantee.COPIES, Guarantee.TIME, Guarantee.ADAPTIVE)
"""Where calibration rows and new ones are not exchangeable, their coverage follows no known law."""


def held(facts: Facts) -> list[str]:
    """What holds for the coverage."""
    asked, expected = level(facts.confidence_level), facts.diagnosis.expected
    rows = count(facts.diagnosis.n_calibration or 0, "calibration row")
    said = [_guarantee(facts, asked, rows)]
    if expected is not None and Guarantee.in_text(facts.model.guarantee_) not in WITHOUT_BETA:
        said.append(
            f"Given these {rows}, the coverage of all new rows is expected between "
            f"{percent(expected.low, 1)} and {percent(expected.high, 1)} in 19 of 20 cases"
            f"{'.' if facts.model.calibration_ == 'conformal' else ', about.'}"
        )
    return said + _sharing(facts) + _directions(facts)


def _sharing(facts: Facts) -> list[str]:
    """Which groups the level may not hold in."""
    groups = getattr(facts.model.calibrator_, "sharing_", ())
    if not groups:
        return []
    return [f"Not within groups of few rows, which share those of others: {named(groups)}."]


def _directions(facts: Facts) -> list[str]:
    """What the model was told of columns, and therefore keeps."""
    told = directions_of(facts.model)
    ways = [
        f"{verb} with {_listed([name for name, way in told.items() if way == sign])}"
        for sign, verb in ((1, "rise"), (-1, "fall"))
        if sign in told.values()
    ]
    if not ways:
        return []
    return [
        f"The prediction and both bounds {' and '.join(ways)}, or stay as they are, in rows that "
        "are alike in all else: so the model was told when it was fitted. Noise is not told apart "
        "along such columns."
    ]


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _guarantee(facts: Facts, asked: str, rows: str) -> str:
    calibration = facts.model.calibration_
    guarantee = Guarantee.in_text(facts.model.guarantee_)
    if guarantee == Guarantee.ADAPTIVE:
        return (
            f"The share of updated rows inside the intervals of their time approaches {asked}, "
            "whatever the rows are, since the level adapts to what was missed. Nothing is promised "
            "for one given stretch of time."
        )
    if guarantee == Guarantee.TIME:
        return (
            f"New rows lie inside their intervals with a probability close to {asked} while they "
            f"are like the {rows}, each of which was judged by what was known before it. Rows that "
            "follow each other are not drawn independently, so nothing is guaranteed; `update` "
            "keeps the coverage when they change."
        )
    if guarantee == Guarantee.UNKNOWN:
        return (
            "Nothing: models that were fitted elsewhere may have seen the rows that calibrated "
            "them. Give rows that they have not seen as X_cal and y_cal."
        )
    if guarantee == Guarantee.COPIES:
        return (
            "Nothing: rows that calibrated seem to be copies of rows that trained. Fit the model "
            "again without the copies."
        )
    if calibration == "conformal":
        return (
            f"New rows that are drawn like the {rows} lie inside their intervals with a "
            f"probability of at least {asked}, averaged over calibration sets and rows. This holds "
            "for any number of rows and any quality of the models: lambda was chosen on other rows."
        )
    if calibration == "cross":
        return (
            f"New rows that are drawn like the {rows} lie inside their intervals with a "
            f"probability close to {asked}: every row was judged by members that did not see it. "
            "New rows are judged by all members, and the same rows chose the models and the "
            'factors, so nothing is guaranteed in finite samples; calibration="conformal" gives '
            "that guarantee."
        )
    return (
        f"The coverage of new rows that are drawn like the {rows} approaches {asked} as these "
        "become many. The same rows chose lambda and the factor of the width, so nothing is "
        'guaranteed in finite samples; calibration="conformal" gives that guarantee.'
    )


def not_held(facts: Facts) -> list[str]:
    """What nobody should read into it."""
    return [
        f"{level(facts.confidence_level)} in every group, range or single row: the promise is an "
        "average over rows. The table of coverage by group shows how far it carries.",
        "Anything for rows that come from elsewhere than the calibration rows: another time, "
        "place, or way of measuring.",
        f"The split into {ALEATORIC.plain} and {EPISTEMIC.plain}: only their sum is calibrated. "
        "Their shares are estimates, and lambda weighs them by what predicts the errors best.",
        "Any of the numbers above, if rows of this report took part in the fit.",
    ]
