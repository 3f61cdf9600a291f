"""Functions that serve a web app on a port of this machine until it is told to stop."""

from __future__ import annotations

import errno
import ipaddress
import signal
import socket
from typing import TYPE_CHECKING, NoReturn

from clearbands._compat import advice, has_extra
from clearbands.apps.web.limits import Patience

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from clearbands.apps.web.connections import LimitedProtocol

BACKLOG = 2048  # connections that wait to be accepted


def check_extra() -> None:
    """Raise unless the libraries behind web apps are installed, and say how to install them."""
    if not has_extra("serve"):
        raise ImportError(advice("This command", "serve"))


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket, or raise an error that says why not; port 0 takes a free port."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise ValueError(f"{host!r} is no address of this machine ({error.strerror}).") from error
    except OSError as error:
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise ValueError(
            f"Port {port} on {host} cannot be opened: {reason}; choose another --port or --host."
        ) from error
    # Connections inherit this. Without it, a body waits some 40 ms for the receipt of its header.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(listener: socket.socket) -> bool:
    """Whether only programs on this machine can reach it."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def run(
    app: ASGIApp, listener: socket.socket, *, grace: float, patience: Patience | None = None
) -> None:
    """Serve until SIGTERM or Ctrl-C; requests under way get `grace` seconds to finish."""
    import uvicorn

    from clearbands.apps.web.connections import limited_protocol

    exit_on_signals()
    config = configure(app, grace, limited_protocol(patience or Patience()))
    uvicorn.Server(config).run(sockets=[listener])


def configure(app: ASGIApp, grace: float, protocol: type[LimitedProtocol]) -> uvicorn.Config:
    """Return the settings with which uvicorn serves an app."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(grace)),
    )


def exit_on_signals() -> None:
    """Exit with 0 on signals: uvicorn raises them again at its end, which must not be a failure."""
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)


def _exit(*_: object) -> NoReturn:
    raise SystemExit(0)
