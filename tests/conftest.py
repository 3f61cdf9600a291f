"""Settings for all tests."""

import os

# Tests run side by side, one for each core, so threads inside OpenMP would only wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from tests.skipped import summary

# How long an example takes depends on the machine and on compiling more than on the code.
settings.register_profile("new", parent=settings(), deadline=None)
# Each run has the same examples, so that a failure comes from a change; `make fuzz` draws new ones.
settings.register_profile("same", settings.get_profile("new"), derandomize=True)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Mark tests that need a browser as slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_unconfigure(config):
    """Print which tests were skipped and how to run them; only the main process has a reporter."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reports = reporter.stats.get("skipped", [])
        if line := summary(str(report.longrepr[-1]) for report in reports):
            reporter.write_line(line)
