"""Rows to look at: the widest, each in one list."""

from __future__ import annotations

import numpy as np
import pytest

from clearbands.apps.report import row_lists


def test_the_rows_to_look_at_are_the_widest_of_their_kind(facts):
    share, shares = facts.epistemic_share, facts.parts.epistemic_share
    epistemic, aleatoric = row_lists.rows_to_look_at(facts.widths, share)
    for rows, part, among in ((epistemic, 1, shares > share), (aleatoric, 0, shares <= share)):
        widths = np.where(among, facts.widths[:, part], -1)
        assert rows == np.argsort(-widths, kind="stable")[:8].tolist()


def test_no_row_is_to_be_collected_and_measured(facts):
    lists = row_lists.rows_to_look_at(facts.widths, facts.epistemic_share)
    assert all(lists)
    assert not set(lists[0]) & set(lists[1])


def test_without_any_noise_no_row_is_to_be_measured_better():
    assert row_lists.rows_to_look_at(np.array([[0.0, 2.0], [0.0, 3.0]]), 1.0) == ([1, 0], [])


def test_the_table_of_all_rows_has_what_was_predicted(facts):
    table = row_lists.all_rows(facts)
    assert len(table["rows"]) == 120
    columns = dict(zip(table["names"], zip(*table["rows"], strict=True), strict=True))
    assert columns["row"] == tuple(range(1, 121))
    assert columns["prediction"] == pytest.approx(facts.parts.center, rel=1e-5)
    assert columns["noise width"] == pytest.approx(facts.widths[:, 0], rel=1e-5)
    assert columns["ignorance share"] == pytest.approx(facts.parts.epistemic_share, rel=1e-5)
    assert [inside == "yes" for inside in columns["inside"]] == facts.inside.tolist()
    assert columns["size"][0] == "missing"
    assert isinstance(columns["size"][5], float)


def test_of_too_many_rows_the_widest_are_listed(facts, monkeypatch):
    monkeypatch.setattr(row_lists, "MOST_LISTED", 10)
    found = [row[0] - 1 for row in row_lists.all_rows(facts)["rows"]]
    widest = np.argsort(-facts.widths.sum(axis=1), kind="stable")[:10]
    assert found == sorted(widest.tolist())
