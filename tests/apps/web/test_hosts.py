"""Host headers are answered if they hold a known name or an address, and nothing that hides one."""

from __future__ import annotations

import pytest

from clearbands.apps.web.hosts import Hosts, host_name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST:8000", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:8000", "::1"),
        ("", None),
        ("evil.example@localhost", None),
        ("localhost:8000@evil.example", None),
        ("localhost:", None),
        ("localhost:80:80", None),
        ("localhost/evil", None),
        ("localhost\\evil", None),
        (" localhost", None),
        ("localhost\n", None),
        ("[::1", None),
        ("::1", None),
    ],
)
def test_a_host_header_is_a_name_or_an_address_and_a_port(header, name):
    assert host_name(header) == name


def test_only_the_names_told_are_answered_and_addresses_if_asked_for():
    named = Hosts(["Houses.example"])
    assert named.allow("houses.example:8000")
    assert not named.allow("10.0.0.1")
    assert Hosts([], addresses=True).allow("10.0.0.1:8000")
    assert not Hosts([], addresses=True).allow("evil.example")
