"""The competitors in a fitted model and their ranks, for pages, pictures and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearbands.selection.centers import CenterScore
from clearbands.selection.judging import LeaderboardRow


@dataclass(frozen=True)
class Entry:
    """One competitor."""

    name: str
    value: float  # the number that ranks them; smaller is better
    also: float | None  # a second number; None if it says nothing
    selected: bool


@dataclass(frozen=True)
class Board:
    """One competition, with the best entry first."""

    kind: str  # "pairs", "centers" or "models"
    value: str  # the name of the number that ranks them
    also: str  # the name of the second number
    entries: tuple[Entry, ...]


def boards_of(model: Any) -> tuple[Board, ...]:
    """Return the competitions of a fitted `ClearRegressor`, the last decision first.

    A part without a rival did not compete.
    """
    boards = []
    if len(model.leaderboard_) > 1:
        boards.append(board_of(model.leaderboard_))
    if len(model.centers_) > 1:
        chosen = {standing.center for standing in model.leaderboard_}
        boards.append(_centers(model.centers_, chosen))
    inner = getattr(model.epistemic_, "leaderboard_", ())  # ensembles may choose their own models
    if inner and inner[0]["rmse"] is not None:
        boards.append(board_of(inner))
    return tuple(boards)


def board_of(
    leaderboard: Sequence[LeaderboardRow | CenterScore | Mapping[str, Any]],
) -> Board:
    """Return the board of `leaderboard_` or `centers_` of a regressor, or of a `PCSEnsemble`.

    Examples
    --------
    >>> gam = dict(model="gam", preprocessing="logs", rmse=1.5, r2=0.9, selected=True)
    >>> board_of([gam]).entries
    (Entry(name='gam after logs', value=1.5, also=0.9, selected=True),)
    """
    first = leaderboard[0] if len(leaderboard) else None
    if isinstance(first, LeaderboardRow):
        return _pairs([each for each in leaderboard if isinstance(each, LeaderboardRow)])
    if isinstance(first, CenterScore):
        return _centers([each for each in leaderboard if isinstance(each, CenterScore)], set())
    models = [each for each in leaderboard if isinstance(each, Mapping)]
    if not models or models[0]["rmse"] is None:
        raise ValueError("No models competed, so there are no validation errors to compare.")
    return Board("models", "Root mean squared error", "R²", tuple(map(_model, models)))


def best_model(model: Any) -> str | None:
    """Return the winner's name; None if nothing competed."""
    boards = boards_of(model)
    return boards[0].entries[0].name if boards else None


def _pairs(scores: Sequence[LeaderboardRow]) -> Board:
    entries = tuple(
        Entry(f"{each.center}, noise by {each.noise}", each.loss, each.behind, each.selected)
        for each in scores
    )
    return Board("pairs", "Quantile loss", "Behind the best", entries)


def _centers(scores: Sequence[CenterScore], chosen: set[str]) -> Board:
    entries = tuple(Entry(each.name, each.loss, each.rmse, each.name in chosen) for each in scores)
    return Board("centers", "Quantile loss of one width", "Root mean squared error", entries)


def _model(entry: Mapping[str, Any]) -> Entry:
    name = " after ".join(each for each in (entry["model"], entry["preprocessing"]) if each)
    return Entry(name, entry["rmse"], entry["r2"], entry["selected"])
