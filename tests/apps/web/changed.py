"""A model with attributes of its own."""

from __future__ import annotations

import re

from tests.served import small_model


class Changed:
    """The small model with some attributes of its own."""

    def __init__(self, **own):
        self.own = own

    def __getattr__(self, name):
        own = self.__dict__["own"]
        return own[name] if name in own else getattr(small_model(), name)


def metrics_of(client):
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", answer.text, re.MULTILINE)
    return {name: float(value) for name, value in found}
