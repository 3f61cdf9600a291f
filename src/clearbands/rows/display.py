"""Small tables for people: as text in a console, as HTML in a notebook."""

from __future__ import annotations

import html as markup
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """A few columns of words under a title."""

    title: str
    columns: Mapping[str, Sequence[str]]
    more: str = ""  # what is left out

    def text(self) -> str:
        """Columns of equal width: numbers to the right, words to the left.

        Examples
        --------
        >>> print(Shown("Two rows", {"row": ["1", "12"]}, "3 more").text())
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
        """The same as a table; every word is escaped."""
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
