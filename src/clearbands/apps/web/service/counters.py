"""The counters of the service, in the form that Prometheus reads.

Several processes count together where `PROMETHEUS_MULTIPROC_DIR` names a folder before the first
counter is made. The library decides that when it is imported, so it is imported here, and late.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from clearbands.apps.web.workers import COUNTING_FOLDER

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
ROLLING_ROWS = 1000  # rows that the rolling means look back
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


LEVEL = ["confidence_level"]


class Metrics:
    """All counters of one service; `about` are labels of the model that it serves."""

    def __init__(self, about: Mapping[str, str]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = registry = CollectorRegistry()
        self.answered = Counter(
            "clearbands_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self.refused = Counter(
            "clearbands_refusals", "Requests not served, by status.", ["status"], registry=registry
        )
        self.seconds = Histogram(
            "clearbands_request_seconds",
            "Time from the header of a request to its answer.",
            ["path"],
            buckets=SECONDS,
            registry=registry,
        )
        self.predicted = Counter("clearbands_rows", "Rows predicted.", registry=registry)
        self.finite, self.infinite, self.width = (
            Counter(f"clearbands_{name}", words, LEVEL, registry=registry)
            for name, words in (
                ("finite_intervals", "Finite intervals."),
                ("infinite_intervals", "Infinite intervals."),
                ("interval_width", "Sum of the finite widths."),
            )
        )
        self.rolling_width = RollingMean("clearbands_rolling_interval_width", LEVEL, registry)
        self.unfamiliar: Counter | None = None  # made with the first answer that tells it
        self.rolling_unfamiliar: RollingMean | None = None
        model = Gauge(
            "clearbands_model",
            "The model that is served: always 1.",
            list(about),
            registry=registry,
            multiprocess_mode="livemax",
        )
        model.labels(**about).set(1)

    def text(self) -> bytes:
        """Return all counters, of all processes that count together."""
        from prometheus_client import generate_latest

        return generate_latest(_all_processes() if COUNTING_FOLDER in os.environ else self.registry)

    def count_request(self, path: str | None, status: int, seconds: float) -> None:
        """Count a request with its status and its time; `path` is None if no such path exists."""
        name = path or "other"
        self.answered.labels(name, str(status)).inc()
        self.seconds.labels(name).observe(seconds)
        if status >= 400:
            self.refused.labels(str(status)).inc()

    def count_rows(
        self, n_rows: int, widths: Mapping[float, np.ndarray], unfamiliar: np.ndarray | None
    ) -> None:
        """Count the rows of a request: widths (n,) by level, and `unfamiliar` (n,) or None."""
        self.predicted.inc(n_rows)
        for level, of_level in widths.items():
            label = f"{level:g}"
            finite = of_level[np.isfinite(of_level)]
            self.finite.labels(label).inc(len(finite))
            self.infinite.labels(label).inc(len(of_level) - len(finite))
            self.width.labels(label).inc(float(finite.sum()))
            self.rolling_width.add(finite, label)
        if unfamiliar is not None:
            self._count_unfamiliar(unfamiliar)

    def _count_unfamiliar(self, unfamiliar: np.ndarray) -> None:
        from prometheus_client import Counter

        if self.unfamiliar is None or self.rolling_unfamiliar is None:
            self.unfamiliar = Counter(
                "clearbands_unfamiliar_rows",
                "Rows unlike those the model was fitted on.",
                registry=self.registry,
            )
            self.rolling_unfamiliar = RollingMean(
                "clearbands_rolling_unfamiliar_share", [], self.registry
            )
        self.unfamiliar.inc(int(unfamiliar.sum()))
        self.rolling_unfamiliar.add(unfamiliar.astype(float))


class RollingMean:
    """The mean of the last values, which the process tells that counted last."""

    def __init__(self, name: str, labels: Sequence[str], registry: CollectorRegistry) -> None:
        from prometheus_client import Gauge

        self.gauge = Gauge(
            name,
            f"Mean of the last {ROLLING_ROWS:,} rows.",
            labels,
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self.last: dict[tuple[str, ...], deque[float]] = {}

    def add(self, values: np.ndarray, *labels: str) -> None:
        last = self.last.setdefault(labels, deque(maxlen=ROLLING_ROWS))
        last.extend(values.tolist())
        if last:
            gauge = self.gauge.labels(*labels) if labels else self.gauge
            gauge.set(sum(last) / len(last))


def _all_processes() -> CollectorRegistry:
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return registry
