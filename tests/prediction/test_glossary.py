"""All pages and pictures take the words and colours of the two parts from one place."""

from __future__ import annotations

import re
from pathlib import Path

import clearbands
from clearbands import plots
from clearbands.prediction import glossary

PACKAGE = Path(clearbands.__file__).parent
COLOURS = {
    shade.lower()
    for name, colour in glossary.COLOURS.items()
    if name.startswith(("aleatoric", "epistemic"))
    for shade in colour
}


def test_no_other_file_has_these_colours():
    files = [path for kind in ("py", "css", "js", "html") for path in PACKAGE.rglob(f"*.{kind}")]
    spelled = {
        path.name
        for path in files
        if COLOURS & {shade.lower() for shade in re.findall("#[0-9A-Fa-f]{6}", path.read_text())}
    }
    assert spelled == {"glossary.py"}


def test_pages_have_a_variable_for_every_colour_they_use():
    sheet = glossary.style_sheet()
    known = set(re.findall(r"--([\w-]+):", sheet))
    assert sheet.count("--aleatoric:") == 3  # light, dark, print
    for page in (
        PACKAGE / "apps" / "report" / "page" / "page.css",
        PACKAGE / "apps" / "web" / "explore" / "page" / "style.css",
    ):
        own = set(re.findall(r"--([\w-]+):", page.read_text()))
        used = set(re.findall(r"var\(--([\w-]+)", page.read_text()))
        assert used - own - {"letters"} <= known
        assert not own & known


def test_pictures_and_the_explore_page_say_the_same_words():
    page = (PACKAGE / "apps" / "web" / "explore" / "page" / "index.html").read_text()
    for part in glossary.PARTS:
        assert part.label in page
    assert plots.ALEATORIC == glossary.ALEATORIC.fill.light
