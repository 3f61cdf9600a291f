"""Numbers and small tables in the form in which pages, consoles and notebooks show them."""

from __future__ import annotations

import html as markup
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

GAP = "\N{NO-BREAK SPACE}"
DIGITS = 4  # significant digits


def number(value: float) -> str:
    """Write a number with four significant digits and commas between thousands.

    Halves are rounded away from zero. Numbers that differ only by the error of floating point are
    rounded alike, so that one value never shows as two numbers.

    Examples
    --------
    >>> number(0.012344), number(12344.4), number(183_850), number(183_850 - 1e-9)
    ('0.01234', '12,340', '183,900', '183,900')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    rounded = _rounded(value)
    size = rounded.adjusted()
    if not -5 <= size < 15:
        return f"{float(rounded):.3g}".replace("-", "−")
    text = f"{rounded:,.{max(DIGITS - 1 - size, 0)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def _rounded(value: float) -> Decimal:
    exact = Decimal(f"{value:.12g}")
    return exact.quantize(Decimal((0, (1,), exact.adjusted() - DIGITS + 1)), ROUND_HALF_UP)


def with_unit(value: float, unit: str) -> str:
    """Write a number with its unit, if it has one."""
    return f"{number(value)}{GAP}{unit}" if unit else number(value)


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent; only shares of 0 and 1 are rounded to 0 % and 100 %.

    Examples
    --------
    >>> [percent(share).replace(GAP, " ") for share in (0.5, 0.999, 1, 1e-9)]
    ['50 %', '99.9 %', '100 %', 'under 0.001 %']
    """
    while digits < 3 and round(100 * share, digits) in (0, 100) and share not in (0, 1):
        digits += 1
    if 0 < share < 0.000005:
        return f"under 0.001{GAP}%"
    if 0.999995 < share < 1:
        return f"over 99.999{GAP}%"
    return f"{100 * share:.{digits}f}{GAP}%"


def change(share: float) -> str:
    """Write a relative change in percent with its sign; no change has a plus.

    Examples
    --------
    >>> [change(share).replace(GAP, " ") for share in (0.04, -0.008, -0.0001)]
    ['+4.0 %', '−0.8 %', '+0.0 %']
    """
    rounded = round(100 * share, 1) + 0.0
    return f"{rounded:+.1f}{GAP}%".replace("-", "−")


def level(confidence_level: float) -> str:
    """Write a confidence level in percent, such as 90 % or 99.5 %."""
    return f"{100 * confidence_level:.6g}{GAP}%"


def in_words(error: Exception) -> str:
    """Return the message of an error, preceded by its type unless it is a Value- or TypeError.

    >>> in_words(ValueError("there are too few rows")), in_words(KeyError("size"))
    ('there are too few rows', "KeyError: 'size'")
    """
    is_sentence = isinstance(error, ValueError | TypeError) and str(error)
    return str(error) if is_sentence else f"{type(error).__name__}: {error}".rstrip(": ")


def count(n: int, one: str = "row", many: str | None = None) -> str:
    """Write a number of things, such as 1 row or 2 rows."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def first_of(names: Sequence[str], most: int = 8) -> str:
    """List the first of some names, and say how many more there are.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    listed, left = ", ".join(names[:most]), len(names) - most
    return f"{listed} and {left:,} more" if left > 0 else listed


def finite(value: float) -> float | None:
    """Return the number, or None if it is infinite, because JSON knows no infinity.

    >>> finite(1.5), finite(float("inf"))
    (1.5, None)
    """
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class Preview:
    """A small table of words under a title."""

    title: str
    columns: Mapping[str, Sequence[str]]
    more: str = ""  # says what is left out

    def text(self) -> str:
        """Return the table as text, with numbers aligned to the right and words to the left.

        Examples
        --------
        >>> print(Preview("Two rows", {"row": ["1", "12"]}, "3 more").text())
        Two rows
          row
            1
           12
          3 more
        """
        widths = {name: max(map(len, [name, *cells])) for name, cells in self.columns.items()}
        padded = []
        for name, cells in self.columns.items():
            pad = str.ljust if any(cell[:1].isalpha() for cell in cells) else str.rjust
            padded.append([pad(cell, widths[name]) for cell in (name, *cells)])
        lines = ["  ".join(row) for row in zip(*padded, strict=True)]
        lines += [self.more] if self.more else []
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in lines)])

    def html(self) -> str:
        """Return the table as HTML, in which every word is escaped."""
        head = "".join(f"<th>{markup.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{markup.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in zip(*self.columns.values(), strict=True)
        )
        more = f"<p>{markup.escape(self.more)}</p>" if self.more else ""
        return (
            f"<p><strong>{markup.escape(self.title)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
        )
