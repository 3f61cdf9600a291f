"""A web app on a port of this machine until it is told to stop."""

from __future__ import annotations

import errno
import ipaddress
import json
import logging
import signal
import socket
import warnings
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, NoReturn

NEEDED = ("fastapi", "uvicorn")


def check_extra() -> None:
    """Raise, with what to install, unless the libraries behind web apps are there."""
    if any(find_spec(name) is None for name in NEEDED):
        raise ImportError('This command needs its extra: pip install "clearbands[serve]".')


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, or an error that says why there is none; port 0 takes a free one."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=2048)
    except socket.gaierror as error:
        raise ValueError(f"{host!r} is no address of this machine ({error.strerror}).") from error
    except OSError as error:
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise ValueError(
            f"Port {port} on {host} cannot be opened: {reason}; choose another --port or --host."
        ) from error
    # Connections inherit it. Else an answer's body waits some 40 ms for the receipt of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(listener: socket.socket) -> bool:
    """Whether only programs on this machine can reach it."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def run(app: Any, listener: socket.socket, *, grace: float) -> None:
    """Serve until SIGTERM or Ctrl-C; requests under way get `grace` seconds to finish."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(grace)),
    )
    # Uvicorn raises the signal again when all is done, and that must not count as a failure.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    uvicorn.Server(config).run(sockets=[listener])


def log_as_json() -> None:
    """One JSON object per line on standard error, for what apps and servers log."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name, level in (("clearbands", logging.INFO), ("uvicorn", logging.INFO)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
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
    file: Any = None,
    line: str | None = None,
) -> None:
    """The kind and the place of a warning: its text may quote the data."""
    fields = {"warning": category.__name__, "where": f"{filename}:{lineno}"}
    logging.getLogger("clearbands").warning("warning", extra={"fields": fields})


def _leave(*_: Any) -> NoReturn:
    raise SystemExit(0)
