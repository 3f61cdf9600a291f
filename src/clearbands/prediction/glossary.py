"""The names and colours of the two uncertainties, for code, pages and pictures.

Code, tables and arguments say `aleatoric` and `epistemic`; pages and pictures say noise and
ignorance, with the other word beside it where a reader meets it first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Colour(NamedTuple):
    """A colour on light and on dark paper."""

    light: str
    dark: str


@dataclass(frozen=True)
class Part:
    """One of the two parts of a width."""

    name: str  # in code
    plain: str  # on pages
    remedy: str  # the way to make it smaller
    fill: Colour
    line: Colour  # for lines and dots, which must carry the colour

    @property
    def label(self) -> str:
        """The plain word and the name in code, for legends.

        Examples
        --------
        >>> EPISTEMIC.label
        'Ignorance (epistemic)'
        """
        return f"{self.plain.capitalize()} ({self.name})"


# Any colour vision tells them apart: blue from orange by hue, and in grey by lightness.
ALEATORIC = Part(
    "aleatoric",
    "noise",
    "better measurements or further features",
    Colour("#B5D7EF", "#35688E"),
    Colour("#2F7DB8", "#6FB1E0"),
)
EPISTEMIC = Part(
    "epistemic",
    "ignorance",
    "more rows like these",
    Colour("#DB8F00", "#E0992A"),
    Colour("#DB8F00", "#E0992A"),
)
PARTS = (ALEATORIC, EPISTEMIC)

SHARE = "epistemic share of the mean width"
"""The name of `Uncertainty.mean_share` everywhere: the share of ignorance in the width."""

COLOURS = {
    "ink": Colour("#1F2933", "#E6EAEE"),
    "muted": Colour("#5B6670", "#A3AEB8"),
    "grid": Colour("#E3E6E8", "#323A42"),
    "outside": Colour("#B3261E", "#FF8A80"),
    "fan-0": Colour("#E4E8EC", "#333D47"),  # levels within each other, the outermost first
    "fan-1": Colour("#C6CED6", "#4C5965"),
    "fan-2": Colour("#A3AFBA", "#6D7D8B"),
    **{part.name: part.fill for part in PARTS},
    **{f"{part.name}-line": part.line for part in PARTS},
}


def style_sheet() -> str:
    """Return the colours as variables of CSS, such as `--aleatoric`; print is always light."""
    light, dark = (
        " ".join(f"--{name}: {colour[i].lower()};" for name, colour in COLOURS.items())
        for i in (0, 1)
    )
    return (
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {light} }} }}\n"
    )
