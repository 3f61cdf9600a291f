import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
