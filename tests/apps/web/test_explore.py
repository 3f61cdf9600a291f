"""The page to explore: what it computes, whom it answers, and how it behaves in a real browser."""

from __future__ import annotations

import re
from copy import copy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from clearbands.apps.web.explore import create_page, make_scene, views
from clearbands.persistence.origin import record_origin
from tests.apps.web.explored import band, predicted
from tests.served import COLUMNS, houses, linear_model, serving, small_model


@pytest.fixture(scope="module")
def crowded(browser):
    """The page of two models with many categories and one outlier, on a phone."""
    rng = np.random.default_rng(0)
    size = rng.lognormal(4.5, 0.4, 300)
    size[7] = 60_000
    frame = pl.DataFrame({"size": size, "town": [f"Neighbourhood {i % 26:02}" for i in range(300)]})
    y = 3 * np.minimum(size, 500) + rng.normal(size=300)
    y[7] = 1e6
    models = {"a": linear_model(frame, y), "b": linear_model(frame, y + 1)}
    with serving(create_page(make_scene(models, frame, y))) as port:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.wait_for_selector("#bands svg")
        yield page
        page.close()


def test_the_page_tells_target_directions_and_the_numbers_of_the_report(browser):
    frame, model = houses(60, seed=1), copy(small_model())
    y = frame["price"].to_numpy()
    model.origin_ = record_origin(frame.select(COLUMNS), y, target="price", unit="kCHF")
    model.monotone = {"x": 1}
    report = model.report(frame.select(COLUMNS), y, unit="kCHF").html
    coverage, width = (
        text.replace("\N{NO-BREAK SPACE}", " ")
        for text in re.findall(r'<p class="big">(.*?)</p>', report)[:2]
    )
    with serving(create_page(make_scene({"a": model}, frame, y))) as port:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}")
        page.select_option("#column", "x")
        page.wait_for_selector("svg[aria-label='Band along x']")
        page.wait_for_function("document.querySelector('#reading').innerText.includes('told')")
        assert page.inner_text("#about").startswith("Intervals for price. 60 rows")
        assert page.locator("#bands svg text", has_text="price (kCHF)").count() == 1
        assert "The model was told that it rises with x." in page.inner_text("#reading")
        summary = page.inner_text("#summary")
        assert f"{coverage} of 60" in summary
        assert width in summary
        assert "kCHF" in width
        page.close()


def test_labels_of_many_categories_do_not_overlap(crowded):
    crowded.select_option("#column", "town")
    crowded.wait_for_selector("svg[aria-label='Band along town']")
    labels = crowded.locator("#bands figure:first-child g.choice text")
    places = [float(label.get_attribute("x")) for label in labels.all()]
    assert min(np.diff(places)) >= 20  # pixels for slanted text of 12 pixels
    assert crowded.locator("#bands figure:first-child g.choice text.strong").count() == 1
    assert len({label.text_content() for label in labels.all()}) == len(places)


def test_what_a_finger_touches_is_told_until_it_touches_something_else(crowded):
    crowded.select_option("#column", "town")
    crowded.wait_for_selector("svg[aria-label='Band along town']")
    crowded.locator("#bands figure:first-child g.choice:has(rect)").nth(5).tap()
    crowded.wait_for_timeout(1000)
    assert crowded.locator(".tip").is_visible()
    assert crowded.locator(".tip").inner_text().startswith("Neighbourhood 05: ")
    crowded.locator("#about").tap()
    assert not crowded.locator(".tip").is_visible()


def test_the_outlier_is_shown_when_it_is_asked_for(crowded):
    crowded.select_option("#column", "size")
    crowded.wait_for_selector("svg[aria-label='Band along size']")

    def widest_label():
        texts = crowded.locator("#bands figure:first-child svg > text").all_text_contents()
        return max(float(text.replace(",", "")) for text in texts)

    near = widest_label()
    crowded.check("#whole")
    crowded.wait_for_function(
        "() => [...document.querySelectorAll('#bands svg > text')]"
        ".some(text => text.textContent == '60,000')"
    )
    assert widest_label() >= 60_000 > 10 * near
    crowded.uncheck("#whole")


def test_the_page_loads_with_a_band_for_each_model(page):
    assert page.title() == "model.cb and other.cb · clearbands"
    assert page.locator("#bands polygon.epistemic").count() == 2
    assert page.locator("#bands polygon.aleatoric").count() == 2
    assert page.locator("#scatter circle.point").count() == 60
    assert "60 rows, 5 columns" in page.inner_text("#about")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390  # the width of a phone


def test_a_slider_moves_the_band(page):
    page.select_option("#column", "x")
    page.wait_for_selector("svg[aria-label='Band along x']")
    before, said = band(page), page.inner_text("#reading")
    slider = page.locator("input[type=range][data-column=age]")
    slider.focus()
    for _ in range(30):
        slider.press("ArrowRight")
    page.wait_for_selector("svg[aria-label='Band along age']")
    page.select_option("#column", "x")
    page.wait_for_selector("svg[aria-label='Band along x']")
    page.wait_for_function(
        "before => document.getElementById('reading').innerText != before", arg=said
    )
    assert band(page) != before


def test_a_list_moves_the_band(page):
    page.select_option("select[data-column=colour]", label="green")
    page.wait_for_selector("svg[aria-label='Band along colour']")
    green = page.inner_text("#reading")
    page.select_option("select[data-column=colour]", label="red")
    page.wait_for_function(
        "before => document.getElementById('reading').innerText != before", arg=green
    )
    chosen = page.locator("#bands figure:first-child g.choice:not(.faded) text")
    assert chosen.text_content() == "red"


def test_another_level_gives_a_narrower_band(page):
    page.select_option("#column", "x")
    page.wait_for_selector("svg[aria-label='Band along x']")
    assert "at 90 %" in page.inner_text("#reading")
    page.locator("#levels label").nth(1).click()
    assert "at 50 %" in page.inner_text("#reading")
    page.locator("#levels label").nth(0).click()


def test_a_value_to_exceed_and_a_fan_of_levels(page):
    page.select_option("#column", "x")
    page.wait_for_selector("svg[aria-label='Band along x']")
    page.fill("#above", "1.5")
    page.wait_for_selector("#bands line.above", state="attached")
    assert "The chance to exceed 1.5 is " in page.inner_text("#reading")
    page.select_option("#shown", "fan")
    assert page.locator("#bands figure:first-child polygon").count() == 3
    assert page.locator("#legend .of-fan").count() == 3
    page.select_option("#shown", "parts")
    page.fill("#above", "")
    page.wait_for_function("() => !document.querySelector('#bands line.above')")
    assert "chance" not in page.inner_text("#reading")


def test_a_chosen_row_is_explained(page, scene):
    page.locator("#table tbody button").first.click()
    page.wait_for_selector("#why table")
    widths = np.add(
        *(views.overview(scene)["models"][0]["bands"][0][p] for p in ("aleatoric", "epistemic"))
    )
    widest = int(np.argmax(widths))
    said = page.inner_text("#why")
    assert f"Row {widest + 1}" in said
    assert "wider than 98 % of the rows here" in said
    assert page.inner_text("#row-name") == f"Row {widest + 1}"
    value = page.locator("input[type=number][aria-label='x, exactly']").input_value()
    assert float(value) == pytest.approx(scene.rows[widest]["x"], rel=1e-4)
    page.click("#reset")
    assert page.inner_text("#why") == ""


def test_a_point_of_the_picture_can_be_chosen(page):
    page.locator("#scatter circle.point[data-row='7']").click(force=True)
    page.wait_for_selector("#why h3")
    assert page.locator("#scatter circle.chosen").count() == 1


def test_an_uploaded_file_gives_the_numbers_of_the_command(page, explore_files):
    page.set_input_files("#file", explore_files / "rows.csv")
    page.wait_for_selector("#scored a >> nth=1")
    assert "60 rows scored with model.cb" in page.inner_text("#scored")
    for number, model in enumerate(("model.cb", "other.cb")):
        with page.expect_download() as download:
            page.locator("#scored a").nth(number).click()
        assert download.value.suggested_filename == f"rows-{Path(model).stem}.csv"
        assert Path(download.value.path()).read_bytes() == predicted(explore_files, model)


def test_an_upload_that_fails_says_why(page, tmp_path):
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    page.set_input_files("#file", tmp_path / "wrong.csv")
    page.wait_for_selector("#scored .problem")
    assert "wrong.csv lacks 5 columns" in page.inner_text("#scored")
    page.failures.clear()  # the browser logs the refusal
