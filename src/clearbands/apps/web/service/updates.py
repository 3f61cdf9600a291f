"""Updates: rows whose true values have become known calibrate the served model further."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clearbands.apps.reading.features import Feature, labels_of_rows, request_features
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.refusals import Refusal
from clearbands.apps.web.service.description import describe_updates
from clearbands.apps.web.service.schemas import UpdatesInfo
from clearbands.apps.web.service.scoring import READERS
from clearbands.persistence.origin import origin_of
from clearbands.rows.messages import row_name
from clearbands.rows.time_order import show_time

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor

SAVE_EVERY = 30.0  # seconds: dozens of rows may come in one second, which writing a file takes


class Updates:
    """Updates of a model, one after the other, while predictions use what was known before.

    `save`, where given, writes the model after an update, but not more often than every 30 s, and
    at the end of the service.
    """

    def __init__(
        self,
        model: ClearRegressor,
        limits: Limits,
        save: Callable[[ClearRegressor], None] | None = None,
    ) -> None:
        self.model = model
        self.limits = limits
        self.save = save
        name = origin_of(model).target or "target"
        self.target = Feature(name, "number", typical=0.0)
        self.time = _time_feature(model)
        known = [*request_features(model), self.target, *([self.time] if self.time else [])]
        self.features = tuple({feature.name: feature for feature in known}.values())
        self._one_at_a_time = threading.Lock()
        self._saved, self._is_dirty = -SAVE_EVERY, False

    def take(self, body: bytes, type_in: str) -> tuple[int, UpdatesInfo]:
        """Update the model with the rows of a body; return their number and how the model fares."""
        rows = READERS[type_in](body, self.features, self.limits)
        missing = rows[self.target.name].is_null()
        if missing.any():
            row = row_name(int(missing.arg_true()[0]))
            raise Refusal(422, f"The true value {self.target.name!r} is missing in {row}.")
        labels: dict[str, Any] = {}
        if self.time is not None:
            labels["time"] = rows[self.time.name].to_numpy()
        of_model = list(self.model.feature_names_in_)
        with self._one_at_a_time:
            try:
                labels["calibration_groups"] = labels_of_rows(self.model, rows, "the request")
                y = rows[self.target.name].to_numpy()
                self.model.update(rows.select(of_model), y, **labels)
            except (ValueError, TypeError) as error:
                raise Refusal(422, f"The model cannot take the rows: {error}") from error
            self._is_dirty = True
            if time.monotonic() - self._saved >= SAVE_EVERY:
                self._save()
        info = describe_updates(self.model)
        assert info is not None
        return rows.height, info

    def close(self) -> None:
        """Save what was not saved yet."""
        with self._one_at_a_time:
            if self._is_dirty:
                self._save()

    def _save(self) -> None:
        if self.save is not None:
            self.save(self.model)
        self._saved, self._is_dirty = time.monotonic(), False


def _time_feature(model: ClearRegressor) -> Feature | None:
    """Return the column of times, if the model knows the time of its last row."""
    rolling, last = getattr(model, "rolling_", None), getattr(model, "last_time_", None)
    last = rolling.last_time if rolling is not None and rolling.last_time is not None else last
    if last is None:
        return None
    kind = "datetime" if hasattr(last, "astype") and last.dtype.kind == "M" else "number"
    return Feature(origin_of(model).time or "time", kind, typical=show_time(last))
