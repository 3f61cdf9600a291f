"""The page at /docs in a real browser without a network shows the description and tries it."""

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


def try_it(page, path):
    """Open the block of a path, press its button, and return the block."""
    block = page.locator(".opblock", has=page.locator(f'[data-path="{path}"]'))
    block.locator(".opblock-summary-control").click()
    block.locator("button.execute").click()
    block.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
    return block


def test_the_page_loads_nothing_from_elsewhere_and_tries_what_it_shows(page):
    with serving(create_app(small_model())) as port:
        address = f"http://127.0.0.1:{port}"
        page.goto(f"{address}/")
        page.wait_for_selector(".opblock >> nth=4")
        assert page.locator(".opblock").first.inner_text().startswith("POST")
        assert "Bands for rows" in page.locator(".opblock").first.inner_text()
        block = try_it(page, "/predict")
        for said in ("level", "quantile", "colour", "Accept: text/csv"):
            assert said in block.inner_text()
        answer = json.loads(
            block.locator(".live-responses-table .highlight-code code").inner_text()
        )
        assert [list(answer), len(answer["predictions"])] == [["predictions"], 1]
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
        page.wait_for_selector(".opblock >> nth=4")
        try_it(page, "/model")
