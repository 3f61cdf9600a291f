import pytest

from tests.apps.cli.running import run


@pytest.mark.slow
def test_kernels_are_compiled_before_they_are_needed():
    result = run("warm")
    assert result.exit_code == 0, result.stderr
    assert "All kernels are compiled, after" in result.stdout
