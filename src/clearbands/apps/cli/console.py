"""The output of the command: results on standard output, the rest on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clearbands.engine.progress import Listener
from clearbands.rows import display

if TYPE_CHECKING:
    from rich.table import Table

    from clearbands.apps.reading.inspection import ColumnSummary
    from clearbands.apps.reading.reading import Reading

MOST_FOLDED = 1_000  # with more columns than this, a table has unbroken lines
EXPECTED = (ValueError, TypeError, OSError, ImportError)
STAGES = {
    "choosing a model": "Choosing a model",
    "choosing a center": "Choosing a center",
    "pairs": "Pairs of parts",
    "epistemic": "Epistemic part",
    "aleatoric": "Aleatoric part",
    "measuring the learning curve": "Learning curve",
    "predicting": "Predicting",
    "trying logistic": "Trying lines",
    "trying trees": "Trying trees",
    "members of logistic": "Members with lines",
    "members of trees": "Members with trees",
    "first pass": "Taking a sample",
    "second pass": "Writing bins",
    "unseen rows": "Rows unseen by members",
}
HEADINGS = {
    "confidence_level": "level",
    "picp": "coverage\n(PICP)",
    "niw": "mean width / range\n(NIW)",
    "nciw": "calibrated width / range\n(NCIW)",
    "quantile_loss": "quantile loss",
    "interval_score": "interval score",
    "nll": "negative log-likelihood\n(NLL)",
    "brier": "Brier score",
    "ece": "calibration error\n(ECE)",
    "set_size": "mean size of sets",
}
"""Headings of the columns of `evaluate`, with the abbreviations of the paper."""


def print_line(text: str) -> None:
    typer.echo(text)


def print_text(text: str) -> None:
    """Write text as it is to standard output."""
    typer.echo(text, nl=False)


def print_error(text: str) -> None:
    typer.echo(text, err=True)


def sentence(error: Exception) -> str:
    """Return the error in one line, which says so if nobody expected it."""
    text = " ".join(str(error).split())
    if isinstance(error, EXPECTED) and text:
        return f"Error: {text}"
    return f"Error: unexpected {type(error).__name__} ({text}); --debug shows where it happened."


IN_OPTIONS = {
    "support=(0, None)": "--support 0:",
    'target_transform="log"': "--target-transform log",
    "whole_numbers=True": "--whole-numbers",
    "let sample_weight say": "let --weight say",
    "by labels in groups": "with --groups COLUMN",
}
"""Python code in warnings of the library, and the options of the command that replace it."""


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning in one line; this replaces `warnings.showwarning`."""
    words = " ".join(str(message).split())
    for code, option in IN_OPTIONS.items():
        words = words.replace(code, option)
    print_error(f"Warning: {words}")


@contextmanager
def progress_bar() -> Iterator[Listener | None]:
    """Yield a listener that moves a bar and shows the time left; None if nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    from clearbands.engine.progress_bar import ProgressBar, in_words

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bars.add_task("Preparing (longer the first time)", total=None, left="")

    class RichBar(ProgressBar):
        """A progress bar that rich draws."""

        stage = ""

        def __call__(self, stage: str, done: int, total: int) -> None:
            if self.note(stage, done, total):
                self.stage = STAGES.get(stage, self.stage)
                _, share, seconds = self.look()
                left = "" if seconds is None else f"passed, {in_words(seconds)} left"
                bars.update(task, description=self.stage, completed=share, total=1.0, left=left)
            elif stage in STAGES and not self.share:
                bars.update(task, description=STAGES[stage], completed=done, total=total)

    with bars:
        yield RichBar()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that work goes on while nothing can be counted, if anybody would see it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def title_of(data: Path) -> str:
    """Return the name of a table for titles."""
    return "Standard input" if str(data) == "-" else data.name


def show_reading(reading: Reading, columns: Sequence[ColumnSummary], title: str) -> None:
    """Show how a table was read, in one line per kind of column."""
    pairs = {"as": reading.in_words}
    for kind in dict.fromkeys(column.kind for column in columns if not column.is_blank):
        pairs[kind] = display.first_of([column.name for column in columns if column.kind == kind])
    gaps = [c for c in columns if c.n_missing and not c.is_blank]
    if gaps:
        pairs["gaps"] = display.first_of(
            [f"{column.name} ({column.n_missing:,})" for column in gaps]
        )
    blank = [column.name for column in columns if column.is_blank]
    if blank:
        pairs["without values"] = display.first_of(blank)
    show_pairs(title, pairs)


def show_columns(columns: Sequence[ColumnSummary], title: str) -> None:
    """Show one line per column of a table."""
    heading = ("column", "kind", "gaps", "distinct", "values", "remark")
    rows = [
        (
            c.name,
            c.kind,
            f"{c.n_missing:,}" if c.n_missing else "",
            f"{c.n_distinct:,}" if c.n_distinct >= 0 else "",
            c.values,
            "; ".join(words for words in (c.remark, c.hint) if words),
        )
        for c in columns
    ]
    if len(rows) > MOST_FOLDED:
        print_line(title)
        _say_lines([heading, *rows])
        return
    table = _table()
    for name in heading:
        table.add_column(
            name,
            justify="right" if name in ("gaps", "distinct") else "left",
            overflow="fold",
            no_wrap=name in ("column", "kind"),  # a name that is broken cannot be copied
        )
    for row in rows:
        table.add_row(*row)
    _print(title, table)


def _say_lines(rows: Sequence[tuple[str, ...]]) -> None:
    """Print one unbroken line per row, which is easy to search."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in rows)
    print_text("".join("  ".join(cells).replace("\n", " ").rstrip() + "\n" for cells in padded))


def show_pairs(title: str, pairs: Mapping[str, str]) -> None:
    table = _table(show_header=False)
    for name, value in pairs.items():
        table.add_row(name, value)
    _print(title, table)


def show_scores(scores: Sequence[Mapping[str, float]], title: str) -> None:
    """Show one line per level, with a column per metric."""
    table = _table()
    names = list(scores[0])
    for name in names:
        table.add_column(HEADINGS.get(name, name), justify="right")
    for row in scores:
        table.add_row(*(_number(name, row[name]) for name in names))
    _print(title, table)


def show_updates(model: Any, title: str) -> None:
    """Show the state of calibration after updates, one line per level."""
    rolling = model.rolling_
    table = _table()
    for name in ("level", "asked for now", "coverage so far", "below", "above"):
        table.add_column(name, justify="right")
    columns = (rolling.levels, rolling.levels_now, rolling.coverage, *rolling.outside.T)
    for level, *values_at in zip(*(values.tolist() for values in columns), strict=True):
        table.add_row(f"{level:g}", *(f"{value:.4g}" for value in values_at))
    _print(f"Updated with {title}; {display.count(rolling.n_rows)} since the fit", table)


def _number(name: str, value: float) -> str:
    return f"{value:g}" if name == "confidence_level" else display.number(value)


def _table(**options: Any) -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, **options)


def _print(title: str, table: Table) -> None:
    from rich.console import Console

    print_line(title)  # the table would break a title of its own to its width
    Console(highlight=False, markup=False).print(table)
