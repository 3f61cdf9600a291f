"""The packages of each extra; `python -m tests.extras` writes the table of docs/install.md.

Each extra goes into an empty environment of its own, by pip, as a user installs it. Names may be
given, as in `python -m tests.extras cli serve`; the lines of the others stay as they are.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "install.md"
START, END = "<!-- extras -->\n", "<!-- end of extras -->\n"
HEAD = "| extra | what it adds | packages | MB |\n|---|---|---:|---:|\n"
NOTHING = "(none)"
ADDS = {
    NOTHING: "the library alone",
    "cli": "the command `clearbands`, with reports and pictures",
    "serve": "`clearbands serve` and `clearbands explore`; includes `cli`",
    "report": "reports and pictures, without the command",
    "excel": "reading .xlsx, .xls and .ods files",
    "boost": '`backend="xgboost"`',
    "forest": '`backend="quantile-forest"`',
    "dask": "tables larger than memory, on several processes or a cluster",
    "deep": "networks, trained by torch; the size depends on the build of torch",
    "mlflow": "`clearbands.apps.mlflow`",
    "all": "all of these but `deep`, `excel` and `mlflow`",
}


def measure(extra: str, folder: Path) -> tuple[int, float]:
    """Return the number of packages, and the megabytes of all of them with the library."""
    environment = folder / "environment"
    subprocess.run(["uv", "venv", "--quiet", "--clear", environment], check=True)
    what = f"{ROOT}[{extra}]" if extra != NOTHING else str(ROOT)
    install = ["uv", "pip", "install", "--quiet", "--python", environment / "bin" / "python", what]
    subprocess.run(install, check=True)
    (home,) = environment.glob("lib/python*/site-packages")
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    return len(list(home.glob("*.dist-info"))), size / 1e6


def read_lines(text: str) -> dict[str, str]:
    """Return the lines that the table has now, by extra."""
    table = text.partition(START)[2].partition(END)[0].splitlines(keepends=True)[2:]
    return {line.split("|")[1].strip().strip("`"): line for line in table}


def write(text: str, lines: dict[str, str]) -> str:
    before, _, rest = text.partition(START)
    ordered = [lines[name] for name in ADDS if name in lines]
    return before + START + HEAD + "".join(ordered) + END + rest.partition(END)[2]


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(project["optional-dependencies"])


if __name__ == "__main__":
    for extra in sys.argv[1:] or list(ADDS):
        with tempfile.TemporaryDirectory() as folder:
            n_packages, size = measure(extra, Path(folder))
        name = extra if extra == NOTHING else f"`{extra}`"
        text = PAGE.read_text("utf-8")
        line = f"| {name} | {ADDS[extra]} | {n_packages} | {size:,.0f} |\n"
        PAGE.write_text(write(text, read_lines(text) | {extra: line}), "utf-8")
        sys.stdout.write(line)
