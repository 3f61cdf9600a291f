"""One page about a model on rows it has not seen: whether its intervals hold, and why they are
wide. A single file of HTML that needs no network."""

from __future__ import annotations

import datetime as dt
import html as markup
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearbands.files import written_whole
from clearbands.report import figures, sections, words
from clearbands.report.facts import Facts, gather

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Report:
    """A page, to be saved or shown in a notebook."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; the file appears whole or not at all."""
        with written_whole(Path(path)) as unfinished:
            unfinished.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """In a frame of its own, so that its style stays inside."""
        page = markup.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'


def make_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    target: str = "the target",
    unit: str = "",
    groups: Any = None,
    confidence_level: float | None = None,
    origin: Mapping[str, str] | None = None,
) -> Report:
    """See `ClearRegressor.report`. `origin` says where model and rows came from, line by line."""
    template = _template()
    facts = gather(model, X, y, groups=groups, confidence_level=confidence_level)
    return Report(template.render(**_page(facts, target, unit, dict(origin or {}))))


def _template() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('A report needs jinja2: pip install "clearbands[report]".') from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("clearbands.report", "page"),
        autoescape=True,  # names of columns and their values are other people's text
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html")


def _page(facts: Facts, target: str, unit: str, origin: dict[str, str]) -> dict[str, Any]:
    """Everything the template needs."""
    holds, not_held = sections.promises(facts)
    plots = {}
    if facts.is_finite:
        plots = {"bands": figures.bands(facts, target), "rows": figures.parts_of_rows(facts)}
    return {
        "facts": facts,
        "target": target,
        "unit": unit,
        "sections": sections,
        "words": words,
        "plots": plots,
        "losses": figures.losses(facts.path) if facts.path is not None else None,
        "coverage": list(sections.whiskers(facts).items()),
        "holds": holds,
        "not_held": not_held,
        "origin": origin,
        "versions": _versions(),
        "made": dt.date.today().isoformat(),
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    from clearbands import __version__

    found = {"Python": platform.python_version(), "clearbands": __version__}
    return found | {name: version(name) for name in LIBRARIES}
