"""Markdown tables of measured rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

OPPONENTS = {"peer": "authors", "stand_in": "plain loop"}
# The titles of first calls, by their names in the column of data sets.
CALLS = {
    "first call": "First call, numba imported and all kernels compiled into an empty cache",
    "later call": "The same in a new process, with kernels from the cache",
}


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table in which columns of numbers are aligned to the right."""
    lines = [[str(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(line[j]) for line in lines) for j in range(len(header))]
    rule = ["---:" if is_numeric else "---" for is_numeric in numeric]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [list(header), rule, *lines])


def _is_number(cell: str) -> bool:
    return cell.strip() == "" or cell.lstrip("+-")[:1].isdigit()


def end_to_end(results: pd.DataFrame) -> str:
    """Write all tables of the comparison with the authors' program."""
    is_call = results["dataset"].isin(list(CALLS))
    played = results[~is_call]
    opponent = next((name for name in OPPONENTS if name in set(played["program"])), "peer")
    title = OPPONENTS[opponent]
    parts = [time_table(played, opponent, title)]
    parts.append(memory_table(played, opponent, title))
    parts.append(quality_table(played, opponent, title))
    if "ours_stock" in set(played["program"]):
        parts.append(stock_table(played))
    for row in results[is_call].itertuples():
        parts.append(f"{CALLS[row.dataset]}: {row.cpu_seconds:.1f} s of CPU.")
    if opponent == "stand_in":
        parts.append("The authors' package could not be installed; a plain loop stands in for it.")
    return "\n\n".join(parts)


def pairs(played: pd.DataFrame, left: str, right: str = "ours") -> pd.DataFrame:
    """Pair the runs that both programs have made, in columns that end in _left and _right.

    Data sets are in the order in which they were first run.
    """
    sides = [played[played["program"] == name] for name in (left, right)]
    return pd.merge(*sides, on=["variant", "dataset", "seed"], suffixes=("_left", "_right"))


def _groups(both: pd.DataFrame) -> Iterable[tuple[str, str, pd.DataFrame]]:
    for variant, rows in sorted(both.groupby("variant"), key=lambda item: str(item[0])):
        for dataset, group in rows.groupby("dataset", sort=False):
            yield str(variant), str(dataset), group


def time_table(played: pd.DataFrame, opponent: str, title: str) -> str:
    rows = []
    for variant, dataset, group in _groups(pairs(played, opponent)):
        theirs, ours = group["cpu_seconds_left"], group["cpu_seconds_right"]
        models = "/".join(sorted(set(group["model_right"])))
        rows.append(
            (
                variant,
                dataset,
                f"{group['n_train_right'].iloc[0]:,.0f} x {group['n_features_right'].iloc[0]:.0f}",
                models,
                len(group),
                f"{theirs.mean():.1f}",
                f"{ours.mean():.2f}",
                f"{(theirs / ours).mean():.1f}",
                f"{group[['load_left', 'load_right']].to_numpy().max():.1f}",
            )
        )
    header = ("variant", "set", "training rows", "our winner", "seeds", f"{title}, s")
    return markdown((*header, "clearbands, s", "ratio", "highest load"), rows)


def memory_table(played: pd.DataFrame, opponent: str, title: str) -> str:
    rows = []
    for variant, dataset, group in _groups(pairs(played, opponent)):
        mean = group.mean(numeric_only=True)
        rows.append(
            (
                variant,
                dataset,
                f"{mean['peak_mb_left']:.0f}",
                f"{mean['peak_mb_right']:.0f}",
                f"{mean['peak_mb_left'] / mean['peak_mb_right']:.1f}",
                f"{mean['above_mb_left']:.0f}",
                f"{mean['above_mb_right']:.0f}",
                f"{mean['above_mb_left'] / mean['above_mb_right']:.1f}",
            )
        )
    header = ("variant", "set", f"peak, {title}, MB", "clearbands, MB", "ratio")
    return markdown((*header, f"above imports, {title}, MB", "clearbands, MB", "ratio"), rows)


def quality_table(played: pd.DataFrame, opponent: str, title: str) -> str:
    rows = []
    for variant, dataset, group in _groups(pairs(played, opponent)):
        mean = group.mean(numeric_only=True)
        rows.append(
            (
                variant,
                dataset,
                *(f"{mean[f'picp_{side}']:.3f}" for side in ("left", "right")),
                *(f"{mean[f'nciw_{side}']:.4f}" for side in ("left", "right")),
                *(f"{mean[f'quantile_loss_{side}']:.4g}" for side in ("left", "right")),
                _percent(group["quantile_loss_right"] / group["quantile_loss_left"]),
            )
        )
    header = ("variant", "set", f"PICP, {title}", "clearbands", "NCIW", "clearbands")
    return markdown((*header, "quantile loss", "clearbands", "change"), rows)


def stock_table(played: pd.DataFrame) -> str:
    """Write our kernels beside our stock backends: the same algorithm with other models."""
    rows = []
    both = pairs(played, "ours_stock")
    for variant, dataset, group in _groups(both):
        rows.append(
            (
                variant,
                dataset,
                len(group),
                f"{group['cpu_seconds_left'].mean():.1f}",
                f"{group['cpu_seconds_right'].mean():.2f}",
                f"{(group['cpu_seconds_left'] / group['cpu_seconds_right']).mean():.1f}",
                f"{group['quantile_loss_left'].mean():.4g}",
                f"{group['quantile_loss_right'].mean():.4g}",
                _percent(group["quantile_loss_right"] / group["quantile_loss_left"]),
            )
        )
    header = ("variant", "set", "seeds", "stock backends, s", "kernels, s", "ratio")
    table = markdown((*header, "quantile loss, stock", "kernels", "change"), rows)
    change = both["quantile_loss_right"] / both["quantile_loss_left"]
    spread = 100 * np.log(change).std(ddof=1) / len(change) ** 0.5 if len(change) > 1 else np.nan
    return f"{table}\n\nMean change over all of these: {_percent(change)} +- {spread:.1f} %."


def _percent(ratios: pd.Series) -> str:
    """Write the geometric mean of ratios as a change in percent."""
    return f"{100 * (np.exp(np.log(ratios).mean()) - 1):+.1f} %"
