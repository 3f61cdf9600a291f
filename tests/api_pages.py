"""The reference: docs/api.md, which is committed, and a page in docs/api/ for each of its names.

`python -m tests.api_pages` writes both. mkdocstrings fills the pages when the site is built.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import clearbands

DOCS = Path(__file__).parents[1] / "docs"
PAGE, FOLDER = DOCS / "api.md", DOCS / "api"

START = """# Every public name

Each name has a page of its own. All of them can be imported from `clearbands`, as in
`from clearbands import ClearRegressor`; a name with a dot, such as `metrics.picp`, belongs to a
module that can be imported from there (`from clearbands import metrics`). The words that the pages
use stand in the [glossary](glossary.md). `python -m tests.api_pages` writes this page.
"""

SECTIONS: dict[str, list[str]] = {
    "Models": ["ClearRegressor", "ClearClassifier"],
    "Models that are set up already": [
        "fast",
        "thorough",
        "variant_a",
        "variant_b",
        "variant_c",
        "variant_deep",
        "ModelSearch",
        "TableEncoder",
    ],
    "Files of models": ["save", "load", "ModelFileError"],
    "What a model returns": [
        "Uncertainty",
        "ClassUncertainty",
        "Distribution",
        "Forecast",
        "Report",
        "rank_by_epistemic",
    ],
    "Checking coverage": ["diagnose", "Diagnosis", "diagnostics"],
    "Scores": ["metrics", "scorers"],
    "Pictures": ["plots"],
    "Epistemic parts": [
        "EpistemicPart",
        "Ensemble",
        "FoldedEnsemble",
        "PCSEnsemble",
        "MemberEnsemble",
        "DeepEnsemble",
        "MCDropout",
        "GaussianProcess",
        "CatBoostVirtualEnsemble",
    ],
    "Aleatoric parts": [
        "AleatoricPart",
        "FoldedBounds",
        "ScaledResiduals",
        "ResidualQuantiles",
        "SimultaneousQuantiles",
        "GaussianNetwork",
        "NGBoostAleatoric",
    ],
    "Models for parts": [
        "SymmetricTrees",
        "RandomTrees",
        "TreesOnSmooth",
        "KernelRidge",
        "Mixture",
        "SymmetricTreesClassifier",
        "NetworkClassifier",
        "QuantileModel",
        "BoostedQuantiles",
        "ForestQuantiles",
        "ExpectileGAM",
        "LinearQuantiles",
        "NetworkQuantiles",
        "mean_pool",
        "quantile_pool",
    ],
    "Calibration on arrays": [
        "ClearCalibrator",
        "FixedRatioCalibrator",
        "FixedAleatoricCalibrator",
        "AdditiveCalibrator",
        "MemberRankCalibrator",
        "JointClassCalibrator",
        "GroupCalibrator",
        "ConditionalCalibrator",
        "AnyLevel",
        "lambda_path",
        "LambdaPath",
        "PAPER_LAMBDAS",
        "CalibrationWarning",
    ],
    "Rows in the order of time": ["Rolling", "Pace", "RefitWarning", "TimeOrderWarning"],
    "Weights of rows": ["ShiftWeights", "recency_weights"],
    "Baselines": [
        "NaiveConformal",
        "CQR",
        "BootstrappedCQR",
        "ResidualCQR",
        "PCSIntervals",
        "UACQRS",
        "UACQRP",
    ],
}
"""Public names in the order in which a user meets them; a module stands for all that it holds."""


def names_of(section: list[str]) -> Iterator[str]:
    """Yield the names of a section, with those of its modules as `module.name`, without colours."""
    for name in section:
        value = getattr(clearbands, name)
        if isinstance(value, ModuleType):
            inner = [each for each in value.__all__ if not isinstance(getattr(value, each), str)]
            inner.sort(key=lambda each: (inspect.isclass(getattr(value, each)), each))
            yield from (f"{name}.{each}" for each in inner)  # functions before their classes
        else:
            yield name


def value_of(name: str) -> Any:
    value: Any = clearbands
    for step in name.split("."):
        value = getattr(value, step)
    return value


def home_of(name: str) -> str:
    """Return the place where a name is defined, as mkdocstrings looks for it."""
    value = value_of(name)
    if inspect.isclass(value) or inspect.isfunction(value):
        return f"{value.__module__}.{value.__qualname__}"
    module, _, inner = name.rpartition(".")
    home = f".{module}" if module else f".{clearbands._HOMES[name]}"
    return f"clearbands{home}.{inner}"


def summary_of(name: str) -> str:
    """Return the first sentence of the docstring of a name."""
    value = value_of(name)
    has_docstring = inspect.isclass(value) or inspect.isfunction(value)
    text = inspect.getdoc(value) if has_docstring else _docstring_below(home_of(name))
    first, _, _ = (text or "").partition("\n\n")
    return " ".join(first.split()).replace("|", "\\|")


def _docstring_below(home: str) -> str:
    """Return the string below the line that gives a constant its value."""
    module, _, constant = home.rpartition(".")
    lines = ast.parse(Path(inspect.getfile(import_module(module))).read_text("utf-8")).body
    for line, below in pairwise(lines):
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == constant:
            return inspect.cleandoc(ast.literal_eval(below.value))
    raise ValueError(f"{home} has no docstring below it.")


def write_page() -> str:
    """Return the text of docs/api.md."""
    lines = [START]
    for title, section in SECTIONS.items():
        lines += [f"## {title}\n", "| | |", "|---|---|"]
        lines += [f"| [`{n}`](api/{n}.md) | {summary_of(n)} |" for n in names_of(section)]
        lines.append("")
    return "\n".join(lines)


def write_entry(name: str) -> str:
    """Return the text of the page of one name."""
    return f"""---
title: {name}
---

::: {home_of(name)}
    options:
      heading: {name}
      heading_level: 1
      toc_label: {name}

[All names](../api.md) · [Glossary](../glossary.md)
"""


def write_all(docs: Path = DOCS) -> None:
    """Write docs/api.md, and a page for each name that it links to."""
    (docs / "api.md").write_text(write_page(), encoding="utf-8")
    folder = docs / "api"
    folder.mkdir(exist_ok=True)
    for section in SECTIONS.values():
        for name in names_of(section):
            (folder / f"{name}.md").write_text(write_entry(name), encoding="utf-8")


if __name__ == "__main__":
    write_all()
