"""What the command says: results on standard output, the rest on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from clearbands.progress import Listener

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

EXPECTED = (ValueError, TypeError, OSError, ImportError)
STAGES = {
    "choosing a model": "Choosing a model",
    "epistemic": "Epistemic part",
    "aleatoric": "Aleatoric part",
}


def say(text: str) -> None:
    typer.echo(text)


def complain(text: str) -> None:
    typer.echo(text, err=True)


def sentence(error: Exception) -> str:
    """The error in one line; one that nobody foresaw says so."""
    text = " ".join(str(error).split())
    if isinstance(error, EXPECTED) and text:
        return f"Error: {text}"
    return f"Error: unexpected {type(error).__name__} ({text}); --debug shows where it happened."


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Stands in for `warnings.showwarning`."""
    complain(f"Warning: {' '.join(str(message).split())}")


@contextmanager
def progress_bar() -> Iterator[Listener | None]:
    """A listener that moves a bar per stage; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, Any] = {"": bars.add_task("Preparing (longer the first time)", total=None)}

    def listen(stage: str, done: int, total: int) -> None:
        if stage not in STAGES:  # a step inside a stage
            return
        if "" in tasks:
            bars.remove_task(tasks.pop(""))
        if stage not in tasks:
            tasks[stage] = bars.add_task(STAGES[stage], total=total)
        bars.update(tasks[stage], completed=done, total=total)

    with bars:
        yield listen


def show_fit(model: ClearRegressor, name: str) -> None:
    """Who saw which rows, what won, and the factors of every level."""
    leaderboard = getattr(model.epistemic_, "leaderboard_", None)
    chosen = f"{model.n_calibration_} calibrated"
    if model.calibration == "conformal":
        chosen = f"{model.n_validation_} chose lambda, {chosen}"
    pairs = {"rows": f"{model.n_train_} trained, {chosen}"}
    if leaderboard:
        pairs["best model"] = leaderboard[0]["model"]
    pairs["guarantee"] = model.guarantee_
    for j, level in enumerate(model.levels_):
        pairs[f"level {level:g}"] = (
            f"lambda {model.lambda_[j]:.3g}, gamma1 {model.gamma1_[j]:.3g}, "
            f"gamma2 {model.gamma2_[j]:.3g}"
        )
    show_pairs(f"Fitted on {name}", pairs)


def show_pairs(title: str, pairs: Mapping[str, str]) -> None:
    table = _table(title, show_header=False)
    for name, value in pairs.items():
        table.add_row(name, value)
    _print(table)


def show_scores(scores: Sequence[Mapping[str, float]], title: str) -> None:
    """A row per level, a column per metric."""
    table = _table(title)
    names = list(scores[0])
    for name in names:
        table.add_column("level" if name == "confidence_level" else name, justify="right")
    for row in scores:
        table.add_row(*(_number(name, row[name]) for name in names))
    _print(table)


def _number(name: str, value: float) -> str:
    return f"{value:g}" if name == "confidence_level" else f"{value:.4g}"


def _table(title: str, **options: Any) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    # Text and not a string: names of files and models may hold brackets, rich's markup.
    return Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, **options)


def _print(table: Any) -> None:
    from rich.console import Console

    Console(highlight=False, markup=False).print(table)
