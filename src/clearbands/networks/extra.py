"""torch, which is installed only where it is wanted."""

from __future__ import annotations

from typing import Any


def import_torch() -> Any:
    """torch, or one sentence that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            'Training networks needs torch: pip install "clearbands[deep]".'
        ) from error
    return torch
