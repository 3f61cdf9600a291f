"""One fitted model, its facts and its page, for all tests of the report."""

from __future__ import annotations

import pytest

from clearbands.apps.report.facts import gather_facts
from tests.apps.report.houses import houses, small_clear
from tests.apps.report.page import Page


@pytest.fixture(scope="package")
def model():
    return small_clear(confidence_level=[0.8, 0.5]).fit(*houses(200))


@pytest.fixture(scope="package")
def facts(model):
    return gather_facts(model, *houses(120, seed=1))


@pytest.fixture(scope="package")
def html(model):
    return model.report(*houses(120, seed=1), target="price", unit="EUR").html


@pytest.fixture(scope="module")
def text(html):
    return Page(html).text
