"""Which Host headers are answered: names that were told, addresses, and nothing that hides one."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from clearbands.apps.web.hosts import Hosts, host_name
from clearbands.apps.web.service import create_app
from clearbands.apps.web.service.serving import own_hosts
from tests.served import small_model


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


def test_without_a_token_a_service_does_not_answer_to_strange_names():
    app = create_app(small_model(), hosts=own_hosts("127.0.0.1", ["houses.example"]))
    with TestClient(app) as client:
        for host, status in (
            ("127.0.0.1:8000", 200),
            ("localhost", 200),
            ("10.1.2.3:8000", 200),
            ("houses.example", 200),
            ("evil.example", 403),
            ("evil.example@localhost", 403),
        ):
            for path in ("/model", "/health"):
                assert client.get(path, headers={"host": host}).status_code == status, host
        refused = client.get("/model", headers={"host": "evil.example"})
        assert "--allow-host" in refused.json()["detail"]
    assert own_hosts("127.0.0.1", ["*"]) is None
