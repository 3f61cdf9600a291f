"""The page to explore: what it computes, whom it answers, and how it behaves in a real browser."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import signal
import subprocess
import sysconfig
import urllib.request
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app as command
from clearbands.apps.web.explore import create_page, make_scene, views
from clearbands.apps.web.explore.explorer import LIMITS
from clearbands.apps.web.explore.scene import MAX_ROWS
from clearbands.persistence.origin import record_origin
from tests.browsers import open_browser
from tests.served import COLUMNS, ROW, far_houses, houses, linear_model, serving, small_model
from tests.toys import linear_clear, noisy_line

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "clearbands")


@pytest.fixture(scope="module")
def scene():
    frame = houses(60, seed=1)
    return make_scene({"a": small_model(), "b": small_model(1)}, frame, frame["price"].to_numpy())


@pytest.fixture(scope="module")
def client(scene):
    with TestClient(create_page(scene), base_url="http://127.0.0.1:8000") as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore")
    clearbands.save(small_model(), folder / "model.cb")
    clearbands.save(small_model(1), folder / "other.cb")
    houses(60, seed=1).write_csv(folder / "rows.csv")
    return folder


def predicted(folder, model="model.cb"):
    """What `clearbands predict` writes for the rows."""
    out = folder / "out.csv"
    arguments = [folder / model, folder / "rows.csv", "--out", out]
    done = CliRunner().invoke(command, ["predict", *map(str, arguments)])
    assert done.exit_code == 0, done.stderr
    return out.read_bytes()


def test_a_control_for_every_column_with_the_range_of_the_data(scene):
    frame = houses(60, seed=1)
    controls = {control.name: control for control in scene.controls}
    assert list(controls) == COLUMNS
    assert (controls["x"].low, controls["x"].high) == (frame["x"].min(), frame["x"].max())
    assert controls["x"].typical in frame["x"].to_list()
    assert controls["age"].is_whole
    assert controls["heated"].choices == (False, True)
    assert set(controls["colour"].choices) == {"red", "green"}
    assert controls["colour"].has_gaps
    assert not controls["x"].has_gaps
    assert re.fullmatch(r"202\d-\d\d-\d\d", controls["sold"].typical)


def test_the_page_starts_from_a_real_row_along_the_column_that_tells_most():
    middle = {"size": 50.0, "other": 3.0, "fence": None}
    rows = [{"size": float(i), "other": 3.0 + (i % 2) * 2, "fence": "wood"} for i in range(40)]
    frame = pl.DataFrame([*rows, middle, *({**middle, "size": 90.0 + i} for i in range(40))])
    model = linear_model(frame, 2.0 * frame["size"].to_numpy())
    scene = make_scene({"a": model}, frame)
    assert [control.typical for control in scene.controls] == [50.0, 3.0, None]  # most have none
    assert scene.rows[scene.first] == middle
    assert views.overview(scene)["column"] == "size"


def test_the_bands_are_those_of_the_model(scene):
    frame = houses(60, seed=1).select(COLUMNS)
    for number, model in enumerate((small_model(), small_model(1))):
        point, intervals = model.predict_interval(frame)
        for j, band in enumerate(views.overview(scene)["models"][number]["bands"]):
            assert band["prediction"] == point.tolist()
            assert band["lower"] == intervals[:, 0, j].tolist()
            assert band["upper"] == intervals[:, 1, j].tolist()
            inner = np.subtract(band["inner_upper"], band["inner_lower"])
            np.testing.assert_allclose(inner, band["aleatoric"])


def test_a_file_whose_dates_are_all_empty_is_scored():
    frame = houses(60, seed=1)
    page = create_page(make_scene({"a": small_model()}, frame, None))
    client = TestClient(page, base_url="http://127.0.0.1:8000")
    lines = [",".join(COLUMNS), *(f"{x},2,,,red" for x in (0.5, 1.5))]
    answer = client.post("/score/0", content="\n".join(lines), headers={"content-type": "text/csv"})
    assert answer.status_code == 200, answer.text
    empty = frame[:2].select(COLUMNS).with_columns(
        x=pl.Series([0.5, 1.5]), age=2, heated=pl.lit(None, pl.Boolean),
        sold=pl.lit(None, frame["sold"].dtype), colour=pl.lit("red"),
    )  # fmt: skip
    said = pl.read_csv(answer.content)["prediction"].to_list()
    assert said == pytest.approx(small_model().predict(empty).tolist())


def test_the_page_says_what_more_rows_would_do():
    X, y = noisy_line(150)
    model = clearbands.fast(random_state=0).fit(X, y)
    said = views.more_rows(model)
    assert said == model.forecast((10,)).sentence()
    assert "10 times the rows would make these intervals" in said
    assert views.more_rows(linear_clear().fit(X, y)) == ""


@pytest.mark.parametrize("column", COLUMNS)
def test_along_a_column_only_that_column_moves(scene, column):
    answer = views.along(scene, ROW, column)
    (here,) = answer["models"][0]["here"][0]["prediction"]
    frame = pl.DataFrame([ROW]).with_columns(pl.col("sold").str.to_date())
    assert here == small_model().predict(frame)[0]
    places = answer["places"]
    band = answer["models"][0]["bands"][0]
    assert len(band["prediction"]) == len(places)
    if column in ("age", "heated", "colour"):  # the row's own value is among the places
        assert band["prediction"][places.index(ROW[column])] == here


def test_the_chance_and_the_fan_are_those_of_the_model(scene):
    found = views.along(scene, ROW, "age", above=1.5)["models"][0]
    frame = pl.DataFrame([ROW]).with_columns(pl.col("sold").str.to_date())
    assert found["chance"] == small_model().predict_probability(frame, above=1.5)[0]
    assert views.along(scene, ROW, "age")["models"][0]["chance"] is None
    assert [each["level"] for each in found["fan"]] == [0.95, 0.8, 0.5]
    for outer, inner in pairwise(found["fan"]):
        assert np.all(np.array(outer["lower"]) <= inner["lower"])
        assert np.all(np.array(inner["upper"]) <= outer["upper"])


def test_a_model_that_answers_at_its_own_levels_alone_has_neither(scene):
    model = copy(small_model())
    model.predictor_ = replace(model.predictor_, any_level=None)
    alone = make_scene({"a": model}, houses(60, seed=1))
    found = views.along(alone, ROW, "age", above=1.5)["models"][0]
    assert (found["fan"], found["chance"]) == ([], None)
    assert len(found["bands"]) == 2


def test_the_axis_reaches_to_a_value_beyond_the_data(scene):
    places = views.axis(scene.control("x"), 9.5)
    assert places[-1] == 9.5
    assert places[0] == scene.control("x").low


def test_an_outlier_does_not_flatten_the_picture_unless_it_is_asked_for():
    size = np.append(np.linspace(0, 10, 200), 1e6)
    frame = pl.DataFrame({"size": size, "even": np.linspace(0, 1, 201)})
    scene = make_scene({"a": linear_model(frame, 2.0 * size)}, frame)
    control = scene.control("size")
    assert (control.low, control.high) == (0, 1e6)
    assert views.axis(control, 5.0)[-1] < 10.01
    assert views.axis(control, 5.0, whole=True)[-1] == 1e6
    assert views.axis(control, 2e6)[-1] == 2e6  # a row beyond the others is always shown
    assert (scene.control("even").near_low, scene.control("even").near_high) == (0, 1)


def test_why_says_what_the_typical_value_would_change(scene):
    changes = {c["column"]: c for c in views.why(scene, ROW)["models"][0]["levels"][0]}
    assert list(changes) == COLUMNS
    frame = pl.DataFrame([ROW, ROW | {"x": changes["x"]["typical"]}])
    parts = small_model().predict_uncertainty(frame.with_columns(pl.col("sold").str.to_date()))
    own, other = parts.aleatoric.sum(axis=1)
    assert changes["x"]["aleatoric"] == own - other
    typical = ROW | {c.name: c.typical for c in scene.controls}
    for change in views.why(scene, typical)["models"][0]["levels"][0]:
        assert (change["aleatoric"], change["epistemic"]) == (0, 0)


def test_many_rows_are_thinned_out_evenly():
    frame = pl.concat([houses(60, seed=1)] * 20)
    scene = make_scene({"a": small_model()}, frame)
    assert (len(scene.rows), scene.n_rows) == (MAX_ROWS, 1200)
    assert (scene.numbers[0], scene.numbers[-1]) == (1, 1200)
    assert max(np.diff(scene.numbers)) == 2
    assert scene.rows[-1]["x"] == frame["x"][-1]


def test_models_without_a_common_level_cannot_be_compared():
    frame = houses(60)
    other = linear_model(
        frame.select("x", "age"), frame["price"].to_numpy(), confidence_level=0.8, encoder=None
    )
    with pytest.raises(
        ValueError, match=r"no confidence level in common: \[0.9, 0.5\] and \[0.8\]"
    ):
        make_scene({"a": small_model(), "b": other}, frame)
    # An encoder that does not tell what its columns hold: the table does.
    assert [c.kind for c in make_scene({"b": other}, frame).controls] == ["number", "number"]


def test_models_that_differ_about_a_column_cannot_be_compared():
    frame = houses(60)
    y = frame["price"].to_numpy()
    as_text = frame.select(pl.col("age").cast(pl.String))
    models = {"a": linear_model(frame.select("age"), y), "b": linear_model(as_text, y)}
    with pytest.raises(ValueError, match=r"what column 'age' holds \(number and text\)"):
        make_scene(models, frame)


def test_long_lists_are_cut_and_show_the_row_all_the_same():
    frame = pl.DataFrame({"count": [f"c{i:03}" for i in range(120)]})  # a name polars uses itself
    scene = make_scene({"a": linear_model(frame, np.arange(120.0))}, frame)
    (control,) = scene.controls
    assert len(control.choices) == 40
    assert views.axis(control, "c119")[-1] == "c119"
    assert views.axis(control, control.choices[0]) == list(control.choices)
    assert views.axis(control, None) == list(control.choices)


def test_the_page_answers_only_to_this_machine(client):
    assert client.get("/").status_code == 200
    for headers in (
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example:8000"},
        {"host": "[oops"},
        {"host": "evil.example@localhost"},
        {"host": "evil.example@127.0.0.1:8000"},
        {"host": "localhost/evil.example"},
        {"host": "localhost:8000@evil.example"},
        {"host": "127.0.0.1:8000", "origin": "http://evil.example"},
        {"host": "127.0.0.1:8000", "origin": "null"},
    ):
        assert client.get("/start", headers=headers).status_code == 403
    for headers in (
        {"host": "localhost:8000"},
        {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"},
    ):
        assert client.get("/start", headers=headers).status_code == 200


def test_the_page_may_load_nothing_from_elsewhere(client):
    policy = client.get("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    folder = Path(clearbands.__file__).parent / "apps" / "web" / "explore" / "page"
    for path in folder.iterdir():
        addresses = re.findall(r"https?://[\w./]+", path.read_text())
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # a name, not a place
        assert client.get(f"/{path.name}").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/along", b"", "The body is empty"),
        ("/along", b"[1]", "The body must be"),
        ("/along", b'{"row": {"x": 1}}', "exactly the columns of the page"),
        ("/why", b'{"row": 3}', "The body must be"),
    ],
)
def test_questions_that_make_no_sense_are_422(client, path, body, said):
    answer = client.post(path, content=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_wrong_values_and_columns_are_422(client):
    wrong = client.post("/along", json={"row": ROW | {"x": "far"}, "column": "x"})
    assert wrong.status_code == 422
    assert "row 0 (counted from 0), column 'x': expected a finite number" in wrong.json()["detail"]
    assert client.post("/along", json={"row": ROW, "column": "y"}).status_code == 422
    beyond = client.post("/along", json={"row": ROW, "column": "x", "above": "high"})
    assert beyond.json()["detail"] == 'above must be a finite number, got "high".'


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", 10**30), ("age", 10**400), ("x", 10**30), ("sold", 1.7e308), ("sold", 10**30)],
)
def test_values_beyond_all_bounds_are_no_error_of_the_server(client, column, value):
    answer = client.post("/along", json={"row": ROW | {column: value}, "column": column})
    assert answer.status_code in (200, 422)


def test_fuzzed_questions_are_no_error_of_the_server(client):
    rng = random.Random(0)
    odd = [
        None, True, 0, -1e308, 1.7e308, 10**30, 10**400, 5e-324, math.nan, math.inf, "", "red",
        "\ud800", "1" * 9999, "2020-01-01", "0001-01-01T00:00+12:00", "9999-12-31", [], {}, [1],
    ]  # fmt: skip
    for _ in range(200):
        row = ROW | {rng.choice(COLUMNS): rng.choice(odd) for _ in range(rng.randint(0, 3))}
        asked = {"row": row, "column": rng.choice([*COLUMNS, *odd]), "above": rng.choice(odd)}
        if rng.random() < 0.1:
            asked = rng.choice([{"row": rng.choice([*odd, COLUMNS]), "column": "x"}, [asked], 3])
        body = json.dumps(asked)
        if rng.random() < 0.1:
            cut = rng.randrange(len(body))
            body = body[:cut] + rng.choice(["\0", "}", '"', "[" * 5000]) + body[cut + 1 :]
        path = rng.choice(["/along", "/along", "/why"])
        assert client.post(path, content=body.encode()).status_code in (200, 422), body


def test_far_outliers_leave_the_chances_along_a_column_numbers():
    frame, prices = far_houses()
    scene = make_scene({"far": linear_model(frame, prices, confidence_level=0.5)}, frame, prices)
    client = TestClient(create_page(scene), base_url="http://127.0.0.1:8000")
    asked = {"row": frame.row(0, named=True), "column": "area", "above": 1e9}
    answer = client.post("/along", json=asked)
    assert answer.status_code == 200
    assert 0 <= answer.json()["models"][0]["chance"] <= 1


def test_a_scored_file_is_what_the_command_writes(client, folder):
    content = (folder / "rows.csv").read_bytes()
    assert client.post("/score/0", content=content).content == predicted(folder)
    assert client.post("/score/1", content=content).content == predicted(folder, "other.cb")
    assert client.post("/score/2", content=content).status_code == 404


def test_a_scored_file_may_be_as_messy_as_one_of_the_command(client, folder, tmp_path):
    rows, expected = pl.read_csv(folder / "rows.csv"), predicted(folder)
    european = rows.write_csv(separator=";", decimal_comma=True).encode("utf-16")
    headers = {"x-file-name": "rows.csv"}
    assert client.post("/score/0", content=european, headers=headers).content == expected
    rows.write_parquet(tmp_path / "rows.parquet")  # dates are text in it
    content = (tmp_path / "rows.parquet").read_bytes()
    headers = {"x-file-name": "rows.parquet"}
    assert client.post("/score/0", content=content, headers=headers).content == expected
    stray = rows.with_columns(pl.col("age").cast(pl.String)).to_dicts()
    stray[3]["age"] = "?"
    content = pl.DataFrame(stray).write_csv().encode()
    answer = client.post("/score/0", content=content)
    assert answer.status_code == 200
    assert json.loads(answer.headers["x-mended"]) == [
        "Column 'age': 1 cell read as missing, such as '?' in row 4 (counted from 1)."
    ]


def test_a_file_that_cannot_be_scored_says_why(client):
    headers = {"x-file-name": "caf%C3%A9.csv"}
    for content, said in (
        (b"", "café.csv is empty"),
        (b"x\n1\n", "café.csv lacks 4 columns the model was fitted on"),
        (
            b"x,age,heated,sold,colour\nfar,1,,,\n",
            "Column 'x' must hold numbers, but row 1 (counted from 1) holds 'far'",
        ),
    ):
        answer = client.post("/score/0", content=content, headers=headers)
        assert answer.status_code == 422
        assert said in answer.json()["detail"]


def test_a_small_file_that_holds_too_much_is_refused(client):
    content = gzip.compress(b"x\n" + b"0\n" * (LIMITS.bytes // 2 + 1), compresslevel=1)
    answer = client.post("/score/0", content=content, headers={"x-file-name": "rows.csv.gz"})
    assert answer.status_code == 413
    assert "rows.csv.gz unpacks to more than the 200,000,000 bytes" in answer.json()["detail"]


def test_the_command_refuses_tables_that_lack_columns(folder, tmp_path):
    pl.read_csv(folder / "rows.csv").select("x").write_csv(tmp_path / "x.csv")
    arguments = [folder / "model.cb", tmp_path / "x.csv", "--no-browser"]
    result = CliRunner().invoke(command, ["explore", *map(str, arguments)])
    assert result.exit_code == 2
    assert "lacks 4 columns the model was fitted on" in result.stderr


def test_rows_without_a_true_value_are_refused_or_left_out(folder, tmp_path):
    rows = pl.read_csv(folder / "rows.csv").with_columns(
        price=pl.when(pl.int_range(60) == 3).then(None).otherwise("price")
    )
    rows.write_csv(tmp_path / "gap.csv")
    arguments = [folder / "model.cb", tmp_path / "gap.csv", "--target", "price"]
    result = CliRunner().invoke(command, ["explore", *map(str, arguments), "--no-browser"])
    assert result.exit_code == 2
    assert "--drop-missing-target of fit, evaluate, report and explore does" in result.stderr
    left_out = "Warning: Left out 1 row of 60, whose target 'price' is missing.\n"
    with served(*arguments, "--drop-missing-target", complaints=left_out) as address:
        start = json.load(urllib.request.urlopen(f"{address}/start"))
        assert start["n_rows"] == 59


@contextmanager
def served(*arguments, complaints=""):
    """The address of the page, from the command as users run it, which complains of no more."""
    process = subprocess.Popen(
        [SCRIPT, "explore", *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+", said)[0]
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate(timeout=30)
        assert (process.returncode, complained) == (0, complaints)
    finally:
        process.kill()
        process.stdout.close()
        process.stderr.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("chromium"), has_touch=True) as context:
        yield context


@pytest.fixture(scope="module")
def page(browser, folder):
    """The page of two models on a phone, with all it asked for and all that went wrong."""
    with served(
        folder / "model.cb", folder / "rows.csv", folder / "other.cb", "--target", "price"
    ) as address:
        page = browser.new_page()
        page.asked, page.failures = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.failures.append(str(error)))
        page.on("console", lambda message: page.failures.append(message.text))
        page.goto(address)
        page.wait_for_selector("#bands svg")
        yield page
        assert page.failures == []
        assert all(url.startswith((address, "blob:", "data:")) for url in page.asked)
        page.close()


@pytest.fixture(scope="module")
def crowded(browser):
    """Two models with many categories and one outlier, on a phone."""
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
    assert min(np.diff(places)) >= 20  # pixels, which text of 12 needs when it is slanted
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


def band(page, name="epistemic"):
    return page.locator(f"#bands figure:first-child polygon.{name}").get_attribute("points")


def test_the_page_loads_with_a_band_for_each_model(page):
    assert page.title() == "model.cb and other.cb · clearbands"
    assert page.locator("#bands polygon.epistemic").count() == 2
    assert page.locator("#bands polygon.aleatoric").count() == 2
    assert page.locator("#scatter circle.point").count() == 60
    assert "60 rows, 5 columns" in page.inner_text("#about")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390  # nothing sticks out on a phone


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


def test_an_uploaded_file_gives_the_numbers_of_the_command(page, folder):
    page.set_input_files("#file", folder / "rows.csv")
    page.wait_for_selector("#scored a >> nth=1")
    assert "60 rows scored with model.cb" in page.inner_text("#scored")
    for number, model in enumerate(("model.cb", "other.cb")):
        with page.expect_download() as download:
            page.locator("#scored a").nth(number).click()
        assert download.value.suggested_filename == f"rows-{Path(model).stem}.csv"
        assert Path(download.value.path()).read_bytes() == predicted(folder, model)


def test_an_upload_that_fails_says_why(page, tmp_path):
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    page.set_input_files("#file", tmp_path / "wrong.csv")
    page.wait_for_selector("#scored .problem")
    assert "wrong.csv lacks 5 columns" in page.inner_text("#scored")
    page.failures.clear()  # the browser notes the refusal itself
