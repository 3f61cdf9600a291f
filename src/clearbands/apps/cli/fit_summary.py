"""The summary at the end of fit: how good the model is, what won, how long it took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearbands.apps.cli import console
from clearbands.persistence.origin import origin_of
from clearbands.rows import display

if TYPE_CHECKING:
    from clearbands.classifier import ClearClassifier
    from clearbands.regressor import ClearRegressor


def show_written(
    model: Any, data: Path, out: Path, seconds: float, *, verbose: bool = False
) -> None:
    """Show the result of a fit, and the file that it was written to."""
    is_classifier = hasattr(model, "classes_")
    pairs = _of_classes(model) if is_classifier else _of_numbers(model, verbose=verbose)
    lines = {name: words.replace(display.GAP, " ") for name, words in pairs.items()}
    console.show_pairs(f"Fitted on {console.title_of(data)} in {_time(seconds)}", lines)
    advice = None if is_classifier else support_advice(model)
    if advice is not None:
        console.print_error(f"Warning: {advice}")
    size = out.stat().st_size
    megabytes = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    console.print_line(f"Wrote {out} ({megabytes}).")


def _of_numbers(model: ClearRegressor, *, verbose: bool) -> dict[str, str]:
    from clearbands.selection.leaderboard import best_model

    unseen, unit = model.unseen_, origin_of(model).unit
    pairs = {}
    for level, coverage, width in zip(
        model.levels_.tolist(), unseen.coverage, unseen.width, strict=True
    ):
        promised = display.level(level)
        pairs[f"coverage at {promised}"] = (
            f"{display.percent(coverage, 1)} of {display.count(unseen.n_rows)} that the models "
            "judging them did not see"
        )
        pairs[f"typical width at {promised}"] = display.with_unit(width, unit)
    pairs["typical error"] = (
        f"{display.with_unit(unseen.rmse, unit)} (root mean square; predicting the mean of all "
        f"rows gives {display.number(unseen.rmse_of_mean)})"
    )
    best = best_model(model)
    if best is not None:
        pairs["best model"] = best
    pairs["rows"] = roles_of_rows(model)
    pairs["guarantee"] = model.guarantee_
    if verbose:
        pairs |= _factors(model)
    return pairs


def _factors(model: ClearRegressor) -> dict[str, str]:
    factors = zip(model.levels_.tolist(), model.lambda_, model.gamma1_, model.gamma2_, strict=True)
    return {
        f"level {level:g}": f"lambda {lam:.3g}, gamma1 {gamma1:.3g}, gamma2 {gamma2:.3g}"
        for level, lam, gamma1, gamma2 in factors
    }


def _of_classes(model: ClearClassifier) -> dict[str, str]:
    losses = [f"{board} {loss:.3g}" for board, loss in model.leaderboard_.items()]
    return {
        "rows": roles_of_rows(model),
        "models kept": f"{', '.join(model.models_)} ({len(model.members_)} members)",
        "unseen loss": f"{', '.join(losses)} nats per row",
        "constants": f"c1 {model.c1_:.3g}, c2 {model.c2_:.3g}",
        "guarantee": f"of the sets at {model.confidence_level:g}: {model.guarantee_}",
    }


def support_advice(model: ClearRegressor) -> str | None:
    """Return a sentence if only bounds are negative; None if not, or if the library has said it."""
    from clearbands.rows.targets import FEWEST

    unseen = model.unseen_
    is_said = unseen.is_often_negative and unseen.n_rows >= FEWEST
    if unseen.lowest_target < 0 or unseen.lowest_bound >= 0 or is_said:
        return None
    return (
        "No target is negative, but lower bounds go down to "
        f"{display.number(unseen.lowest_bound)}. If no target can be negative, "
        "'--support 0:' of fit keeps the bounds from going below 0."
    )


def roles_of_rows(model: Any) -> str:
    """Return how many rows trained, chose and calibrated."""
    if model.calibration_ == "cross":
        return (
            f"{model.n_train_:,} trained, {model.n_calibration_:,} of them calibrated by members "
            "that did not see them"
        )
    chosen = f"{model.n_calibration_:,} calibrated"
    if model.calibration_ == "conformal":
        what = "c1 and c2" if hasattr(model, "classes_") else "lambda"
        chosen = f"{model.n_validation_:,} chose {what}, {chosen}"
    return f"{model.n_train_:,} trained, {chosen}"


def _time(seconds: float) -> str:
    """Return a duration as people say it.

    >>> _time(3.21), _time(203)
    ('3.2 s', '3 min 23 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
