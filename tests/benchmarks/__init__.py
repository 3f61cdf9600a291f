import pytest

pytest.importorskip("benchmarks", reason="benchmarks/ stands beside the library")
