"""What README and docs show must run as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.toys import calibration_set, noisy_line

ROOT = Path(__file__).parent.parent


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("block", python_blocks(ROOT / "README.md"))
def test_the_code_in_the_readme_runs(block, capsys):
    X, y = noisy_line()
    y_cal, center, aleatoric, epistemic = calibration_set()
    names = {"X": X, "y": y, "X_new": X, "y_cal": y_cal}
    names |= {"center": center, "aleatoric": aleatoric, "epistemic": epistemic}
    names |= {"center_cal": center, "aleatoric_cal": aleatoric, "epistemic_cal": epistemic}
    exec(block, names)
    if "parts" in names:
        assert "dominant" in capsys.readouterr().out
    else:
        assert np.all(names["lower"] <= names["upper"])


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
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
