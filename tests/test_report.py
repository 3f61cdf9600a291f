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
    ClearRegressor,
    LinearQuantiles,
    MemberEnsemble,
    PCSEnsemble,
    ResidualQuantiles,
    diagnostics,
)
from clearbands.report import Report, figures, sections
from clearbands.report.facts import gather
from clearbands.report.words import count, number, percent

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}
GAP = "\N{NO-BREAK SPACE}"
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


def small_clear(calibrator=None, **parameters):
    model = LinearQuantiles()
    return ClearRegressor(
        PCSEnsemble({"line": model, "other line": model}, n_bootstraps=5),
        ResidualQuantiles(model, n_bootstraps=5),
        calibrator,
        random_state=0,
        **parameters,
    )


def houses(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.uniform(20, 200, n)
    town = rng.choice(["Aa", "Bb", None], n)
    day = np.datetime64("2020-01-01") + rng.integers(0, 1000, n).astype("timedelta64[D]")
    price = 5 * size + 40 * (town == "Aa") + size / 4 * rng.normal(size=n)
    size[:3] = np.nan
    frame = pl.DataFrame({"size": size, "town": town.tolist(), "sold": day, "new": size > 100})
    return frame.with_columns(pl.col("size").fill_nan(None)), price


@pytest.fixture(scope="module")
def model():
    return small_clear(confidence_level=[0.8, 0.5]).fit(*houses(200))


@pytest.fixture(scope="module")
def facts(model):
    return gather(model, *houses(120, seed=1), groups=None, confidence_level=None)


@pytest.fixture(scope="module")
def html(model):
    return model.report(*houses(120, seed=1), target="price", unit="EUR").html


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
    exact = f"Exact 95 % interval: {100 * cell.low:.1f} % to {100 * cell.high:.1f} %."
    assert f"Coverage {100 * cell.coverage:.1f} % Promised: 80 %. {exact}" in text
    typical = np.median(intervals[:, 1, 0] - intervals[:, 0, 0])
    assert f"A typical interval for price is {number(typical)} EUR wide" in text
    share = parts.epistemic.sum() / (parts.epistemic + parts.aleatoric).sum()
    assert f"What dominates Noise {100 * (1 - share):.0f} % of the width is aleatoric" in text


def test_the_page_needs_no_network_and_closes_its_tags(html):
    page = assert_sound(html)
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    assert not {"src", "href", "action", "data"} & {name for name, _ in page.attributes}
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
        "Most epistemic: collect more like these",
        "Most aleatoric: measure them better",
        "What is guaranteed and what is not",
        "How to reproduce it",
    ):
        assert heading in text, heading


def test_hovering_tells_the_row(model, html):
    X, y = houses(120, seed=1)
    parts = model.predict_uncertainty(X)
    told = spots(html, "bands")
    assert len(told) == 120
    assert [x for x, _, _ in told] == sorted(x for x, _, _ in told)
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
    assert not any(words.startswith("Row 8\n") for _, _, words in shown.spots)
    assert shown.y_range[1] <= usual.y_range[1]


def test_the_axis_of_coverage_is_not_stretched_by_a_few_rows(facts):
    found = [w for cells in sections.whiskers(facts).values() for w in cells]
    assert all(0 <= w.low <= w.at <= w.high <= 100 for w in found)
    large = [w for w in found if w.n >= sections.MANY_ROWS]
    assert 0 < min(w.low for w in large) < 40


def test_widths_along_features_are_means_of_the_rows(facts):
    for panel in sections.panels(facts):
        rows = [layers.n for layers in panel.layers]
        assert sum(rows) == 120
        assert max(x.aleatoric + x.epistemic for x in panel.layers) <= 100.01
    by_name = {panel.name: panel.layers for panel in sections.panels(facts)}
    assert [layers.label for layers in by_name["town"]][-1] == "missing"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", by_name["sold"][0].label)
    widths = facts.widths
    is_aa = np.array(facts.columns[1].values == "Aa")
    (aa,) = [layers for layers in by_name["town"] if layers.label == "Aa"]
    assert (aa.n, aa.width) == (is_aa.sum(), number(widths[is_aa].sum(axis=1).mean()))


def test_the_rows_to_look_at_are_the_widest(facts):
    for part in (0, 1):
        rows = [int(row.number) - 1 for row in sections.widest(facts, part)]
        assert rows == np.argsort(-facts.widths[:, part], kind="stable")[:8].tolist()
        shown = [column.name for column in facts.important_columns(4)]
        column = shown.index("town")
        town = houses(120, seed=1)[0]["town"][rows[0]]
        assert sections.widest(facts, part)[0].values[column] == (town or "missing")


def test_coverage_by_parts_is_that_of_the_diagnosis(facts):
    shown = sections.whiskers(facts)
    assert set(shown) >= {"All rows", "Width of the interval", "size", "town", "sold", "new"}
    for cells in shown.values():
        for cell in cells:
            assert 0 <= cell.low <= cell.at <= cell.high <= 100
    by_size = [cell for cell in facts.diagnosis.by_feature if cell.by == "size"]
    assert [cell.n for cell in shown["size"]] == [cell.n for cell in by_size]
    assert [cell.label for cell in shown["town"]] == ["Aa", "Bb", "missing"]
    assert shown["size"][-1].label == "missing"


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


def test_hostile_names_and_values_stay_text():
    X, y = houses(80)
    X = X.rename({"size": HOSTILE}).with_columns(
        pl.when(pl.col("town") == "Aa")
        .then(pl.lit(HOSTILE))
        .otherwise(pl.col("town"))
        .alias("town")
    )
    fitted = small_clear().fit(X, y)
    groups = [HOSTILE if i % 2 else "b" for i in range(80)]
    page = Page(fitted.report(X, y, target=HOSTILE, unit=HOSTILE, groups=groups).html)
    assert page.tags.count("script") == 4  # the numbers of three plots, and ours
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


def test_models_without_a_leaderboard_or_a_lambda():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = X[:, 0] + rng.normal(size=90)
    members = [lambda X, s=s: s * X[:, 0] for s in (0.9, 1.0, 1.1)]
    fitted = ClearRegressor(
        MemberEnsemble(members),
        ResidualQuantiles(LinearQuantiles(), n_bootstraps=3),
        AdditiveCalibrator(),
        random_state=0,
    ).fit(X, y)
    text = assert_sound(fitted.report(X[:30], y[:30]).html).text
    assert "The models that competed" not in text
    assert "How noise and ignorance were weighed" not in text


def test_bad_rows_are_refused(model):
    X, y = houses(20, seed=1)
    with pytest.raises(ValueError, match="A report needs at least 4 rows, got 3"):
        model.report(X[:3], y[:3])
    with pytest.raises(ValueError, match="X has 20 rows where y has 19"):
        model.report(X, y[1:])
    with pytest.raises(ValueError, match=r"groups must have shape \(20,\)"):
        model.report(X, y, groups=["a"])


def test_without_jinja2_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "clearbands\[report\]"'):
        model.report(*houses(20, seed=1))


def test_saved_and_shown(tmp_path):
    report = Report('<p title="a">ü</p>')
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html
    frame = Page(report._repr_html_())
    assert dict(frame.attributes)["srcdoc"] == report.html


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (1234.5678, "1,235"),
        (-0.0123456, "−0.01235"),
        (123456.7, "123,500"),
        (99999, "100,000"),
        (0.5, "0.5"),
        (1.5e20, "1.5e+20"),
        (2e-9, "2e−09"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_numbers_have_four_digits_that_matter(value, said):
    assert number(value) == said


def test_shares_never_round_to_all_or_nothing():
    shown = [percent(share).replace(GAP, " ") for share in (0.5, 1, 0, 0.999, 0.0004)]
    assert shown == ["50 %", "100 %", "0 %", "99.9 %", "0.04 %"]
    assert [count(1), count(2), count(1200, "day")] == ["1 row", "2 rows", "1,200 days"]


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
