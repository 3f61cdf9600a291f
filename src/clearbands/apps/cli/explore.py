"""clearbands explore"""

from __future__ import annotations

import webbrowser
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.models import count_seen, features_in, load_model, origin_of, read_for
from clearbands.apps.cli.options import (
    Data,
    Decimal,
    Encoding,
    KnownTarget,
    Model,
    Port,
    Separator,
    asked_of,
)
from clearbands.apps.reading.choosing import take_target
from clearbands.apps.reading.reading import Reading

if TYPE_CHECKING:
    import numpy as np

    from clearbands.regressor import ClearRegressor


def explore(
    model: Model,
    data: Data,
    model2: Annotated[
        Path | None, typer.Argument(metavar="MODEL2", help="A second model, to compare.")
    ] = None,
    target: KnownTarget = None,
    port: Port = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only say where the page is.")
    ] = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Open a page on this machine: move features and watch the band, see why rows are uncertain.

    It starts from the rows in DATA, scores csv files that are dropped on it, and answers to this
    machine alone.
    """
    from clearbands.apps.web import server

    server.check_extra()
    from clearbands.apps.web.explore import create_page, make_scene

    asked = asked_of(separator, decimal, encoding)
    paths = [model] if model2 is None else [model, model2]
    alike = len({path.name for path in paths}) < len(paths)
    models = {str(path) if alike else path.name: load_model(path) for path in paths}
    reading = read_for(data, asked, *models.values())
    for fitted in models.values():
        features_in(fitted, reading)
    truth = _truth(models.values(), reading, target)
    seen = [
        count_seen(fitted, features_in(fitted, reading), truth)
        for fitted in models.values()
        if truth is not None
    ]
    page = create_page(make_scene(models, reading.frame, truth, max(seen, default=0)))
    listener = server.listen("127.0.0.1", port)
    address = server.address_of(listener)
    console.say(f"The page is at {address} (Ctrl-C ends it)")
    if not no_browser:
        webbrowser.open(address)  # it waits for the first answer
    server.run(page, listener, grace=5)


def _truth(
    models: Iterable[ClearRegressor], reading: Reading, target: str | None
) -> np.ndarray | None:
    """The true values, if they are asked for or there for every row."""
    if target is not None:
        return take_target(reading, target)
    names = [origin.target for origin in map(origin_of, models) if origin is not None]
    there = [name for name in names[:1] if name in reading.frame.columns]
    if not there or reading.frame[there[0]].null_count():
        return None
    return take_target(reading, there[0])
