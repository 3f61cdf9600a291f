"""Settings for all tests."""

import os

# Tests run side by side, one to a core: threads inside OpenMP would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# How long an example takes says more about the machine, and about compiling, than about the code.
settings.register_profile("patient", parent=settings(), deadline=None)
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Whatever needs a browser is slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
