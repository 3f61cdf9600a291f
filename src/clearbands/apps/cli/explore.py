"""clearbands explore"""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import ModelAndTable, load_model, read_for_models
from clearbands.apps.cli.options import (
    Data,
    DropMissingTarget,
    KnownTarget,
    Model,
    Port,
    TextFile,
    option,
)
from clearbands.apps.reading.choosing import check_columns

if TYPE_CHECKING:
    import numpy as np


def explore(
    model: Model,
    data: Data,
    text: TextFile,
    model2: Annotated[
        Path | None, typer.Argument(metavar="MODEL2", help="A second model to compare with.")
    ] = None,
    target: KnownTarget = None,
    drop_missing_target: DropMissingTarget = False,
    port: Port = 0,
    no_browser: Annotated[
        bool, option("Print the address of the page, and open no browser.")
    ] = False,
) -> None:
    """Open a page on this machine: move features and watch the band, see why rows are uncertain.

    It starts from the rows in DATA, scores csv files that are dropped on it, and answers to this
    machine alone.
    """
    from clearbands.apps.web import server

    server.check_extra()
    from clearbands.apps.web.explore import create_page, make_scene

    paths = [model] if model2 is None else [model, model2]
    alike = len({path.name for path in paths}) < len(paths)
    models = {str(path) if alike else path.name: load_model(path) for path in paths}
    reading = read_for_models(data, text, *models.values())
    opened = [ModelAndTable(fitted, reading) for fitted in models.values()]
    for each in opened:
        check_columns(reading.frame.columns, list(each.model.feature_names_in_), reading.name)
    if drop_missing_target:
        reading = opened[0].without_missing(target).reading
        opened = [ModelAndTable(each.model, reading) for each in opened]
    for each in opened:
        _ = each.X  # refuse a table that lacks columns, in one sentence
    y = _true_values(opened[0], target)
    seen = [] if y is None else [each.count_seen(y) for each in opened]
    page = create_page(make_scene(models, reading.frame, y, max(seen, default=0)))
    with server.listen("127.0.0.1", port) as listener:
        address = server.address_of(listener)
        console.print_line(f"The page is at {address} (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(address)  # the browser waits for the first answer
        server.run(page, listener, grace=5)


def _true_values(opened: ModelAndTable, target: str | None) -> np.ndarray | None:
    """Return the true values, if they are asked for or known for every row."""
    frame, known = opened.reading.frame, opened.origin.target
    if target is None and (known not in frame.columns or frame[known].null_count()):
        return None
    return opened.y(target)
