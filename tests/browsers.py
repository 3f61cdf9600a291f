"""A real browser, as wide and high as a phone, for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def open_browser(folder: Path, width: int = 390, height: int = 844, **options) -> Iterator:
    """Open a context of Debian's chromium; skip the test if chromium or playwright is missing."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=CHROMIUM,
            args=OPTIONS,
            viewport={"width": width, "height": height},
            **options,
        )
        yield context
        context.close()
