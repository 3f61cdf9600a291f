"""clearbands forecast"""

from __future__ import annotations

import json
from typing import Annotated

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import load_model
from clearbands.apps.cli.options import AsJson, Model, option
from clearbands.rows.display import finite

TIMES = [2.0, 4.0, 10.0]


def forecast(
    model: Model,
    more: Annotated[
        list[float] | None,
        option("How many times the rows of the fit; repeat it for several.", "TIMES"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what more rows of the same kind would do to the intervals, without any data.

    The table has the mean width and the root mean squared error (rmse): today, with 2, 4 and 10
    times the rows, and with endless rows, where the width is noise alone. The value to come lies
    between low and high with a chance of about 80 %. The model learned this from its own learning
    curve when it was fitted.
    """
    curve = load_model(model).forecast(more or TIMES)
    if as_json:
        columns = {k: v for k, v in curve.columns().items() if not k.startswith("loss")}
        rows = [
            dict(zip(columns, map(finite, row), strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        answer = {"confidence_level": curve.confidence_level, "forecast": rows}
        console.print_line(json.dumps(answer | {"in_words": curve.sentence()}, indent=2))
        return
    console.print_line(repr(curve))
    if not curve.reason:
        console.print_line(curve.sentence())
