"""Fetch raw tables from their public sources and prepare them, on a machine with internet.

Files go into the cache. Whole files are kept, and a download that was interrupted goes on where it
stopped. The prepared table is checked against the table that the paper used.
"""

from __future__ import annotations

import io
import tarfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.datasets import DatasetError, cache
from experiments.protocol import FIRST_SEED
from experiments.sources import SOURCES, Source, difference

CHUNK = 1 << 20
TIMEOUT = 60  # the seconds that may pass without a byte


def download(name: str) -> Path:
    """Return the path of the prepared table, which is fetched unless it is there already."""
    if name not in SOURCES:
        raise DatasetError(f"There is no source for {name!r}; there are: {', '.join(SOURCES)}.")
    path = cache() / f"{name}.parquet"
    if path.exists():
        return path
    source = SOURCES[name]
    table = prepare(source, fetch_raw(name, source))
    differs = difference(
        source, table.iloc[:, :-1].to_numpy(float), table["target"].to_numpy(float)
    )
    if differs:
        raise DatasetError(
            f"What {source.origin} gives for {name!r} is not the table the paper used: {differs}."
        )
    unfinished = path.with_suffix(".unfinished")
    table.to_parquet(unfinished)
    unfinished.replace(path)
    return path


# From the source to a raw table


def fetch_raw(name: str, source: Source) -> pd.DataFrame:
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if source.openml:
            return fetch_openml_table(source.openml, folder / "openml")
        file = fetch_file(source.url, folder / Path(source.url).name)
        return read_raw(source, file)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise DatasetError(
            f"Could not fetch {name!r} from {source.origin}: {error}. On a machine without "
            "internet, put the prepared table into the folder that CLEARBANDS_DATA names."
        ) from error


def fetch_openml_table(data_id: int, folder: Path) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=data_id, as_frame=True, data_home=str(folder), parser="auto").frame


def fetch_file(url: str, path: Path) -> Path:
    """Download a file in pieces; continue an earlier attempt if the server supports it."""
    if path.exists():
        return path
    partial = path.with_name(path.name + ".partial")
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        continued = have > 0 and getattr(answer, "status", None) == 206
        with partial.open("ab" if continued else "wb") as file:
            while chunk := answer.read(CHUNK):
                file.write(chunk)
    partial.replace(path)
    return path


def read_raw(source: Source, path: Path) -> pd.DataFrame:
    """Read the table in a file, or in the member of an archive."""
    content = path.read_bytes()
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            content = archive.read(source.member)
    elif path.suffix == ".tgz":
        with tarfile.open(path) as archive:
            member = archive.extractfile(source.member)
            content = member.read() if member else b""
    kind = Path(source.member or path.name).suffix
    if kind in (".xls", ".xlsx"):
        try:
            table = pd.read_excel(io.BytesIO(content))
        except ImportError as error:
            raise DatasetError(f"Reading {source.member} needs another package: {error}") from error
        table = table.loc[:, ~table.columns.astype(str).str.startswith("Unnamed")].dropna()
        if source.columns:
            table.columns = list(source.columns)
        return table
    if source.columns:
        separator = "," if b"," in content.splitlines()[0] else r"\s+"
        names = list(source.columns)
        return pd.read_csv(
            io.BytesIO(content), sep=separator, header=None, names=names, engine="python"
        )
    return pd.read_csv(io.BytesIO(content))


# From a raw table to the one the paper used


def prepare(source: Source, raw: pd.DataFrame) -> pd.DataFrame:
    """Return the features and then `target`, all as numbers."""
    if source.target not in raw:
        raise DatasetError(
            f"The table from {source.origin} has no column {source.target!r}; it has "
            f"{', '.join(map(str, raw.columns[:10]))}."
        )
    target = raw[source.target].astype(float)
    features = raw.drop(columns=[source.target, *(c for c in source.drop if c in raw)])
    if source.step == "allstate":
        features, target = draw_claims(features, target)
    elif source.step == "qsar":
        features = most_variable(features, source.d)
    else:
        features = one_hot(features, list(source.nominal))
    if source.step == "two_decimals":
        target = target.round(2)
    return features.astype(float).assign(target=target.to_numpy()).reset_index(drop=True)


def one_hot(features: pd.DataFrame, nominal: list[str]) -> pd.DataFrame:
    """Replace nominal columns by indicators behind the others, without their first levels."""
    if not nominal:
        return features
    blocks = [features.drop(columns=nominal)]
    for column in nominal:
        values = features[column]
        levels = sorted(values.unique(), key=as_number_or_text)
        blocks += [
            (values == level).astype(int).rename(f"{column}_{level}") for level in levels[1:]
        ]
    return pd.concat(blocks, axis=1)


def as_number_or_text(value: object) -> tuple[int, float, str]:
    """Return a sort key: numbers by size, even if they are stored as text, then other text."""
    try:
        return 0, float(value), ""  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 1, 0.0, str(value)


def draw_claims(features: pd.DataFrame, target: pd.Series) -> tuple[pd.DataFrame, pd.Series]:
    """Draw 5,000 rows, encoded with the levels of the whole table."""
    from sklearn.utils import resample

    features = features.drop(columns=[c for c in ("id",) if c in features])
    nominal = [c for c in features if not pd.api.types.is_numeric_dtype(features[c])]
    rows = resample(np.arange(len(target)), replace=False, n_samples=5000, random_state=FIRST_SEED)
    return one_hot(features, nominal).iloc[rows], target.iloc[rows]


def most_variable(features: pd.DataFrame, d: int) -> pd.DataFrame:
    """Return the d columns of largest variance, in numpy's order."""
    numbers = features.select_dtypes("number")
    if numbers.shape[1] < features.shape[1]:  # fingerprints are categories and an id is text
        bits = [c for c in features if str(c).startswith("FCFP")]
        numbers = features[bits].astype(float)
    order = np.argsort(np.var(numbers.to_numpy(float), axis=0))[-d:]
    return numbers.iloc[:, order]
