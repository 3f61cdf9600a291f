"""The words that answer on top of the page."""

from __future__ import annotations

import numpy as np

from clearbands.apps.report.facts import Facts
from clearbands.calibration.conformal import rows_needed
from clearbands.diagnostics.coverage import FALSE_ALARMS
from clearbands.diagnostics.diagnosis import lambda_words
from clearbands.models.monotone import directions_of
from clearbands.persistence.origin import exceeds_chance
from clearbands.prediction.glossary import ALEATORIC, EPISTEMIC
from clearbands.rows.display import count, level, number, percent, with_unit

MANY_UNFAMILIAR = 0.15  # the share of unfamiliar rows above which it is said; 5 % are ordinary


def verdict(facts: Facts) -> str:
    """Return the answer in one sentence."""
    diagnosis = facts.diagnosis
    if is_mostly_seen(facts):
        return cannot_tell("intervals")
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
    """Whether so many of the rows were in the fit that no number says much about new rows."""
    return exceeds_chance(facts.n_seen, len(facts.y))


def answer(facts: Facts) -> list[str]:
    """Return the answer in a few sentences: coverage, width, and what dominates."""
    cell, promised = facts.diagnosis.coverage, level(facts.confidence_level)
    if not facts.is_finite:
        return [f"{_too_few(facts)} The bounds are infinite and hold every value."]
    sentences = [
        f"{cell.n_covered:,} of {cell.n:,} true values lie inside their {promised} intervals.",
        f"A typical interval for {facts.target} is {with_unit(facts.typical_width, facts.unit)} "
        f"wide, where the true values range from {number(facts.y.min())} to "
        f"{number(facts.y.max())}.",
    ]
    if is_mostly_seen(facts):
        return sentences
    if cell.is_off:
        too_few = cell.coverage < facts.confidence_level
        aim = "before you rely on them" if too_few else "to make them shorter"
        sentences.append(f"Calibrate the model again on rows like these {aim}.")
    sentences.append(_what_dominates(facts))
    if facts.unfamiliar is not None and facts.unfamiliar.mean() > MANY_UNFAMILIAR:
        sentences.append(
            f"{percent(float(facts.unfamiliar.mean()))} of these rows are unlike those of the fit, "
            "where 5 % would be ordinary."
        )
    return sentences


def _what_dominates(facts: Facts) -> str:
    lambda_, edge = facts.diagnosis.lambda_, facts.diagnosis.lambda_edge
    share, outlook = facts.epistemic_share, getattr(facts.model, "outlook_", None)
    if outlook is not None:
        return _by_curve(facts)
    if lambda_ is not None and edge and share in (0, 1):
        sentences = lambda_words(lambda_, edge)
        return f"{sentences[:1].upper()}{sentences[1:]}"
    if facts.parts.mean_dominant == EPISTEMIC.plain:
        return (
            f"{percent(share)} of the mean width is {EPISTEMIC.plain} of the model: "
            f"{EPISTEMIC.remedy}, above all like those listed below, would help most."
        )
    return (
        f"{percent(1 - share)} of the mean width is {ALEATORIC.plain}: more rows alone would not "
        f"make the intervals much shorter, {ALEATORIC.remedy} might."
    )


def _by_curve(facts: Facts) -> str:
    """Say what ten times the rows would do, and how much of the width is noise or ignorance."""
    forecast, parts = facts.model.forecast((10,)), facts.parts
    if forecast.reason:
        return forecast.reason
    share = facts.epistemic_share
    low, high = parts.share_low or 0.0, parts.share_high or 0.0
    return (
        f"{forecast.sentence()} {percent(share)} of the mean width is {EPISTEMIC.plain} "
        f"({100 * low:.0f} to {percent(high)}), which more rows or a better model would take "
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
    """Say which rows weighed noise and ignorance."""
    model = facts.model
    if model.calibration_ == "cross":
        return (
            f"the {count(model.n_calibration_)} of the fit, each judged by members that did not "
            "see it"
        )
    if model.calibration_ == "conformal":
        return count(model.n_validation_, "held-out row")
    return f"the {count(model.n_calibration_, 'calibration row')}"


def how_lambda_won(facts: Facts) -> str:
    """Say whether lambda won by its loss alone, or whether ignorance was left a least share."""
    calibrator, path = facts.model.calibrator_, facts.path
    least = getattr(calibrator, "least_epistemic", 0.0)
    usual = getattr(calibrator, "usual_epistemic", 0.0)
    is_raised = path is not None and path.chosen.loss > (1 + 1e-9) * np.nanmin(path.losses)
    if not is_raised or not max(least, usual):
        return "the value with the smallest quantile loss on these rows won."
    told_apart = (
        f", or up to {percent(usual)} if these rows cannot tell the difference"
        if usual > least
        else ""
    )
    return (
        "the value with the smallest quantile loss on these rows won, among those that leave "
        f"{EPISTEMIC.plain} at least {percent(least)} of the mean width{told_apart}. With less, "
        "intervals would hardly grow where there are no data."
    )


def directions(facts: Facts) -> str:
    """Say with which columns the predictions must rise or fall; "" if with none."""
    ways = directions_of(facts.model)
    return " and ".join(
        f"{verb} with {_joined_names([name for name, way in ways.items() if way == sign])}"
        for sign, verb in ((1, "rise"), (-1, "fall"))
        if sign in ways.values()
    )


def _joined_names(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


KEEP_SOME = "Make the report on rows that took no part in the fit; fit --report keeps some."
COME_LATER = "Give rows that came after those of the fit."


def warning(n_seen: int, n: int, advice: str = KEEP_SOME) -> str:
    """Return the warning that a model has seen n_seen of n rows; "" where these are few."""
    if not exceeds_chance(n_seen, n):
        return ""
    which = f"All {count(n)}" if n_seen == n else f"{n_seen:,} of the {count(n)}"
    return (
        f"{which} of this page took part in the fit. A model predicts rows that it has seen "
        f"better than new rows, so the numbers below say little about new rows. {advice}"
    )


def cannot_tell(what: str) -> str:
    """Say in one sentence that rows of the fit tell nothing of the intervals or the sets.

    >>> cannot_tell("intervals")
    'These rows cannot tell whether the intervals hold: the model has seen them.'
    """
    return f"These rows cannot tell whether the {what} hold: the model has seen them."
