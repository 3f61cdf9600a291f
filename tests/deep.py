"""Networks that are small enough for tests, and the reason for tests without them."""

import pytest

NO_TORCH = "torch is not installed (the extra `deep`)"


def need_torch():
    return pytest.importorskip("torch", reason=NO_TORCH)


TINY = {"hidden": (8, 6), "max_epochs": 6, "batch_size": 32}
