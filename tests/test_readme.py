"""What README and docs show must run as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.toys import calibration_set, noisy_line

ROOT = Path(__file__).parent.parent


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name} {i}")
    for page in PAGES
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_code_on_every_page_runs(block):
    X, y = noisy_line()
    y_cal, center, aleatoric, epistemic = calibration_set()
    names = {"X": X, "y": y, "X_new": X, "y_cal": y_cal}
    names |= {"center": center, "aleatoric": aleatoric, "epistemic": epistemic}
    names |= {"center_cal": center, "aleatoric_cal": aleatoric, "epistemic_cal": epistemic}
    exec(block, names)
    if "intervals" in names:
        assert names["intervals"].shape == (240, 2, 1)
    if "lower" in names:
        assert np.all(names["lower"] <= names["upper"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_every_public_name_exists_and_importing_is_light():
    code = (
        "import sys, clearbands\n"
        "heavy = {'torch', 'matplotlib', 'xgboost', 'sklearn', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "for name in clearbands.__all__: getattr(clearbands, name)\n"
        "heavy = {'torch', 'matplotlib', 'xgboost', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
