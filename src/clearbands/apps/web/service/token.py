"""The secret that clients must show. It never stands on a command line, where others can see it."""

from __future__ import annotations

import os
import re
from pathlib import Path


def read_token(variable: str | None, path: Path | None) -> str | None:
    """The token in the environment variable or the file; None if neither is named."""
    if variable is not None and path is not None:
        raise ValueError("--token-env and --token-file exclude each other; give one of them.")
    if variable is not None:
        if variable not in os.environ:
            raise ValueError(f"There is no environment variable {variable} with the token.")
        return _check(os.environ[variable], f"The environment variable {variable}")
    if path is not None:
        try:
            return _check(path.read_text(encoding="ascii", errors="replace"), str(path))
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}).") from error
    return None


def _check(text: str, place: str) -> str:
    token = text.strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError(
            f"{place} holds no token: it must be one word of printable ASCII characters."
        )
    return token
