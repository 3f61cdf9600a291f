"""The page at /docs, in a real browser without a network: it shows the description and tries it."""

from __future__ import annotations

import json

import pytest

from clearbands.apps.web.service import create_app
from tests.browsers import open_browser
from tests.served import serving, small_model


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("chromium")) as context:
        yield context


@pytest.fixture
def page(browser):
    page = browser.new_page()
    page.asked, page.failures = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    yield page
    assert page.failures == []
    page.close()


def test_the_page_loads_nothing_from_elsewhere_and_tries_what_it_shows(page):
    with serving(create_app(small_model())) as port:
        address = f"http://127.0.0.1:{port}"
        page.goto(f"{address}/docs")
        page.wait_for_selector("section >> nth=4")
        for said in ("POST /predict", "GET /metrics", "colour", "Bands for rows", "epistemic"):
            assert said in page.inner_text("#paths")
        assert "`" not in page.inner_text("#paths")
        assert page.locator("section p code", has_text="Accept: text/csv").count() == 1
        section = page.locator("section", has_text="POST /predict")
        for media_type in ("application/json", "text/csv"):
            section.locator("select").select_option(media_type)
            section.locator("button").click()
            section.locator("pre", has_text="200 OK").wait_for()
            status, _, body = section.locator("pre").inner_text().partition("\n")
            assert (status, len(json.loads(body)["predictions"])) == ("200 OK", 1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert all(url.startswith((address, "data:")) for url in page.asked)


def test_with_a_token_the_page_asks_for_it(page):
    with serving(create_app(small_model(), token="s3cret")) as port:
        page.goto(f"http://127.0.0.1:{port}/docs")
        for token, said in (("wrong", "That is not the token."), ("s3cret", "")):
            page.fill("#token", token)
            page.click("#login button")
            page.wait_for_function(
                "said => document.getElementById('login-problem').innerText == said", arg=said
            )
        page.wait_for_selector("section >> nth=4")
        section = page.locator("section", has_text="GET /model")
        section.locator("button").click()
        section.locator("pre", has_text="200 OK").wait_for()
