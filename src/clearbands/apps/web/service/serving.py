"""The steps of `clearbands serve`, from a model file to the processes that serve it."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import warnings
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from clearbands.apps.reading import files
from clearbands.apps.web import server, workers
from clearbands.apps.web.hosts import LOCAL_NAMES, Hosts
from clearbands.apps.web.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clearbands.regressor import ClearRegressor

ANY_NAME = "*"
log = logging.getLogger("clearbands.apps.web.service")


def own_hosts(host: str, allowed: Iterable[str]) -> Hosts | None:
    """Return the names of a service without a token: its own and `allowed`, or None for all."""
    names = {*LOCAL_NAMES, host, socket.gethostname(), *allowed}
    return None if ANY_NAME in names else Hosts(names, addresses=True)


def loader(
    path: Path,
    read: Callable[[], ClearRegressor],
    token: str | None,
    hosts: Hosts | None,
    limits: Limits,
    n_workers: int,
    *,
    allow_updates: bool = False,
) -> workers.Load:
    """Return a function that reads the model file and returns one that makes its app.

    `read` loads and checks the model.
    """
    if allow_updates and token is None:
        raise ValueError(
            "--allow-update lets whoever asks change the intervals of everyone: it needs a token, "
            "with --token-env or --token-file."
        )
    if allow_updates and n_workers > 1:
        raise ValueError(
            f"--workers {n_workers} processes would each learn other rows: --allow-update needs "
            "--workers 1."
        )

    def load() -> workers.MakeApp:
        from clearbands.persistence.model_file import read_header

        model = read()
        versions = {name: str(version) for name, version in read_header(path).items()}
        fingerprint = files.fingerprint(path).rpartition(" ")[2]

        def make_app() -> ASGIApp:
            from clearbands.apps.web.service.app import create_app

            return create_app(
                model,
                name=path.name,
                versions=versions,
                fingerprint=fingerprint,
                token=token,
                hosts=hosts,
                limits=limits,
                n_threads=max(1, (os.cpu_count() or 1) // n_workers),
                allow_updates=allow_updates,
                save=_ModelWriter(path, fingerprint) if allow_updates else None,
            )

        return make_app

    return load


class _ModelWriter:
    """A function that saves a model to its file, unless another model has taken its place there.

    The same fit with other updates is not another model: a process that leaves may have written
    its last rows.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint

    def __call__(self, model: ClearRegressor) -> None:
        from clearbands.persistence.model_file import save

        if self._fingerprint() != self.fingerprint and not _same_fit(model, self.path):
            log.warning("model file was replaced, so updates are not written to it")
            return
        save(model, self.path)
        self.fingerprint = self._fingerprint()

    def _fingerprint(self) -> str:
        return files.fingerprint(self.path).rpartition(" ")[2]


def _same_fit(model: ClearRegressor, path: Path) -> bool:
    """Whether a file holds the model, up to its updates."""
    import numpy as np

    from clearbands.persistence.model_file import load

    mine, other = (getattr(each, "any_level_", None) for each in (model, load(path)))
    if mine is None or other is None:
        return False
    return np.array_equal(mine.positions, other.positions)


def serve(
    make_app: workers.MakeApp,
    load: workers.Load,
    listener: socket.socket,
    n_workers: int,
    *,
    grace: float,
    on_ready: Callable[[], None],
) -> None:
    """Serve until told to stop; in this process where the system cannot fork.

    `on_ready` is called when nothing can keep the service from answering any more.
    """
    if workers.can_fork():
        settings = workers.ServerSettings(workers=n_workers, grace=grace)
        workers.serve(make_app, load, listener, settings, on_ready)
    elif n_workers == 1:
        app = make_app()
        on_ready()
        server.run(app, listener, grace=grace)
    else:
        raise ValueError("This system cannot fork, so --workers must be 1.")


def read_token(variable: str | None, path: Path | None) -> str | None:
    """Return the token in the environment variable or the file; None if neither is named.

    A token never stands on a command line, where others can see it.
    """
    if variable is not None and path is not None:
        raise ValueError("--token-env and --token-file exclude each other; give one of them.")
    if variable is not None:
        if variable not in os.environ:
            raise ValueError(f"There is no environment variable {variable} with the token.")
        return _check_token(os.environ[variable], f"The environment variable {variable}")
    if path is not None:
        try:
            return _check_token(path.read_text(encoding="ascii", errors="replace"), str(path))
        except OSError as error:
            raise ValueError(f"{path} cannot be read ({error.strerror}).") from error
    return None


def _check_token(text: str, place: str) -> str:
    token = text.strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError(
            f"{place} holds no token: it must be one word of printable ASCII characters."
        )
    return token


def log_as_json() -> None:
    """Write the log of apps and servers to standard error, as one JSON object per line."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("clearbands", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    warnings.showwarning = _log_warning


class JsonLines(logging.Formatter):
    """A formatter with time, level, event, and the fields given as `extra={"fields": ...}`."""

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
    """Log the kind and the place of a warning, but not its text, which may quote the data."""
    fields = {"warning": category.__name__, "where": f"{filename}:{lineno}"}
    logging.getLogger("clearbands").warning("warning", extra={"fields": fields})
