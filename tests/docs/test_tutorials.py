"""The tutorials run from top to bottom, Python and commands, and their pictures are on the site."""

import re
import shlex
from importlib.util import find_spec

import pytest

from tests.apps.cli.running import run
from tests.pages import ROOT, TUTORIALS, shell, steps

PAGES = [pytest.param(page, id=page.stem) for page in sorted(TUTORIALS.glob("*.md"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_runs_whole(page, tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    missing = {block.needs for block in steps(page) if block.needs and not find_spec(block.needs)}
    if missing:
        pytest.skip(f"not installed: {', '.join(sorted(missing))}")
    names = {}
    with shell(tmp_path) as run_shell:
        for block in steps(page):
            lines = block.code.replace("\\\n", " ").splitlines()
            if block.kind == "sh" and all(re.match("clearbands [^&|]*$", line) for line in lines):
                for line in lines:  # in this process, which has imported all already
                    result = run(*shlex.split(line)[1:])
                    assert result.exit_code == 0, (line, result.stderr)
            elif block.kind == "sh":
                run_shell(block)
            else:
                block.run(names)
    plt.close("all")
    for picture in pictures(page):
        assert (tmp_path / picture).stat().st_size > 5_000, picture


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_that_a_tutorial_draws_is_on_its_page(page):
    drawn = re.findall(r'savefig\("([^"]+)"', page.read_text())
    assert drawn == pictures(page)
    for picture in drawn:
        assert (ROOT / "docs" / "images" / "tutorials" / picture).exists(), "make tutorials"


def pictures(page):
    return re.findall(r"!\[[^\]]*\]\(\.\./images/tutorials/([^)]+)\)", page.read_text())
