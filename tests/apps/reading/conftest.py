"""A csv file for several tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def csv(tmp_path):
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
