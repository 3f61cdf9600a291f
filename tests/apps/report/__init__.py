import pytest

pytest.importorskip("jinja2", reason="the extra `report` is not installed")
