import pytest

pytest.importorskip("typer", reason="the extra `cli` is not installed")
