"""Settings for all tests."""

import os

# Tests run side by side, one to a core: threads inside OpenMP would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from tests.skipped import summary

# How long an example takes says more about the machine, and about compiling, than about the code.
settings.register_profile("new", parent=settings(), deadline=None)
# The same examples in each run, so that what fails is what was changed; `make fuzz` draws new ones.
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Whatever needs a browser is slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_unconfigure(config):
    """The last line says what was skipped, and how to get it; workers have no reporter."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reports = reporter.stats.get("skipped", [])
        if line := summary(str(report.longrepr[-1]) for report in reports):
            reporter.write_line(line)
