"""Values of requests are read by the kind of their column."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
from fastapi.testclient import TestClient

from clearbands.apps.web.service import create_app
from tests.apps.web.asking import post_csv, post_rows
from tests.served import ROW, houses, linear_model


def test_what_json_refuses_csv_refuses(client):
    """The same values as JSON and as csv get the same answer, or are both refused."""
    values = {
        "x": ["1.5", "1e3", "-0", "true", '"far"', "1e999", "null", '"2020-01-01"'],
        "age": ["40", "true", '"10:30"'],
        "heated": ["true", "false", "1", "0", '"yes"', "null"],
        "sold": ['"2020-01-02"', "5", "true", '"2020-01-02T10:30:00Z"', '"10:30:00"', '"May"'],
        "colour": ['"red"', "null"],
    }
    for column, spelled in values.items():
        for value in spelled:
            row = {name: json.dumps(given) for name, given in ROW.items()} | {column: value}
            body = ",".join(f"{json.dumps(name)}: {cell}" for name, cell in row.items())
            in_json = client.post(
                "/predict",
                content=f'{{"rows": [{{{body}}}]}}',
                headers={"content-type": "application/json"},
            )
            cells = ["" if cell == "null" else cell for cell in row.values()]
            in_csv = post_csv(client, f"{','.join(row)}\n{','.join(cells)}\n")
            assert in_csv.status_code == in_json.status_code, (column, value, in_csv.text)
            if in_json.status_code == 200:
                assert in_csv.content == in_json.content


def test_durations_are_seconds_in_both_forms():
    frame = houses(60).select(wait=pl.duration(seconds=pl.col("age")), price="price")
    model = linear_model(frame.select("wait"), frame["price"].to_numpy())
    with TestClient(create_app(model)) as client:
        seconds = post_rows(client, {"wait": 40.5}).json()
        assert post_csv(client, "wait\n40.5\n").json() == seconds
        point = model.predict(pl.DataFrame({"wait": [dt.timedelta(seconds=40.5)]}))[0]
        assert seconds["predictions"][0]["prediction"] == point
        for wrong in ("far", 1e300):
            assert post_rows(client, {"wait": wrong}).status_code == 422
            assert post_csv(client, f"wait\n{wrong}\n").status_code == 422


def test_dates_of_several_forms_are_read_cell_by_cell(client):
    rows = [f"1,2,,{sold}," for sold in ("2020-01-02", "2020-01-02T00:00:00", "2020-01-02T00:00Z")]
    answer = post_csv(client, "x,age,heated,sold,colour\n" + "\n".join(rows))
    first, *others = answer.json()["predictions"]
    assert others == [first, first]
