"""Torch modules that somebody else trained."""

import numpy as np
import pandas as pd

from clearbands import MemberEnsemble
from tests.deep import need_torch
from tests.toys import noisy_line


def test_torch_modules_are_members():
    """In their own precision, without dropout, and left in the mode they were in."""
    torch = need_torch()
    torch.manual_seed(0)  # weights that put a row near 0 would make the last digit of it large
    X, _ = noisy_line(30)
    line = torch.nn.Linear(2, 1, dtype=torch.float64)
    module = torch.nn.Sequential(line, torch.nn.Dropout(0.9))
    flat = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Flatten(0))
    frame = pd.DataFrame(X, columns=["a", "b"])
    members = MemberEnsemble([module, flat]).fit(frame).predict_members(frame)
    expected = X @ line.weight.detach().numpy()[0] + line.bias.detach().numpy()
    np.testing.assert_allclose(members[:, 0], expected)
    np.testing.assert_allclose(members[:, 1], flat(torch.from_numpy(X).float()).detach(), rtol=1e-5)
    assert module.training
    again = MemberEnsemble([module, flat]).predict_members(X)
    np.testing.assert_allclose(members, again, rtol=1e-5, atol=1e-6)
