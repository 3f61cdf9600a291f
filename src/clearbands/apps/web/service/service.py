"""What all endpoints of a service share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from clearbands.apps.reading.features import Feature
from clearbands.apps.web.bodies import Bodies
from clearbands.apps.web.limits import Limits
from clearbands.apps.web.service.classes import ClassScorer
from clearbands.apps.web.service.line import Line
from clearbands.apps.web.service.metrics import Metrics
from clearbands.apps.web.service.schemas import ModelInfo
from clearbands.apps.web.service.scoring import Scorer
from clearbands.apps.web.service.updates import Updates


@dataclass(frozen=True)
class Service:
    """One model, and what it takes to answer requests with it."""

    features: tuple[Feature, ...]
    limits: Limits
    info: ModelInfo
    scorer: Scorer | ClassScorer
    example: object  # the answer to a typical row, or None
    line: Line
    bodies: Bodies
    metrics: Metrics
    updates: Updates | None = None  # where the service takes rows with their true values

    def deadline(self) -> float:
        """When a request that comes now must have been answered."""
        return asyncio.get_running_loop().time() + self.limits.seconds
