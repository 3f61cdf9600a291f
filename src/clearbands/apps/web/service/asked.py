"""What a request asks for in its address: `/predict?level=0.8&quantile=0.1&above=400000`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.values import show
from clearbands.calibration.conformal import rows_needed
from clearbands.calibration.distribution import SIDES
from clearbands.prediction.questions import Questions, name_of, tails_in
from clearbands.rows.checks import NEAREST
from clearbands.rows.levels import same_level

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

MOST = 100  # of values of one kind in one request


def parameters(highest: float) -> list[dict[str, Any]]:
    """As OpenAPI describes them; `highest` is the highest level that the model can answer."""
    most = math.floor(highest / NEAREST) * NEAREST
    tail = math.ceil((1 - most) / 2 / NEAREST) * NEAREST
    least = math.ceil(1000 * (1 - most)) / 1000  # that a bound by itself may leave out
    tails = f"{max(0.02, least):g}:{max(0.08, least):g}"
    level = {"type": "number", "minimum": NEAREST, "maximum": most}
    quantile = {"type": "number", "minimum": tail, "maximum": 1 - tail}
    said: dict[str, tuple[str, dict[str, Any]]] = {
        "level": (
            "A confidence level other than those of the fit; repeat it for several.",
            _several(level),
        ),
        "side": (
            "lower or upper: only that bound is finite, and it holds at the level by itself. The "
            "parts of the width are still those of the interval with both bounds.",
            {"type": "string", "enum": list(SIDES), "default": "both"},
        ),
        "tails": (
            f"Instead of a level, the shares of targets below and above, such as {tails}. The "
            "parts of the width are those of the interval at 1 - both.",
            {"type": "string"},
        ),
        "quantile": (
            "The value that this share of the targets does not exceed; repeat it for several.",
            _several(quantile),
        ),
        "above": (
            "The chance that the target exceeds this value; repeat it for several.",
            _several({"type": "number"}),
        ),
        "below": ("The chance that the target is below this value.", _several({"type": "number"})),
    }
    return [
        {"name": name, "in": "query", "required": False, "description": words, "schema": schema}
        for name, (words, schema) in said.items()
    ]


def _several(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "maxItems": MOST}


NAMES = tuple(parameter["name"] for parameter in parameters(0.5))


def check_enough(questions: Questions, model: ClearRegressor) -> None:
    """422 for levels that the calibration rows are too few for, about which a log would warn."""
    bands = getattr(model, "any_level_", None)
    if bands is None:
        return  # the model says itself why it answers at the levels of the fit alone
    asked = [level for level in questions.levels if same_level(model.levels_, level) is None]
    asked += [2 * abs(quantile - 0.5) for quantile in questions.quantiles]
    asked += [1 - share for share in questions.tails or () if share > 0]
    highest = max(asked, default=0.0)
    if highest > bands.highest:
        raise Refusal(
            422,
            f"A level of {highest:.9g} needs {rows_needed(highest):,} calibration rows, and the "
            f"model has {len(bands.positions):,}: ask for levels up to {bands.highest:.4g} and "
            "for quantiles inside them.",
        )


def questions_in(given: Iterable[tuple[str, str]]) -> Questions:
    """The questions in the names and values of an address, or 422 that says what is wrong."""
    found: dict[str, list[str]] = {}
    for name, value in given:
        if name not in NAMES:
            known = ", ".join(NAMES)
            raise Refusal(422, f"/predict takes {known} in its address, got {show(name)}.")
        found.setdefault(name, []).append(value)
        if len(found[name]) > MOST:
            raise Refusal(422, f"{name} may be given at most {MOST} times in one request.")
    try:
        return Questions(
            levels=tuple(dict.fromkeys(_numbers("level", found))),
            side=_one("side", found, SIDES, "both"),
            quantiles=_numbers("quantile", found),
            above={name_of(value): value for value in _numbers("above", found)},
            below={name_of(value): value for value in _numbers("below", found)},
            tails=tails_in("tails", found["tails"][-1]) if "tails" in found else None,
        )
    except (ValueError, TypeError) as error:
        raise Refusal(422, str(error)) from error


def _numbers(name: str, found: Mapping[str, list[str]]) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in found.get(name, ()))
    except ValueError:
        wrong = next(value for value in found[name] if not _is_number(value))
        raise ValueError(f"{name} must be a number, got {show(wrong)}.") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _one(name: str, found: Mapping[str, list[str]], allowed: Iterable[str], default: str) -> str:
    values = found.get(name, [default])
    if len(values) == 1 and values[0] in allowed:
        return values[0]
    raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {show(', '.join(values))}.")
