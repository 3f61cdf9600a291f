"""Networks that somebody else trained: torch modules as functions of rows."""

from __future__ import annotations

import sys
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from clearbands.rows.checks import is_frame
from clearbands.rows.typed import TableLike


def is_module(model: Any) -> bool:
    """Whether `model` is a torch module; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def predict_module(module: Any, X: TableLike) -> np.ndarray:
    """(n,) or what else the module gives, for X as a tensor of its own type and place.

    It predicts as after `eval()`, and is left as it was.
    """
    import torch

    # A copy: torch takes no arrays that must not be written to.
    values = np.array(nw.from_native(X, eager_only=True).to_numpy() if is_frame(X) else X, float)
    first = next(module.parameters(), torch.empty(0))
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            output = module(torch.as_tensor(values, dtype=first.dtype, device=first.device))
    finally:
        module.train(was_training)
    prediction = output.cpu().numpy().astype(float)
    return prediction[:, 0] if prediction.ndim == 2 and prediction.shape[1] == 1 else prediction
