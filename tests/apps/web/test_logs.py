"""Lines of the log without the data."""

from __future__ import annotations

import json
import logging

from fastapi.testclient import TestClient

from clearbands.apps.web import logs
from clearbands.apps.web.service import create_app
from tests.apps.web.asking import Slow, post_rows
from tests.served import ROW


def test_what_nobody_foresaw_is_logged_without_the_data(caplog):
    class Broken(Slow):
        def answers(self, X, calibration_groups=None):
            if self.seconds:
                raise RuntimeError(f"cannot do {X['colour'][0]}")
            return super().answers(X)

    model = Broken(0)
    app = create_app(model)
    model.seconds = 1
    with TestClient(app) as client, caplog.at_level(logging.INFO, "clearbands"):
        answer = post_rows(client, ROW | {"colour": "secretly red"})
    assert answer.status_code == 500
    (record,) = caplog.records
    line = logs.JsonLines().format(record)
    said = json.loads(line)
    assert "secretly" not in line
    assert (said["level"], said["error"], said["status"]) == ("error", "RuntimeError", 500)
    assert "test_logs.py" in said["where"]
    assert said["request_id"] == answer.headers["x-request-id"]
    assert said["request_id"] in answer.json()["detail"]
