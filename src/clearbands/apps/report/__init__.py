"""A page about a model on rows it has not seen: whether its intervals hold, and why they are wide.

The page is a single file of HTML that needs no network.
"""

from __future__ import annotations

import datetime as dt
import html as markup
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from clearbands._compat import require
from clearbands.apps.report import answer, figures, row_lists, whiskers, widths
from clearbands.apps.report.facts import Facts, gather_facts
from clearbands.apps.report.row_lists import rows_to_look_at
from clearbands.calibration.guarantee import Guarantee, first_five
from clearbands.persistence.writing import atomic_path
from clearbands.prediction import glossary
from clearbands.rows import display
from clearbands.rows.messages import row_number
from clearbands.rows.typed import TableLike
from clearbands.selection.leaderboard import boards_of

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

MOST_LISTED = 8  # models of a competition that are listed
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Report:
    """A page about a model on new rows, which `model.report` returns.

    It shows itself in a notebook, and `save` writes it as one file.

    Examples
    --------
    >>> from clearbands import Report
    >>> from pathlib import Path
    >>> Report("<h1>Houses</h1>").save("report.html")
    >>> Path("report.html").read_text("utf-8")
    '<h1>Houses</h1>'
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; the file appears whole or not at all."""
        with atomic_path(Path(path)) as unfinished:
            unfinished.write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Report of {len(self.html) / 1e3:,.0f} kB; save(path) writes it as one file"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, so that its style stays inside."""
        page = markup.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'


def make_report(
    model: ClearRegressor,
    X: TableLike,
    y: ArrayLike,
    *,
    origin: Mapping[str, str] | None = None,
    **words: Any,
) -> Report:
    """Make the page that `ClearRegressor.report` returns.

    `origin` says where model and rows came from, line by line; `words` go to `gather_facts`.
    """
    return render("page.html", origin, **_page(gather_facts(model, X, y, **words)))


def render(name: str, origin: Mapping[str, str] | None, **page: Any) -> Report:
    """Render the template of this name with `page` and with what all pages need."""
    jinja2 = require("jinja2", what="A report", extra="report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("clearbands.apps.report", "page"),
        autoescape=True,  # names and values of columns are text by other people
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["breakable"] = _breakable
    shared = {
        "words": display,
        "row_number": row_number,
        "glossary": glossary,
        "noise": glossary.ALEATORIC,
        "ignorance": glossary.EPISTEMIC,
        "origin": dict(origin or {}),
        "versions": _versions(),
        "made": dt.date.today().isoformat(),
    }
    return Report(environment.get_template(name).render(shared | page))


def _breakable(name: object) -> Any:
    """Return a name that breaks behind underscores rather than in the middle of a word."""
    from markupsafe import Markup, escape

    return Markup(str(escape(name)).replace("_", "_<wbr>"))


def _page(facts: Facts) -> dict[str, Any]:
    """Return everything that the template needs."""
    drawn, n_rows = facts.is_finite, display.count(len(facts.y))
    diagnosis, level = facts.diagnosis, facts.confidence_level
    share, chance = diagnosis.coverage.coverage, diagnosis.chance
    panels = widths.panels(facts) if drawn else {}
    most = rows_to_look_at(facts.widths, facts.epistemic_share) if drawn else ((), ())
    page = {
        "facts": facts,
        "title": f"Intervals for {facts.target}",
        "over": f"{display.level(level)} intervals for {facts.target} · {n_rows} "
        f"· {dt.date.today().isoformat()}",
        "verdict": answer.verdict(facts),
        "lead": " ".join(answer.answer(facts)),
        "promised": level,
        "chance": chance,
        "axis": whiskers.Track.around(diagnosis.cells, level),
        "tile_axis": whiskers.Track.around([], share, level, chance.low),
        "errors": widths.errors(facts),
        "widths": (widths.own_widths(facts), widths.constant_width(facts)) if drawn else None,
        "warning": answer.warning(facts.n_seen, len(facts.y)),
        "fan": figures.fan(facts) if drawn else None,
        "unfamiliar": row_lists.unfamiliar(facts) if drawn else "",
        "quartiles": widths.quartiles(facts) if drawn else "",
        "bands": figures.bands(facts) if drawn else None,
        "parts": figures.parts_of_rows(facts) if drawn and facts.has_both_parts else None,
        "panels": panels,
        "longest": widths.longest(chain(*panels.values())),
        "importances": facts.importance[: widths.MOST_NAMED],
        "rows_shuffled": widths.rows_shuffled(facts),
        "losses": figures.losses(facts),
        "who_chose_lambda": answer.who_chose_lambda(facts),
        "how_lambda_won": answer.how_lambda_won(facts),
        "findings": diagnosis.findings_in_words(("“", "”")),
        "coverage": list(whiskers.whiskers(facts).items()),
        "boards": boards_of(facts.model),
        "most_listed": MOST_LISTED,
        "most_epistemic": most[0],
        "most_aleatoric": most[1],
        "named_columns": facts.important_columns(row_lists.MOST_VALUES),
        "all_rows": row_lists.all_rows(facts) if drawn else None,
        "guarantee": Guarantee.in_text(facts.model.guarantee_).name,
        "sharing": first_five(getattr(facts.model.calibrator_, "sharing_", ())),
        "directions": answer.directions(facts),
        "chosen": "λ",
        "script": True,
    }
    return page | {"contents": _contents(page)}


def _contents(page: Mapping[str, Any]) -> dict[str, str]:
    """Return the anchor and the heading of every section of the page."""
    sections = {
        "levels": ("Every level", len(page["facts"].levels) > 1),
        "accuracy": ("How close the predictions are", True),
        "bands": ("Predictions and true values", page["bands"]),
        "why": ("Why intervals are wide", page["bands"]),
        "lambda": ("How noise and ignorance were weighed", page["losses"]),
        "coverage": ("Where coverage holds", True),
        "models": ("The models that competed", page["boards"]),
        "rows": ("Rows to look at", page["bands"]),
        "promise": ("What is guaranteed and what is not", True),
        "reproduce": ("How to reproduce it", True),
    }
    return {anchor: heading for anchor, (heading, is_there) in sections.items() if is_there}


def _versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries behind it."""
    from importlib.metadata import version

    from clearbands import __version__

    own = {"Python": platform.python_version(), "clearbands": __version__}
    return own | {name: version(name) for name in LIBRARIES}
