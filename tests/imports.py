"""The imports between rooms; `python -m tests.imports` draws them in CONTRIBUTING.md.

A room is a folder or a file directly below a package. Imports inside functions count; those for
type checkers alone do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
START, END = "<!-- drawn by `python -m tests.imports` -->\n", "<!-- end of the drawing -->\n"

LAYERS = (
    ("__main__",),  # the command
    ("apps",),
    ("presets", "plots", "scorers"),
    ("regressor", "classifier", "baselines"),
    ("scaling",),
    ("selection", "diagnostics"),
    ("metrics", "prediction"),
    ("calibration",),
    ("uncertainty",),
    ("models",),
    ("persistence",),
    ("tables",),
    ("rows",),
    ("engine", "_compat"),
)
"""The rooms of the library, from top to bottom. A room imports only from layers below its own."""

BOXES = {
    "apps/": ("__main__", "apps"),
    "presets.py, regressor.py, classifier.py, baselines/": (
        "presets",
        "regressor",
        "classifier",
        "baselines",
    ),
    "plots/, diagnostics/, metrics.py, scorers.py": ("plots", "diagnostics", "metrics", "scorers"),
    "scaling/": ("scaling",),
    "selection/": ("selection",),
    "prediction/": ("prediction",),
    "calibration/": ("calibration",),
    "uncertainty/": ("uncertainty",),
    "models/": ("models",),
    "persistence/, tables/, rows/, engine/, _compat.py": (
        "persistence",
        "tables",
        "rows",
        "engine",
        "_compat",
    ),
}
"""The ten boxes of the drawing, with their rooms."""

REPORTS = {
    ("clearbands.regressor", "clearbands.apps.report"),
    ("clearbands.classifier", "clearbands.apps.report"),  # for a type alone
    ("clearbands.classifier", "clearbands.apps.report.classes"),
    ("clearbands.prediction.table_estimator", "clearbands.apps.card"),
}
"""The exceptions: `model.report()` and `model.card()` import their writers when called."""

Imports = Mapping[str, set[str]]


def imports_of(package: Path, *, for_types: bool = False) -> dict[str, set[str]]:
    """Return, for every module of a package, the modules of the same package that it imports.

    `for_types` counts imports for type checkers, too.
    """
    public = _public_homes(package)
    found = {}
    for file in sorted(package.rglob("*.py")):
        names = set(_imported(file.read_text("utf-8"), for_types=for_types))
        modules = {_module_of(public.get(name, name), package) for name in names}
        found[_name_of(file, package)] = modules - {package.name, ""}
    return found


def rooms(imports: Imports) -> dict[str, set[str]]:
    """Return the imports between rooms, without those inside a room."""
    found: dict[str, set[str]] = {}
    for module, imported in imports.items():
        if "." in module:
            room = found.setdefault(_room(module), set())
            below = {other for other in imported if (module, other) not in REPORTS}
            room |= {_room(other) for other in below} - {_room(module)}
    return found


def upward(found: Imports, layers: tuple[tuple[str, ...], ...] = LAYERS) -> list[str]:
    """Return the imports that do not point downwards, in words."""
    height = {room: -i for i, layer in enumerate(layers) for room in layer}
    return [
        f"{room} imports {other}, which is not below it"
        for room, imported in found.items()
        for other in sorted(imported)
        if height[other] >= height[room]
    ]


def without_cycles(imports: Imports) -> list[str]:
    """Return the modules, each after those it imports, or raise a `graphlib.CycleError`."""
    return list(TopologicalSorter(imports).static_order())


def drawing(found: Imports) -> str:
    """Return a diagram for mermaid, without the arrows that follow from others."""
    numbers = {room: i for i, box in enumerate(BOXES.values()) for room in box}
    imported: dict[str, set[str]] = {str(i): set() for i in range(len(BOXES))}
    for room, others in found.items():
        imported[str(numbers[room])] |= {str(numbers[other]) for other in others}
    below = {box: {other for other in others if other > box} for box, others in imported.items()}
    lines = ["```mermaid", "flowchart TD"]
    lines += [f'  box{i}["{label}"]' for i, label in enumerate(BOXES)]
    for box, direct in below.items():
        through = {far for other in direct for far in _reachable(below, other)}
        lines += [f"  box{box} --> box{other}" for other in sorted(direct - through)]
    return "\n".join([*lines, "```\n"])


def with_drawing(text: str, drawn: str) -> str:
    """Return the page with the drawing between its two marks."""
    before, _, rest = text.partition(START)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{CONTRIBUTING.name} needs the lines {START!r} and {END!r}.")
    return before + START + drawn + END + after


def _imported(source: str, *, for_types: bool = False) -> Iterator[str]:
    """Yield the full names of imported modules, and of what is imported from them."""
    nodes: list[ast.AST] = [ast.parse(source)]
    while nodes:
        node = nodes.pop()
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if is_for_types and not for_types:
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are written with their full names"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        nodes += ast.iter_child_nodes(node)


def _public_homes(package: Path) -> dict[str, str]:
    """Return full names by public names, from the stub: `clearbands.save` and so on."""
    stub = package / "__init__.pyi"
    if not stub.exists():
        return {}
    body = ast.parse(stub.read_text("utf-8")).body
    nodes = [node for node in body if isinstance(node, ast.ImportFrom) and node.level]
    homes = {alias.name: node.module for node in nodes for alias in node.names if node.module}
    return {f"{package.name}.{n}": f"{package.name}.{home}.{n}" for n, home in homes.items()}


def _module_of(name: str, package: Path) -> str:
    """Return the module of the package that a name belongs to, or ""."""
    parts = name.split(".")
    if parts[0] != package.name:
        return ""
    while parts:
        path = package.parent.joinpath(*parts)
        if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
            return ".".join(parts)
        parts.pop()
    return ""


def _name_of(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    return module.split(".")[1]


def _reachable(found: Imports, room: str) -> set[str]:
    """Return the rooms that a room imports, directly or through others."""
    direct = found.get(room, set())
    return direct.union(*(_reachable(found, other) for other in direct))


if __name__ == "__main__":
    drawn = drawing(rooms(imports_of(ROOT / "src" / "clearbands")))
    CONTRIBUTING.write_text(with_drawing(CONTRIBUTING.read_text("utf-8"), drawn), "utf-8")
