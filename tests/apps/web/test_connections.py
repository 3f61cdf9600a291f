"""Slow clients are disconnected, and keep nobody else waiting."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, contextmanager

import pytest

from clearbands.apps.web.limits import Limits, Patience
from clearbands.apps.web.service import create_app
from tests.served import ROW, post_rows_to, serving, small_model

HALF_A_HEADER = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Ty"
HALF_A_BODY = (
    b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


@contextmanager
def slow_clients(port: int, count: int, sent: bytes):
    """Open connections that send these bytes and no more."""
    with ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            for _ in range(count)
        ]
        for client in clients:
            client.sendall(sent)
        time.sleep(0.3)
        yield clients


def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed the connection."""
    client.setblocking(False)
    try:
        while client.recv(4096):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.fixture
def app():
    return create_app(small_model(), limits=Limits(requests=8))


def test_slow_bodies_keep_nobody_waiting(app):
    with serving(app) as port, slow_clients(port, 64, HALF_A_BODY):
        started = time.perf_counter()
        assert post_rows_to(port, [ROW])[0] == 200
        assert time.perf_counter() - started < 5


def test_headers_that_do_not_end_are_not_waited_for(app):
    patience = Patience(header_seconds=0.5)
    with serving(app, patience) as port, slow_clients(port, 300, HALF_A_HEADER) as clients:
        assert post_rows_to(port, [ROW])[0] == 200
        time.sleep(1)
        assert all(is_closed(client) for client in clients)


def test_a_second_header_that_does_not_end_is_not_waited_for_either(app):
    whole = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    patience = Patience(header_seconds=0.5)
    with serving(app, patience) as port, slow_clients(port, 3, whole + HALF_A_HEADER) as clients:
        time.sleep(6)  # as long as a connection may be idle
        assert all(is_closed(client) for client in clients)


@pytest.mark.parametrize("sent", [b"", HALF_A_HEADER, HALF_A_BODY])
def test_when_there_are_too_many_the_slowest_makes_room(app, sent):
    with serving(app, Patience(connections=20)) as port:
        with slow_clients(port, 20, sent) as clients:
            assert post_rows_to(port, [ROW])[0] == 200
            closed = [is_closed(client) for client in clients]
            assert closed == [True] + [False] * 19  # the oldest is closed
        with slow_clients(port, 60, sent):
            assert post_rows_to(port, [ROW])[0] == 200


def test_bodies_leave_room_for_each_other():
    app = create_app(small_model(), limits=Limits(bytes=1000, requests=2))
    half = HALF_A_BODY + b" " * 900
    with serving(app) as port, slow_clients(port, 2, half) as clients:
        status, answer = post_rows_to(port, [ROW, ROW, ROW])
        assert (status, answer["detail"][:20]) == (503, "Too many long bodies")
        for client in clients:
            client.close()
        time.sleep(0.3)
        assert post_rows_to(port, [ROW, ROW, ROW])[0] == 200
