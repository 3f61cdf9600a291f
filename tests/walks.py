"""The way of a call through the files; `python -m tests.walks` prints the table.

Sizes, imports and names that occur twice come from the source, by `ast`. The ways of a call come
from `sys.setprofile`, on a default `fit` of 300 x 4 values and a `predict_interval` of it. A walk
goes from the file of a caller to the file of what it calls. Kernels (`engine/`) and leaf helpers,
which are files that call no other, are left out.
"""

from __future__ import annotations

import ast
import dataclasses
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.imports import Imports, imports_of, rooms

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "src" / "clearbands"


# The figures of the source


def code_lines(file: Path) -> int:
    """Return the number of lines that hold code: no blanks, comments or docstrings."""
    lines: set[int] = set()
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type not in (*quiet, tokenize.ENCODING, tokenize.ENDMARKER):
                lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                lines -= set(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    return len(lines)


def longest_chain(graph: Imports) -> int:
    """Return how many rooms the longest way down passes."""
    lengths: dict[str, int] = {}

    def length(room: str) -> int:
        if room not in lengths:
            lengths[room] = 1 + max(map(length, graph.get(room, ())), default=0)
        return lengths[room]

    return max(map(length, graph), default=0)


def largest_knot(graph: Imports) -> int:
    """Return how many rooms import each other both ways; 0 if none do."""
    reach = {room: _reachable(graph, room) for room in graph}
    knots = [sum(room in reach[other] for other in reach[room]) for room in graph]
    return max((size for size in knots if size > 1), default=0)


def repeated(names: Iterator[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def classes_in(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text("utf-8"))
    return (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def without_tests(package: Path, tests: Path) -> list[str]:
    """Return the modules that have no test file at their path."""
    files = [file.relative_to(package) for file in _files(package) if file.stem != "__init__"]
    return [str(file) for file in files if not (tests / file.parent / f"test_{file.name}").exists()]


def of_the_source(package: Path = LIBRARY, tests: Path = ROOT / "tests") -> dict[str, str]:
    """Return the figures of the source, by what they count."""
    files = _files(package)
    apps = sum(code_lines(file) for file in files if "apps" in file.relative_to(package).parts)
    core = sum(map(code_lines, files)) - apps
    imports, typed = imports_of(package), imports_of(package, for_types=True)
    importers = Counter(other for imported in imports.values() for other in imported)
    entries = {file.relative_to(package).parts[0] for file in files} - {"__init__.py"}
    named = (file.name for file in files if file.stem != "__init__")
    classes = (name for file in files for name in classes_in(file))
    return {
        "code lines: core / apps": f"{core:,} / {apps:,}",
        "entries; longest chain of imports between them": (
            f"{len(entries)}; {longest_chain(rooms(imports))}"
        ),
        "modules that exactly one other imports": str(list(importers.values()).count(1)),
        "file names / class names that occur twice": (
            f"{len(repeated(named))} / {len(repeated(classes))}"
        ),
        "entries in one knot through imports for types": str(largest_knot(rooms(typed))),
        "modules without a test file of their path": str(len(without_tests(package, tests))),
    }


def _files(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def _reachable(graph: Imports, room: str) -> set[str]:
    seen: set[str] = set()
    ahead = [room]
    while ahead:
        new = set(graph.get(ahead.pop(), ())) - seen
        seen |= new
        ahead += new
    return seen


# The figures of a running call


@dataclasses.dataclass
class Walk:
    """The steps of a call: which files called which, and how often it checked."""

    edges: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    n_checks: int = 0
    n_scans: int = 0  # scans of the process for thread pools
    carriers: set[str] = dataclasses.field(default_factory=set)  # types of values outside engine

    @property
    def ways(self) -> set[tuple[str, str]]:
        """The edges without kernels and leaf helpers."""
        callers = {caller for caller, _ in self.edges}
        return {
            (caller, callee)
            for caller, callee in self.edges
            if callee in callers and not callee.startswith("engine")
        }

    @property
    def files(self) -> set[str]:
        return {file for edge in self.ways for file in edge}

    @property
    def two_way(self) -> int:
        return sum((b, a) in self.ways for a, b in self.ways) // 2

    def __str__(self) -> str:
        return f"{len(self.ways)} / {len(self.files)} / {self.two_way}"


def walk(call: Callable[[], Any], package: Path = LIBRARY) -> Walk:
    """Run the call, and record which files it passes."""
    steps, names = Walk(), dict[Any, str]()

    def name_of(code: Any) -> str:
        if code not in names:
            path = Path(code.co_filename)
            inside = path.is_absolute() and path.is_relative_to(package)
            names[code] = str(path.relative_to(package)) if inside else ""
        return names[code]

    def listen(frame: Any, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name == "_load_libraries" and "threadpoolctl" in code.co_filename:
            steps.n_scans += 1
        if code.co_name == "__init__" and code.co_filename == "<string>":  # a dataclass
            steps.carriers |= _carrier(type(frame.f_locals.get("self")), package.name)
        if code.co_filename.startswith("<string>") and "_cls" in frame.f_locals:  # a named tuple
            steps.carriers |= _carrier(frame.f_locals["_cls"], package.name)
        callee = name_of(code)
        if not callee:
            return
        steps.n_checks += code.co_name.startswith("check_")
        above = frame.f_back
        while above is not None and not name_of(above.f_code):
            above = above.f_back
        caller = "" if above is None else name_of(above.f_code)
        if caller and caller != callee:
            steps.edges.add((caller, callee))

    threading.setprofile(listen)
    sys.setprofile(listen)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return steps


def _carrier(kind: type, package: str) -> set[str]:
    """Return the name of a type of the package, or nothing if it belongs to the kernels."""
    module = kind.__module__
    is_ours = module.startswith(f"{package}.") and not module.startswith(f"{package}.engine")
    return {f"{module}.{kind.__qualname__}"} if is_ours else set()


def of_a_fit() -> dict[str, str]:
    """Return the figures of a default fit on 300 x 4 values, and of predictions for its rows."""
    import numpy as np

    from clearbands import ClearRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300)
    model = ClearRegressor(random_state=0)
    fit = walk(lambda: model.fit(X, y))
    predict = walk(lambda: model.predict_interval(X))
    return {
        "fit: ways between files / files / two-way": str(fit),
        "predict_interval: the same": str(predict),
        "types that carry values in one fit": str(len(fit.carriers)),
        "check_* calls in one fit; scans for thread pools": f"{fit.n_checks}; {fit.n_scans}",
    }


def table(figures: Mapping[str, str]) -> str:
    wide = max(map(len, figures))
    return "\n".join(f"{what:<{wide}}  {figure}" for what, figure in figures.items())


if __name__ == "__main__":
    sys.stdout.write(table(of_the_source() | of_a_fit()) + "\n")
