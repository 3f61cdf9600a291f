"""A service of houses, and a page that explores them."""

from __future__ import annotations

import pytest

from clearbands.apps.web.explore import make_scene
from clearbands.apps.web.service import Limits
from tests.apps.web.asking import client_of
from tests.apps.web.explored import served
from tests.browsers import open_browser
from tests.served import houses, small_model


@pytest.fixture(scope="package")
def client():
    with client_of(name="houses.clear", limits=Limits(rows=100, bytes=20_000)) as client:
        yield client


@pytest.fixture(scope="package")
def scene():
    frame = houses(60, seed=1)
    return make_scene({"a": small_model(), "b": small_model(1)}, frame, frame["price"].to_numpy())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("chromium"), has_touch=True) as context:
        yield context


@pytest.fixture(scope="module")
def page(browser, explore_files):
    """The page of two models on a phone, with lists of its requests and of its errors."""
    files = [explore_files / name for name in ("model.cb", "rows.csv", "other.cb")]
    with served(*files, "--target", "price") as address:
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
