"""Numbers as people read them."""

from __future__ import annotations

import math

GAP = "\N{NO-BREAK SPACE}"


def number(value: float) -> str:
    """Four digits that matter, thousands apart: 0.01234, 1.234, 12,340."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -5 <= size < 15:
        return f"{value:.3g}".replace("-", "−")
    text = f"{round(value, 3 - size):,.{max(3 - size, 0)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def percent(share: float, digits: int = 0) -> str:
    """A share of one; one that is not whole never rounds to 0 % or 100 %."""
    while digits < 3 and round(100 * share, digits) in (0, 100) and share not in (0, 1):
        digits += 1
    return f"{100 * share:.{digits}f}{GAP}%"


def level(confidence_level: float) -> str:
    """90 %, 99.5 %."""
    return f"{100 * confidence_level:.6g}{GAP}%"


def count(n: int, one: str = "row", many: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
