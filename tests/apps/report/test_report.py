"""The page tells what was measured, is one file, and escapes text that users give."""

from __future__ import annotations

import re
import shutil
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands import (
    AdditiveCalibrator,
    CalibrationWarning,
    ClearRegressor,
    FixedRatioCalibrator,
    LinearQuantiles,
    MemberEnsemble,
    ResidualQuantiles,
)
from clearbands.apps.report import Report
from tests.apps.report.houses import houses, small_clear
from tests.apps.report.page import Page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`"


def assert_sound(html):
    """Check that tags close and that the page has no NaN or infinity; return the page."""
    page = Page(html)
    for name, value in page.attributes:
        if name in ("d", "style"):
            assert not re.search(r"nan|inf", value), value
    assert " nan" not in page.text
    return page


def test_the_page_needs_no_network_and_closes_its_tags(html):
    page = assert_sound(html)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert not {"src", "action", "data"} & {name for name, _ in page.attributes}
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    for reference in ("http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest"):
        assert reference not in html, reference
    assert "default-src 'none'" in html


def test_every_section_is_there(text):
    for heading in (
        "Every level",
        "Predictions and true values",
        "Why intervals are wide",
        "Along the most important features",
        "How noise and ignorance were weighed",
        "Where coverage holds",
        "The models that competed",
        "How close the predictions are",
        "Most ignorance: collect more like these",
        "Most noise: measure them better",
        "What is guaranteed and what is not",
        "How to reproduce it",
    ):
        assert heading in text, heading


def test_the_share_of_ignorance_is_one_number_everywhere(model, text):
    parts = model.predict_uncertainty(houses(120, seed=1)[0])
    share = parts.mean_share
    assert share == pytest.approx(parts.epistemic.sum() / (parts.epistemic + parts.aleatoric).sum())
    assert f"{100 * share:.0f} % of the mean width is ignorance of the model: more" in text
    assert f"above that of the mean width, {100 * share:.0f} %," in text


def test_bounds_below_zero_of_prices_are_found():
    X, price = houses(200)
    fitted = small_clear().fit(X, price - 200)
    X, price = houses(120, seed=1)
    is_sold = price >= 200
    X, y = X.filter(pl.lit(is_sold)), price[is_sold] - 200
    n_below = (fitted.predict_interval(X)[1][:, 0, 0] < 0).sum()
    assert n_below > 0
    text = Page(fitted.report(X, y).html).text
    assert f"None of the {len(y)} true values is negative, but {n_below} lower bounds are" in text
    assert "support=(0, inf)" in text
    assert "support=" not in Page(fitted.report(X, y - 10).html).text


def test_every_picture_has_the_unit(html):
    axes = re.findall(r'<p class="[xy]-name">([^<]+)</p>', html)
    assert axes[0] == "price (EUR)"
    assert {"Width by noise (EUR)", "Width by ignorance (EUR)", "Quantile loss (EUR)"} <= set(axes)


def test_the_table_of_contents_leads_to_every_section(html):
    links = re.findall(r'<li><a href="#(\w+)">([^<]+)</a>', html)
    sections = re.findall(r'<section id="(\w+)">\s*<h2>([^<]+)</h2>', html)
    assert len(links) > 8
    assert links == sections


def test_hostile_names_and_values_stay_text():
    X, y = houses(80)
    X = X.rename({"size": HOSTILE}).with_columns(
        pl.when(pl.col("town") == "Aa")
        .then(pl.lit(HOSTILE))
        .otherwise(pl.col("town"))
        .alias("town")
    )
    fitted = small_clear(FixedRatioCalibrator()).fit(X, y)
    groups = [HOSTILE if i % 2 else "b" for i in range(80)]
    page = Page(fitted.report(X, y, target=HOSTILE, unit=HOSTILE, by=groups).html)
    assert page.tags.count("script") == 6  # four plots, all rows, and our own script
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "alert(2)" in page.text


@pytest.mark.parametrize("parameters", [{}, {"calibration": "conformal"}])
def test_what_holds_is_said_as_the_model_says_it(parameters):
    fitted = small_clear(**parameters).fit(*houses(80))
    text = Page(fitted.report(*houses(60, seed=1)).html).text
    assert f"This holds: {fitted.guarantee_}" in text
    assert ("with a probability of at least 90 %" in text) == bool(parameters)
    assert ("nothing is guaranteed in finite samples" in text) != bool(parameters)


def test_rows_that_belong_together_or_count_unlike_get_a_promise_of_their_own():
    X, y = houses(160)
    fitted = small_clear(calibration="conformal")
    together = fitted.fit(X, y, groups=np.arange(160) // 2)
    text = Page(together.report(*houses(60, seed=1)).html).text
    assert "with a probability of at least 90 %" not in text
    assert "Rows of one label are not drawn independently" in text
    weighted = fitted.fit(X, y, calibration_weight=1.0 + np.arange(160) % 2)
    text = Page(weighted.report(*houses(60, seed=1)).html).text
    assert "as often as their weights say, lie inside their intervals" in text
    assert "in 19 of 20 cases" not in text.split("This holds:")[1].split("not promised")[0]


def test_how_to_reproduce_it_names_seed_versions_and_rows(model, text):
    assert "Seed 0 " in text
    assert f"{model.n_train_} trained, {model.n_calibration_} calibrated" in text
    assert f"numpy {np.__version__}" in text
    unseeded = small_clear().set_params(random_state=None).fit(*houses(80))
    text = Page(unseeded.report(*houses(40, seed=1)).html).text
    assert "None was given: fitting again gives another model." in text


def test_another_level_of_the_model_can_be_reported(model):
    text = Page(model.report(*houses(60, seed=1), confidence_level=0.5).html).text
    assert "The rest of the page is about the level of 50 %." in text
    assert "lie inside their 50 % intervals" in text
    with pytest.raises(ValueError, match="not fitted at level"):
        model.report(*houses(60, seed=1), confidence_level=0.95)


def test_infinite_intervals_are_said_and_not_drawn():
    X, y = houses(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        fitted = small_clear(calibration="conformal", confidence_level=[0.99, 0.5]).fit(X, y)
    page = assert_sound(fitted.report(*houses(30, seed=1)).html)
    assert "No finite interval is valid at 99 %." in page.text
    assert "5 calibration rows are too few; the level needs at least 99." in page.text
    assert "Predictions and true values" not in page.text
    assert "The rest of the page is about the level of 99 %." in page.text


@pytest.mark.parametrize("n", [4, 5, 7])
def test_few_rows_one_feature_and_arrays(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1))
    fitted = small_clear().fit(X, X[:, 0] + rng.normal(size=80))
    page = assert_sound(fitted.report(X[:n], X[:n, 0]).html)
    assert "x0" in page.text


def test_a_constant_target_and_a_column_without_values():
    X, y = houses(60)
    fitted = small_clear().fit(X, y)
    blank = X.with_columns(pl.lit(None, pl.Float64).alias("size"))
    assert_sound(fitted.report(blank[:20], np.full(20, y[0])).html)


def test_pandas_with_any_index():
    X, y = houses(60)
    frame = X.to_pandas().set_index(pd.Index(range(560, 500, -1)))
    fitted = small_clear().fit(frame, y)
    assert "of 60 true values" in Page(fitted.report(frame, y).html).text


def models_from_elsewhere():
    members = [lambda X, s=s: s * X[:, 0] for s in (0.9, 1.0, 1.1)]
    noise = ResidualQuantiles(LinearQuantiles(), n_bootstraps=3)
    return ClearRegressor(
        MemberEnsemble(members), noise, AdditiveCalibrator(), calibration="joint", random_state=0
    )


def test_models_without_a_leaderboard_or_a_lambda():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + rng.normal(size=120)
    fitted = models_from_elsewhere().fit(X[:60], y[:60], X_cal=X[60:90], y_cal=y[60:90])
    text = assert_sound(fitted.report(X[90:], y[90:]).html).text
    assert "The models that competed" not in text
    assert "How noise and ignorance were weighed" not in text


def test_where_nothing_is_known_nothing_is_claimed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = X[:, 0] + rng.normal(size=90)
    with pytest.warns(CalibrationWarning):
        fitted = models_from_elsewhere().fit(X, y)
    text = Page(fitted.report(X[:30], y[:30]).html).text
    assert "may have seen the rows that calibrated them" in text
    assert "approaches" not in text
    assert "of all new rows is expected" not in text


def test_without_jinja2_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'A report needs the extra "report": pip install jinja2'):
        model.report(*houses(20, seed=1))


def test_saved_and_shown(tmp_path):
    report = Report('<p title="a">ü</p>')
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html
    frame = Page(report._repr_html_())
    assert dict(frame.attributes)["srcdoc"] == report.html


def test_a_terminal_shows_one_line_of_a_report():
    assert repr(Report("x" * 186_000)) == "Report of 186 kB; save(path) writes it as one file"


def test_a_target_that_names_its_unit_names_it_once(model):
    text = Page(model.report(*houses(60, seed=1), target="Price (EUR)", unit="EUR").html).text
    assert "Price (EUR)" in text
    assert "(EUR) (EUR)" not in text


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_in_a_browser_rows_can_be_read_and_zoomed(browser, html, tmp_path, width):
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    # The page does not scroll sideways; tables that are too wide scroll by themselves.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    canvas = page.locator("#plot-rows .canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    places = [
        (box["x"] + box["width"] * share, box["y"] + box["height"] * 0.5) for share in (0.4, 0.8)
    ]
    page.mouse.move(*places[0])
    assert page.locator("#plot-rows .tip").inner_text().startswith("Row ")
    before = page.locator("#plot-rows .x-axis").inner_text()
    page.mouse.down()
    page.mouse.move(places[1][0], places[1][1] + 60)
    page.mouse.up()
    assert page.locator("#plot-rows svg").last.get_attribute("viewBox") != "0 0 1000 1000"
    assert page.locator("#plot-rows .x-axis").inner_text() != before
    page.locator("#plot-rows button").click()
    assert page.locator("#plot-rows .x-axis").inner_text() == before
    assert problems == []
    page.close()


def listed(page):
    return [int(n.replace(",", "")) for n in page.locator(".all-rows tbody th").all_inner_texts()]


def test_in_a_browser_all_rows_can_be_sorted_filtered_and_taken_along(
    browser, html, model, tmp_path
):
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    parts = model.predict_uncertainty(houses(120, seed=1)[0])
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((tmp_path / "page.html").as_uri())
    assert listed(page) == list(range(1, 26))
    page.locator(".all-rows th button", has_text="Prediction").click()
    assert listed(page) == (1 + np.argsort(-parts.center, kind="stable")[:25]).tolist()
    page.locator(".all-rows input").fill("town = Bb")
    towns = np.array(houses(120, seed=1)[0]["town"].to_list()) == "Bb"
    assert f"{towns.sum()} of 120 rows" in page.locator(".all-rows .tools").inner_text()
    page.locator(".all-rows input").fill("prediction > 600")
    wanted = set((1 + np.flatnonzero(parts.center > 600)).tolist())
    with page.expect_download() as download:
        page.locator(".download").click()
    taken = pl.read_csv(download.value.path())
    assert set(taken["row"]) == wanted
    assert taken["prediction"].to_list() == sorted(taken["prediction"], reverse=True)
    page.close()


def test_in_a_browser_a_zoom_shows_an_outlier_whole(browser, model, tmp_path):
    X, y = houses(120, seed=1)
    y[int(np.argmax(model.predict(X)))] = 1e5
    model.report(X, y).save(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((tmp_path / "page.html").as_uri())
    canvas = page.locator("#plot-bands .canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 60)
    page.mouse.up()
    assert "100,000" in page.locator("#plot-bands .y-axis").inner_text()
    page.close()


def test_in_a_browser_what_a_finger_tapped_stays(browser, html, tmp_path):
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("#plot-bands .canvas").tap()
    assert page.locator("#plot-bands .tip").is_visible()
    page.locator("h1").tap()
    assert not page.locator("#plot-bands .tip").is_visible()
    page.close()
