"""Prediction intervals you can trust, that say why they are wide.

The public names stand once, in `__init__.pyi`, where type checkers look too. They are loaded on
first use: importing the package alone costs next to nothing.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str | None]:
    """For every name in the stub the module that has it; None where it is a module itself."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.level]
    return {alias.name: node.module for node in imports for alias in node.names}


_HOMES = _public_names()

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clearbands' has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return import_module(f"clearbands.{name}")
    return getattr(import_module(f"clearbands.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
