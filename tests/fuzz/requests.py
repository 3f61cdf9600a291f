"""Strange requests, drawn from the seed of a case."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import numpy as np

from tests.served import COLUMNS, ROW

WORDS = (
    "", " ", "red", "NaN", "inf", "1e999", "-0", "0x10", "1_000", "1,5", "2020-13-45", "null",
    "__proto__", "../../etc/passwd", "%00", "\x00", "\ud7ff", "�", "=1+1", "<script>", "x" * 5000,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31, 2**63, 2**64, 10**40, 1e308, -1e-308, 0.1, 1e22)
KEYS = (*COLUMNS, "rows", "row", "column", "level", "confidence_level", "whole", "X", "")


def value(rng: np.random.Generator, depth: int = 0) -> Any:
    """Draw any value that JSON can hold."""
    way = rng.integers(7 if depth < 3 else 5)
    if way == 0:
        return None
    if way == 1:
        return bool(rng.integers(2))
    if way in (2, 3):
        return number(rng)
    if way == 4:
        return WORDS[rng.integers(len(WORDS))]
    if way == 5:
        return [value(rng, depth + 1) for _ in range(rng.integers(4))]
    return {key(rng): value(rng, depth + 1) for _ in range(rng.integers(4))}


def number(rng: np.random.Generator) -> float:
    """Draw a number of any size, or one at the edge of a type."""
    if rng.random() < 0.5:
        return NUMBERS[rng.integers(len(NUMBERS))]
    return float(rng.normal() * 10.0 ** rng.integers(-3, 10))


def query(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    """Draw one or two questions of an address, most of them with a number."""
    asked = []
    for _ in range(rng.integers(1, 3)):
        name = names[rng.integers(len(names))]
        usual = number(rng) if name in ("above", "below") else rng.random()
        asked.append((name, usual if rng.random() < 0.8 else value(rng, 3)))
    return urlencode(asked, errors="surrogatepass")


def key(rng: np.random.Generator) -> str:
    return KEYS[rng.integers(len(KEYS))]


def row(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a valid row; in half of the cases one or two fields are wrong or missing."""
    fields = dict(ROW) | {"x": number(rng)}
    for _ in range(rng.integers(1, 3) * rng.integers(2)):
        if rng.random() < 0.2:
            fields.pop(key(rng), None)
        else:
            fields[key(rng)] = value(rng)
    return fields


def csv(rng: np.random.Generator) -> bytes:
    lines = [",".join(COLUMNS)]
    for _ in range(rng.integers(4)):
        cells = ["" if cell is None else str(cell) for cell in row(rng).values()]
        lines.append(",".join(cells))
    return damaged("\n".join(lines).encode("utf-8", "surrogatepass"), rng)


def as_json(thing: Any, rng: np.random.Generator) -> bytes:
    return damaged(json.dumps(thing).encode(), rng)


def damaged(body: bytes, rng: np.random.Generator) -> bytes:
    """Replace a byte by a few random ones in every fourth case."""
    if rng.random() < 0.75 or not body:
        return body
    place = int(rng.integers(len(body)))
    return body[:place] + rng.bytes(int(rng.integers(1, 5))) + body[place + 1 :]
