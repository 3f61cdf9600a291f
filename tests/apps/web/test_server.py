"""Sockets of the server."""

from __future__ import annotations

import socket

from clearbands.apps.web import server


def test_connections_do_not_wait_to_fill_packets():
    with server.listen("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
