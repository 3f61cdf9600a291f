"""All pages in a real browser, wide and narrow, light and dark, keep axe-core's rules.

axe-core is `node_modules/axe-core/axe.min.js`, or what the variable AXE_CORE names.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("fastapi")
from clearbands.apps.report.over_time import make_monitor, measure_history
from clearbands.apps.web.explore import create_page, make_scene
from clearbands.apps.web.service import create_app
from clearbands.persistence.origin import record_origin
from tests.apps.report.houses import houses, small_clear
from tests.browsers import open_browser
from tests.served import serving

AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
WIDTHS = (390, 768, 1300)
SCHEMES = ("light", "dark")
LONG = "living_area_in_square_metres_above_ground"
RUN = """async () => {
  // Swagger UI has its own order of headings.
  const rules = { "heading-order": { enabled: !document.querySelector(".swagger-ui") } };
  const found = await axe.run(document, { resultTypes: ["violations"], rules });
  return found.violations.map(({ id, impact, nodes }) =>
    `${id} (${impact}) at ${nodes.map((node) => node.target.join(" ")).join("; ")}`);
}"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def script():
    if not AXE.exists():
        pytest.skip("axe-core is not installed")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """The addresses of all pages, about a model whose columns have long names."""
    folder = tmp_path_factory.mktemp("pages")
    X, y = houses(200)
    X = X.rename({X.columns[0]: LONG})
    model = small_clear(confidence_level=[0.8, 0.5]).fit(X, y)
    model.origin_ = record_origin(X[:0], y[:0], target="price", unit="EUR")
    new, y_new = houses(120, seed=1)
    new = new.rename({new.columns[0]: LONG})
    model.report(new, y_new, target="price", unit="EUR").save(folder / "report.html")
    make_monitor(measure_history(model, new, y_new), target="price").save(folder / "monitor.html")
    scene = make_scene({"houses.clear": model}, new.with_columns(pl.Series("price", y_new)), y_new)
    with serving(create_page(scene)) as explore, serving(create_app(model)) as service:
        yield {
            "report": (folder / "report.html").as_uri(),
            "monitor": (folder / "monitor.html").as_uri(),
            "explore": f"http://127.0.0.1:{explore}/",
            "docs": f"http://127.0.0.1:{service}/",
        }


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    with open_browser(folder, bypass_csp=True) as browser:  # so that axe-core's script may run
        yield browser


@pytest.mark.parametrize("name", ["report", "monitor", "explore", "docs"])
def test_pages_fit_every_screen_and_can_be_used_by_everyone(name, addresses, browser, script):
    problems = []
    page = browser.new_page()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(addresses[name])
            page.wait_for_load_state("networkidle")
            needed = page.evaluate("document.documentElement.scrollWidth")
            if needed > width:
                problems.append(f"{scheme} {width}: the page is {needed} wide")
            page.evaluate(script)
            problems += [f"{scheme} {width}: {said}" for said in page.evaluate(RUN)]
    page.close()
    assert problems == []


def test_explore_opens_with_its_list_at_the_top(addresses, browser):
    page = browser.new_page()
    page.set_viewport_size({"width": 1300, "height": 844})
    page.goto(addresses["explore"])
    page.wait_for_selector("#bands svg")
    assert page.evaluate("document.getElementById('sliders').scrollTop") == 0
    first = page.locator("#sliders .control").first
    assert "active" in first.get_attribute("class")
    assert page.locator("#file").evaluate("file => getComputedStyle(file).position") == "absolute"
    page.close()
