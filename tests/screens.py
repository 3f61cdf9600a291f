"""Pictures of the pages for README and docs: `python -m tests.screens`, with chromium.

The report and the explore page of the demo, as a reader of `clearbands demo` would see them.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, sync_playwright

from clearbands.apps.cli import diabetes
from clearbands.apps.web.explore import create_page, make_scene
from clearbands.persistence.origin import record_origin
from tests.browsers import CHROMIUM, OPTIONS
from tests.served import serving

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1180, "height": 760}
COLOURS = 96  # enough for flat pages, and the file stays small


def main() -> None:
    demo = diabetes.run()
    demo.model.origin_ = record_origin(demo.X[:0], demo.y[:0], target=diabetes.TARGET)
    rows = demo.X.with_columns(pl.Series(diabetes.TARGET, demo.y))
    scene = make_scene({"diabetes.clear": demo.model}, rows, demo.y)
    with tempfile.TemporaryDirectory() as folder, serving(create_page(scene)) as port:
        report = Path(folder) / "report.html"
        demo.report().save(report)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch_persistent_context(
                Path(folder) / "browser", executable_path=CHROMIUM, args=OPTIONS, viewport=SIZE
            )
            page = browser.new_page()
            page.goto(report.as_uri())
            save(page, "report.png", height=610)  # where the contents end
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector("#bands svg")
            page.fill("#above", "200")
            page.wait_for_selector("#bands line.above", state="attached")
            page.locator("#above").blur()
            save(page, "explore.png")
            browser.close()


def save(page: Page, name: str, height: int = SIZE["height"]) -> None:
    """Save the top of the page that is in sight, in few colours."""
    from PIL import Image

    clip = {"x": 0, "y": 0, "width": SIZE["width"], "height": height}
    whole = Image.open(io.BytesIO(page.screenshot(clip=clip)))
    whole.convert("RGB").quantize(COLOURS).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main()
