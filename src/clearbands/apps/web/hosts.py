"""The names under which an app answers requests.

A page elsewhere may make its own name resolve to this machine, so that a browser here lets it read
what is served here. Such requests carry that name in the Host header, and never an address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass

LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
# Nothing but a name or an address, and a port: no user, no path, no space.
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class Hosts:
    """The names that are answered; with `addresses`, every address as well.

    >>> Hosts(["localhost"]).allow("localhost:8000")
    True
    >>> Hosts(["localhost"]).allow("evil.example@localhost")
    False
    >>> Hosts([], addresses=True).allow("[2001:db8::1]:8000")
    True
    """

    names: Collection[str]
    addresses: bool = False

    def allow(self, header: str) -> bool:
        """Whether a Host header has an allowed name or address."""
        name = host_name(header)
        if name is None:
            return False
        return name in {own.lower() for own in self.names} or (self.addresses and _is_address(name))


def host_name(header: str) -> str | None:
    """Return the name or address in a Host header without its port, or None if it has neither."""
    match = HOST.fullmatch(header)
    return (match[1] or match[2]).lower() if match else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
