"""The page tells what was measured, is one file, and shows other people's text as text."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearbands import (
    AdditiveCalibrator,
    CalibrationWarning,
    ClearCalibrator,
    ClearRegressor,
    FixedRatioCalibrator,
    LinearQuantiles,
    MemberEnsemble,
    ResidualQuantiles,
    diagnostics,
    fast,
)
from clearbands.apps.report import Report, figures, make_report, whiskers, widths
from clearbands.apps.report.facts import gather
from clearbands.diagnostics import importance
from clearbands.rows.display import GAP, number
from tests.apps.report.houses import houses, small_clear

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`"


class Page(HTMLParser):
    """What a browser would make of it: tags that close, their attributes, the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.words, self._open = [], [], [], []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace(GAP, " ").split())


@pytest.fixture(scope="module")
def text(html):
    return Page(html).text


def spots(html, name):
    figure = re.search(rf'id="plot-{name}".*?</figure>', html, re.DOTALL).group()
    return json.loads(re.search(r"<script[^>]*>(.*?)</script>", figure, re.DOTALL).group(1))


def assert_sound(html):
    """Tags close, and no number that could not be computed reached the page."""
    page = Page(html)
    for name, value in page.attributes:
        if name in ("d", "style"):
            assert not re.search(r"nan|inf", value), value
    assert " nan" not in page.text
    return page


def test_the_answer_on_top_is_what_was_measured(model, text):
    X, y = houses(120, seed=1)
    _, intervals = model.predict_interval(X)
    parts = model.predict_uncertainty(X)
    cell = diagnostics.coverage(y, intervals[:, :, 0])
    assert f"{cell.n_covered} of 120 true values lie inside their 80 % intervals." in text
    low, high = diagnostics.chance_range(120, 0.8, model.n_calibration_)
    chance = f"By chance alone {100 * low:.1f} % to {100 * high:.1f} %"
    assert f"Coverage {100 * cell.coverage:.1f} % Promised: 80 %. {chance}" in text
    typical = np.median(intervals[:, 1, 0] - intervals[:, 0, 0])
    assert f"A typical interval for price is {number(typical)} EUR wide" in text
    share = parts.epistemic.sum() / (parts.epistemic + parts.aleatoric).sum()
    assert f"What dominates Noise {100 * (1 - share):.0f} % of the mean width is noise" in text


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


def test_hovering_tells_the_row(model, html):
    X, y = houses(120, seed=1)
    parts = model.predict_uncertainty(X)
    told = spots(html, "bands")
    assert len(told) == 120
    assert [spot[0] for spot in told] == sorted(spot[0] for spot in told)
    row = int(np.argmax(parts.center))
    low, high = parts.interval[row]
    words = told[-1][2].split("\n")
    assert words[:3] == [
        f"Row {row + 1}",
        f"prediction {number(parts.center[row])}",
        f"interval {number(low)} to {number(high)}",
    ]
    assert number(y[row]) in words[3]


def test_many_rows_are_thinned_and_the_page_says_so(model, monkeypatch):
    monkeypatch.setattr(figures, "MOST_BARS", 30)
    monkeypatch.setattr(figures, "MOST_DOTS", 40)
    html = model.report(*houses(90, seed=1)).html
    assert len(spots(html, "bands")) == 30
    assert len(spots(html, "rows")) == 40
    text = Page(html).text
    assert "Shown are 30 of 90 rows, evenly spaced by prediction." in text
    assert "Shown are 40 of 90 rows; the widest are listed below." in text


def test_a_row_far_wider_than_all_others_does_not_set_the_scale(facts):
    epistemic = facts.parts.epistemic.copy()
    epistemic[7] *= 1000
    wide = replace(facts, parts=replace(facts.parts, epistemic=epistemic))
    usual, shown = figures.parts_of_rows(facts), figures.parts_of_rows(wide)
    assert len(shown.spots) < len(usual.spots) == 120
    assert not any(spot.words.startswith("Row 8\n") for spot in shown.spots)
    assert shown.y_range[1] <= usual.y_range[1]


def test_the_axis_of_coverage_is_not_stretched_by_a_few_rows(facts):
    found = [w for cells in whiskers.whiskers(facts).values() for w in cells]
    assert all(0 <= w.low <= w.at <= w.high <= 100 for w in found)
    large = [w for w in found if w.n >= whiskers.MANY_ROWS]
    assert 0 < min(w.low for w in large) < 40


def test_widths_along_features_are_means_of_the_rows(facts):
    for panel in widths.panels(facts):
        rows = [layers.n for layers in panel.layers]
        assert sum(rows) == 120
        assert max(x.aleatoric + x.epistemic for x in panel.layers) <= 100.01
    by_name = {panel.name: panel.layers for panel in widths.panels(facts)}
    assert [layers.label for layers in by_name["town"]][-1] == "missing"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", by_name["sold"][0].label)
    own = facts.widths
    is_aa = np.array(facts.columns[1].values == "Aa")
    (aa,) = [layers for layers in by_name["town"] if layers.label == "Aa"]
    assert (aa.n, aa.total) == (is_aa.sum(), number(own[is_aa].sum(axis=1).mean()))


def test_coverage_by_parts_is_that_of_the_diagnosis(facts):
    shown = whiskers.whiskers(facts)
    assert set(shown) >= {"All rows", "Width of the interval", "size", "town", "sold", "new"}
    for cells in shown.values():
        for cell in cells:
            assert 0 <= cell.low <= cell.at <= cell.high <= 100
    by_size = [cell for cell in facts.diagnosis.by_feature if cell.by == "size"]
    assert [cell.n for cell in shown["size"]] == [cell.n for cell in by_size]
    assert [cell.label for cell in shown["town"]] == ["Aa", "Bb", "missing"]
    assert shown["size"][-1].label == "missing"


def test_a_row_far_beyond_all_others_does_not_flatten_the_bands(facts):
    y = facts.y.copy()
    y[7] = 1e6
    usual, shown = figures.bands(facts), figures.bands(replace(facts, y=y))
    assert usual.beyond == 0
    assert shown.beyond >= 1
    assert shown.y_range[1] < 2 * usual.y_range[1]
    (mark,) = [mark for mark in shown.marks if mark.kind == "beyond"]
    assert mark.path.endswith(" 0.0h.01")  # on the upper edge
    (spot,) = [spot for spot in shown.spots if spot.words.startswith("Row 8\n")]
    assert spot.top < 0  # so that zooming in on the row reaches it


def test_every_row_is_predicted_once(model):
    X, y = houses(120, seed=1)

    class Counting:
        """Counts the rows that the model is asked for as they are, and shuffled."""

        def __init__(self):
            self.whole, self.shuffled = 0, 0

        def __getattr__(self, name):
            return getattr(model, name)

        def answers(self, X, calibration_groups=None):
            self.whole += len(X)
            return model.answers(X)

        def predict_uncertainty(self, X, confidence_level=None):
            self.shuffled += len(X)
            return model.predict_uncertainty(X, confidence_level=confidence_level)

        def predict_interval(self, X):
            raise AssertionError("The parts are there already.")

    counting = Counting()
    html = make_report(counting, X, y).html
    assert (counting.whole, counting.shuffled) == (120, 120 * 4 * 2)  # four features, twice
    given = make_report(counting, X, y, answers=model.answers(X)).html
    assert counting.whole == 120
    assert given == html


def test_how_many_rows_were_shuffled_is_said(model, monkeypatch):
    monkeypatch.setattr(importance, "MOST_ROWS", 60)
    text = Page(model.report(*houses(90, seed=1)).html).text
    assert "shuffled between 60 of the 90 rows, drawn at random to bound the work." in text


def test_the_reason_starts_with_what_more_rows_would_do():
    model = fast(random_state=0).fit(*houses(90))
    text = Page(model.report(*houses(60, seed=1)).html).text
    assert "10 times the rows would make these intervals" in text
    parts = model.predict_uncertainty(houses(60, seed=1)[0])
    assert f"{100 * parts.mean_share:.0f} % of the mean width is ignorance" in text
    assert f"What dominates {parts.mean_dominant.capitalize()}" in text
    larger, unclear = ((parts.dominant == name).sum() for name in ("ignorance", "unclear"))
    assert unclear > 0
    assert f"outweighs noise in {larger} of 60 rows; in {unclear} either may." in text


def test_the_share_of_ignorance_is_one_number_everywhere(model, text):
    parts = model.predict_uncertainty(houses(120, seed=1)[0])
    share = parts.mean_share
    assert share == pytest.approx(parts.epistemic.sum() / (parts.epistemic + parts.aleatoric).sum())
    assert f"{100 * (1 - share):.0f} % of the mean width is noise: more rows alone" in text
    assert f"above that of the mean width, {100 * share:.0f} %," in text


@pytest.mark.parametrize(("ratio", "said"), [(0.0, "noise alone"), (math.inf, "ignorance alone")])
def test_a_lambda_of_zero_or_infinity_is_said_in_plain_words(ratio, said):
    fitted = small_clear(FixedRatioCalibrator(ratio=ratio)).fit(*houses(90))
    text = Page(fitted.report(*houses(60, seed=1)).html).text
    assert text.count(f"the intervals are {said}") == 2  # on top, and where coverage is shown
    assert "Row by row" not in text
    assert "Epistemic over aleatoric width" not in text
    absent = "ignorance" if ratio == 0 else "noise"
    assert text.count(f"None: {absent} has no part in these intervals.") == 1


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


def test_groups_of_numbers_are_sorted_as_numbers(model):
    X, y = houses(120, seed=1)
    facts = gather(model, X, y, by=np.resize([1, 2, 10, 100], 120))
    assert [cell.label for cell in whiskers.whiskers(facts)["Group"]] == ["1", "2", "10", "100"]


def test_findings_and_verdict_follow_the_coverage(model):
    X, y = houses(90, seed=2)
    far = model.report(X, y + 400).html
    text = Page(far).text
    assert text.count("The intervals promise more than they hold on these rows.") == 1
    assert "Calibrate the model again on rows like these before you rely on them." in text
    assert "Under-covers by" in text
    assert '<tr class="off">' in far
    center = Page(model.report(X, model.predict(X)).html).text
    assert "The intervals are wider than they need to be on these rows." in center
    assert "Over-covers by 20 points over 90 rows." in center


def test_the_path_of_lambda_is_drawn_with_its_three_points(model, html):
    path = model.lambda_paths_[0]
    told = spots(html, "lambda")
    assert len(told) == len(path.lambdas)
    assert told[0][2].startswith("λ = 0\n")
    for kind in ("chosen", "ratio-one", "gamma-one"):
        assert html.count(f'<path class="{kind}"') == 2  # in the legend and in the plot
    assert f"Chosen: λ = {number(path.chosen.lambda_)}" in Page(html).text


def test_a_weight_that_was_raised_as_far_as_rows_allow_says_so():
    calibrator = ClearCalibrator(least_epistemic=0.6, usual_epistemic=0.7)
    text = Page(small_clear(calibrator).fit(*houses(120)).report(*houses(60, seed=1)).html).text
    assert "at least 60 % of the mean width and, as long as these rows cannot tell" in text
    assert "up to 70 %. With less, intervals would hardly grow" in text


@pytest.mark.parametrize("least", [0.0, 0.6])
def test_a_weight_that_is_not_the_one_of_least_loss_says_why(least):
    fitted = small_clear(ClearCalibrator(least_epistemic=least)).fit(*houses(120))
    path = fitted.lambda_paths_[0]
    assert (path.chosen.loss > 1.001 * np.nanmin(path.losses)) == bool(least)
    text = Page(fitted.report(*houses(60, seed=1)).html).text
    assert ("leave ignorance at least 60 % of the mean width" in text) == bool(least)
    assert ("the least quantile loss on them wins. " in text) != bool(least)


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
    assert page.tags.count("script") == 6  # the numbers of four plots and of all rows, and ours
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


def test_bad_rows_are_refused(model):
    X, y = houses(20, seed=1)
    with pytest.raises(ValueError, match="A report needs at least 4 rows, got 3"):
        model.report(X[:3], y[:3])
    with pytest.raises(ValueError, match="X has 20 rows where y has 19"):
        model.report(X, y[1:])
    with pytest.raises(ValueError, match=r"by must have shape \(20,\)"):
        model.report(X, y, by=["a"])


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
    # Nothing sticks out on the right: tables that are too wide scroll by themselves.
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
