"""The code in README and docs runs as it is printed."""

import datetime as dt
import re
import shutil
import subprocess
import sys
from html import unescape
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app
from tests.api_pages import SECTIONS, names_of, summary_of, write_all, write_page
from tests.browsers import open_browser
from tests.pages import TUTORIALS, commands, python_blocks
from tests.toys import calibration_set, noisy_line

ROOT = Path(__file__).parents[2]
WRITTEN = [ROOT / "docs" / name for name in ("results", "api")]  # `make docs` writes them
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not set(WRITTEN) & set(page.parents)
    ),
]
TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "experiments").glob("*.md"))]
OTHERS = (
    "pandas",
    "pyarrow",
    "fastapi",
    "xgboost",
    "quantile_forest",
    "mapie",
    "catboost",
    "torch",
)
"""Packages for the tests that `pip install ".[cli]"` does not install."""
ENTRIES = [name for section in SECTIONS.values() for name in names_of(section)]
ENDLESS = {"serve", "explore"}  # commands that go on until they are stopped


def name_of(page):
    return str(page.relative_to(ROOT))


def pages_with(find):
    """Return the pages where `find` finds something, without the tutorials.

    tests/docs/test_tutorials.py runs these as a whole.
    """
    pages = [page for page in PAGES if TUTORIALS not in page.parents]
    return [pytest.param(page, id=name_of(page)) for page in pages if find(page)]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Return the names that short examples assume, in a folder of the reader's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images").mkdir()
    X, y = noisy_line()
    y_cal, center, aleatoric, epistemic = calibration_set()
    names = {"X": X, "y": y, "X_new": X, "y_cal": y_cal}
    names |= {"center": center, "aleatoric": aleatoric, "epistemic": epistemic}
    return names | {"center_cal": center, "aleatoric_cal": aleatoric, "epistemic_cal": epistemic}


class Hidden(MetaPathFinder):
    """A finder that hides installed packages, unless a block of code needs one.

    Packages that another test has loaded stay: compiled modules cannot be loaded twice.
    """

    def __init__(self, names, finders):
        self.names, self.finders, self.needed = set(names), list(finders), ""

    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in self.names and package not in sys.modules and not self.needed:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders)
        return next((spec for spec in found if spec is not None), None)

    def find_distributions(self, context):
        finders = [each for each in self.finders if hasattr(each, "find_distributions")]
        return [found for each in finders for found in each.find_distributions(context)]


@pytest.fixture
def hidden(monkeypatch):
    finder = Hidden(OTHERS, sys.meta_path)
    monkeypatch.setattr(sys, "meta_path", [finder])
    return finder


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(python_blocks))
def test_the_code_on_every_page_runs_from_top_to_bottom(page, reader, hidden):
    """Only `.[cli]` is installed, as the pages say, and what a block says that it needs."""
    left_out = []
    for block in python_blocks(page):
        hidden.needed = block.needs
        if block.why_not:
            left_out.append(block.why_not)
        elif block.needs and find_spec(block.needs) is None:
            left_out.append(f"{block.needs} is not installed")
        else:
            block.run(reader)
    if page.name == "README.md":
        assert reader["intervals"].shape == (240, 2, 1)
    if left_out:
        pytest.skip(f"some blocks: {', '.join(left_out)}")


def houses(n):
    size = np.linspace(30, 200, n)
    town = np.resize(["Aarau", "Bern", "Chur"], n)
    season = np.resize(["summer", "winter"], n)
    noise = np.random.default_rng(n).normal(0, 20, n)
    return pl.DataFrame({"size": size, "town": town, "season": season, "price": 4 * size + noise})


def demand(n, first=0):
    hours = dt.datetime(2026, 1, 1) + dt.timedelta(hours=1) * np.arange(first, first + n)
    lag = np.random.default_rng(first).normal(5, 1, n)
    noise = np.random.default_rng(n).normal(0, 0.2, n)
    return pl.DataFrame({"time": hours.tolist(), "same_hour": lag, "demand": lag + noise})


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(commands))
def test_the_commands_on_every_page_run_one_after_the_other(page, reader):
    houses(60).write_csv("houses.csv")
    houses(400).write_parquet("houses.parquet")  # enough rows for every group
    houses(40).write_csv("sold.csv")
    houses(10).drop("price").write_csv("new.csv")
    houses(10).drop("price").write_parquet("new.parquet")
    demand(150).write_csv("demand.csv")
    demand(60, first=150).write_csv("last_week.csv")
    calls = commands(page)
    if calls[0][0] != "fit":  # the page assumes that there is a model
        calls.insert(0, ["fit", "houses.csv", "--target", "price", "--out", "houses.clear"])
    for call in calls:
        if call[0] not in ENDLESS:
            result = CliRunner().invoke(app, call)
            assert result.exit_code == 0, (call, result.stderr)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text()
    made = re.findall(r'save(?:fig)?\("([^"]+)"', text)  # the code of the page saves them
    for link in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = link.partition("#")
        if link.startswith("http") or file in made:
            continue
        target = (page.parent / file).resolve() if file else page
        if WRITTEN[1] in target.parents:
            assert target.stem in ENTRIES, link
            continue
        if WRITTEN[0] in target.parents:
            target = ROOT / "experiments" / "results" / target.name
        if target == ROOT / "docs" / "results.md":
            target = ROOT / "experiments" / "RESULTS.md"  # docs/results.md includes it
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def anchors(text):
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_files_that_a_page_names_are_there(page):
    homes = (ROOT, ROOT / "src" / "clearbands", page.parent)
    for name in set(re.findall(r"`([\w/]+\.py)`", page.read_text())):
        assert any((home / name).exists() for home in homes), name


def test_the_reference_has_every_public_name_once_and_no_other():
    listed = [name for section in SECTIONS.values() for name in section]
    assert sorted(listed) == sorted(clearbands.__all__)


def test_every_name_of_the_reference_can_be_imported_from_clearbands():
    """Names are imported as docs/api.md says: by themselves or with their module."""
    for name in ENTRIES:
        module, _, inner = name.rpartition(".")
        names = {}
        exec(f"from clearbands import {module or inner}\nvalue = {name}", names)
        assert summary_of(name), name


def test_the_page_of_the_reference_is_up_to_date():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == write_page(), "run python -m tests.api_pages"


def test_every_page_leads_to_the_glossary():
    glossary = ROOT / "docs" / "glossary.md"
    for page in PAGES[1:]:
        if page not in (glossary, ROOT / "docs" / "results.md"):
            link = "glossary.md" if page.parent == glossary.parent else "../glossary.md"
            assert f"({link}" in page.read_text(), page


def test_every_page_is_in_the_menu():
    config = (ROOT / "zensical.toml").read_text()
    for page in PAGES[1:]:
        assert f'"{page.relative_to(ROOT / "docs")}"' in config


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, and return its folder."""
    pytest.importorskip("zensical", reason="zensical is not installed")
    folder = tmp_path_factory.mktemp("docs")
    for name in ("docs", "src/clearbands", "experiments/results/figures"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("zensical.toml", "experiments/RESULTS.md"):
        shutil.copy(ROOT / name, folder / name)
    results = ROOT / "experiments" / "results"
    shutil.copytree(results / "figures", folder / "docs/results/figures", dirs_exist_ok=True)
    for path in (*results.glob("*.md"), results / "summary.json"):
        shutil.copy(path, folder / "docs" / "results")
    (folder / "docs" / "howto" / "example-report.html").touch()
    write_all(folder / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_the_site_is_whole_and_loads_nothing_from_elsewhere(site):
    assert "api/ClearRegressor.html" in (site / "api.html").read_text()
    reference = (site / "api" / "ClearRegressor.html").read_text()
    assert "Calibrated prediction intervals that tell noise from ignorance." in reference
    assert not re.findall(r'<(?:script|link)[^>]*(?:src|href)="https?:', reference)
    assert broken_links(site) == []


@pytest.mark.slow
def test_the_search_works_from_a_folder(site, tmp_path):
    with open_browser(tmp_path, width=1400) as browser:
        page = browser.new_page()
        page.goto((site / "howto" / "pandas.html").as_uri())
        page.locator("button.md-search__button").click()
        page.locator("input[aria-label=Search]").fill("decimal comma")
        page.locator("a[href*='?h=decimal+comma']").first.wait_for()


def broken_links(site):
    """Return links to missing files or anchors, each as `page -> link`."""
    found = []
    pages = {page: page.read_text() for page in site.rglob("*.html")}
    for page, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            file, _, anchor = unquote(unescape(link)).partition("#")
            if re.match(r"[a-z]+:|//", link) or (page.name == "404.html"):
                continue
            target = (page.parent / file).resolve() if file else page
            target = target / "index.html" if target.is_dir() else target
            is_there = target.exists() and (
                not anchor or target not in pages or f'id="{anchor}"' in pages[target]
            )
            if not is_there:
                found.append(f"{page.relative_to(site)} -> {link}")
    return sorted(set(found))


def test_pictures_of_the_gallery_are_those_of_its_code():
    text = (ROOT / "docs" / "gallery.md").read_text()
    saved = re.findall(r'savefig\("([^"]+)"', text)
    assert saved == re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)


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
