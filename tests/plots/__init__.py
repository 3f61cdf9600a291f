import pytest

pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
