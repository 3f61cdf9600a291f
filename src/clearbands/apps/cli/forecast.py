"""clearbands forecast"""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.models import load_model
from clearbands.apps.cli.options import Model

TIMES = [2.0, 4.0, 10.0]


def forecast(
    model: Model,
    more: Annotated[
        list[float] | None,
        typer.Option("--more", metavar="TIMES", help="So many times the rows; repeatable."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON for machines; infinitely many rows are null.")
    ] = False,
) -> None:
    """Say what more rows of the same kind would do to the intervals, without any data.

    The mean width and the root mean squared error (rmse) of now, with 2, 4 and 10 times the rows,
    and without end, where the width is noise alone. What comes lies between low and high with a
    chance of about 80 %. The model learned it from its own learning curve when it was fitted.
    """
    found = load_model(model).forecast(more or TIMES)
    names = [name for name in found.columns() if not name.startswith("loss")]
    rows = [
        {name: float(found.columns()[name][line]) for name in names}
        for line in range(len(found.rows))
    ]
    if as_json:
        lines = [{k: v if math.isfinite(v) else None for k, v in row.items()} for row in rows]
        answer = {"confidence_level": found.confidence_level, "forecast": lines}
        console.say(json.dumps(answer | {"in_words": found.sentence()}, indent=2))
        return
    console.say(repr(found))
    if not found.reason:
        console.say(found.sentence())
