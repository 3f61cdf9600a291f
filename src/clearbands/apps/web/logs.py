"""Logs of web apps: one JSON object per line, without the data."""

from __future__ import annotations

import json
import logging
import warnings
from datetime import UTC, datetime
from typing import TextIO


def log_as_json() -> None:
    """One JSON object per line on standard error, for what apps and servers log."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("clearbands", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    warnings.showwarning = _log_warning


class JsonLines(logging.Formatter):
    """Time, level, event, and the fields given as `extra={"fields": ...}`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        return json.dumps(line | getattr(record, "fields", {}))


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """The kind and the place of a warning: its text may quote the data."""
    fields = {"warning": category.__name__, "where": f"{filename}:{lineno}"}
    logging.getLogger("clearbands").warning("warning", extra={"fields": fields})
