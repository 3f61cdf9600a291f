"""What `clearbands serve` does: from a model file to the processes that serve it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from clearbands.tables import files
from clearbands.web import server, workers
from clearbands.web.hosts import LOCAL_NAMES, Hosts
from clearbands.web.limits import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from clearbands.regressor import ClearRegressor

ANY_NAME = "*"


def own_hosts(host: str, allowed: Iterable[str]) -> Hosts | None:
    """The names of a service without a token: the machine's own and those allowed; None for all."""
    names = {*LOCAL_NAMES, host, socket.gethostname(), *allowed}
    return None if ANY_NAME in names else Hosts(names, addresses=True)


def loader(
    path: Path,
    read: Callable[[], ClearRegressor],
    token: str | None,
    hosts: Hosts | None,
    limits: Limits,
    n_workers: int,
) -> workers.Load:
    """Reads the model file, and returns what makes the app of it; `read` loads and checks it."""

    def load() -> workers.MakeApp:
        from clearbands.persistence import read_header

        model = read()
        versions = {name: str(version) for name, version in read_header(path).items()}
        fingerprint = files.fingerprint(path).rpartition(" ")[2]

        def make_app() -> ASGIApp:
            from clearbands.web.service.app import create_app

            return create_app(
                model,
                name=path.name,
                versions=versions,
                fingerprint=fingerprint,
                token=token,
                hosts=hosts,
                limits=limits,
                n_threads=max(1, (os.cpu_count() or 1) // n_workers),
            )

        return make_app

    return load


def serve(
    make_app: workers.MakeApp,
    load: workers.Load,
    listener: socket.socket,
    n_workers: int,
    *,
    grace: float,
) -> None:
    """Serve until told to stop; in this process where the system cannot fork."""
    if workers.can_fork():
        settings = workers.Settings(workers=n_workers, grace=grace)
        workers.serve(make_app, load, listener, settings)
    elif n_workers == 1:
        server.run(make_app(), listener, grace=grace)
    else:
        raise ValueError("This system cannot fork, so --workers must be 1.")
