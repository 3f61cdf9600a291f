import pytest

pytest.importorskip("experiments", reason="experiments/ stands beside the library")
