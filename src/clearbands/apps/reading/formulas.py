"""Text that a spreadsheet would run as a formula, such as `=HYPERLINK(...)` in a csv file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clearbands.rows.messages import warn

if TYPE_CHECKING:
    import polars as pl

STARTS = r"^[=+\-@\t\r]"
MOST_SHOWN = 40  # characters of such a text


def without_formulas(table: pl.LazyFrame) -> pl.LazyFrame:
    """Put a ' before names and texts that start as formulas do, which makes them plain text."""
    import polars as pl

    texts = _texts(table)
    marked = (
        pl.when(pl.col(name).str.contains(STARTS)).then("'" + pl.col(name)).otherwise(pl.col(name))
        for name in texts
    )
    quoted = table.with_columns(
        named.alias(name) for name, named in zip(texts, marked, strict=True)
    )
    return quoted.rename({name: f"'{name}" for name in table.collect_schema() if _is_formula(name)})


def warn_of_formulas(table: pl.LazyFrame) -> None:
    """Warn where a name or a text starts as formulas do."""
    column, example = next(((n, n) for n in table.collect_schema() if _is_formula(n)), (None, ""))
    column, example = (column, example) if column is not None else _first_text(table)
    if column is not None:
        example = example if len(example) <= MOST_SHOWN else f"{example[:MOST_SHOWN]}..."
        warn(
            f"The output holds text that a spreadsheet runs as a formula, such as {example!r} in "
            f"column {column!r}: --no-formulas writes a ' before such text."
        )


def _first_text(table: pl.LazyFrame) -> tuple[str | None, str]:
    """Return the first column with a text that starts as formulas do, and the text."""
    import polars as pl

    firsts = [
        pl.col(name).filter(pl.col(name).str.contains(STARTS)).first() for name in _texts(table)
    ]
    if not firsts:
        return None, ""
    (row,) = table.select(firsts).collect().to_dicts()
    return next(((name, text) for name, text in row.items() if text is not None), (None, ""))


def _texts(table: pl.LazyFrame) -> list[str]:
    import polars as pl

    return [name for name, dtype in table.collect_schema().items() if dtype == pl.String]


def _is_formula(text: str) -> bool:
    return text.startswith(("=", "+", "-", "@", "\t", "\r"))
