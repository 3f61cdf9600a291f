"""Preparation of small raw tables, and the errors without internet."""

import io
import tarfile
import urllib.error
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import __main__, datasets, download, sources
from experiments.sources import SOURCES, Source


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CLEARBANDS_DATA", raising=False)
    return tmp_path / "clearbands" / "datasets"


class Answer(io.BytesIO):
    """An answer of urlopen, whose connection may be lost after some bytes."""

    def __init__(self, content, status=200, breaks_after=None):
        super().__init__(content)
        self.status, self.breaks_after = status, breaks_after

    def read(self, size=-1):
        if self.breaks_after is not None and self.tell() >= self.breaks_after:
            raise ConnectionResetError("connection lost")
        if self.breaks_after is not None:
            size = self.breaks_after - self.tell()
        return super().read(size)


def test_every_set_of_the_paper_has_a_source_and_a_check():
    printed = pd.read_csv("experiments/paper/datasets.csv").set_index("dataset")
    assert set(sources.PAPER_SETS) == set(printed.index)
    for name, source in SOURCES.items():
        assert bool(source.openml) != bool(source.url), name
        assert source.sha256 or source.first, name
        if name in printed.index:
            assert (source.n, source.d) == tuple(printed.loc[name, ["n", "d"]]), name


def test_the_list_names_sources_and_what_is_missing(cache, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARBANDS_DATA", str(tmp_path))
    assert __main__.main(["list"]) == 0
    sources, _, _ = capsys.readouterr().out.partition("\n\n")  # then come the rows there are
    lines = {line.split()[0]: line for line in sources.splitlines()}
    assert "UCI 291" in lines["airfoil"]
    assert "OpenML 3050" in lines["qsar"]
    assert lines["qsar"].endswith("missing")


def test_numbers_stay_and_indicators_follow_without_the_first_level():
    raw = pd.DataFrame(
        {
            "speed": [3.0, 12.0, 9.0],
            "town": ["south", "north", "west"],
            "size": [1, 2, 3],
            "price": [5, 6, 7],
            "id": [7, 8, 9],
        }
    )
    source = Source(3, 5, "price", openml=1, drop=("id",), nominal=("town", "speed"))
    table = download.prepare(source, raw)
    assert list(table.columns) == [
        "size",
        "town_south",
        "town_west",
        "speed_9.0",
        "speed_12.0",
        "target",
    ]
    np.testing.assert_array_equal(
        table.to_numpy(), [[1, 1, 0, 0, 0, 5], [2, 0, 0, 0, 1, 6], [3, 0, 1, 1, 0, 7]]
    )


def test_categories_that_are_numbers_in_text_are_ordered_by_size():
    encoded = download.one_hot(pd.DataFrame({"month": ["2", "10", "1"]}), ["month"])
    assert list(encoded.columns) == ["month_2", "month_10"]


def test_targets_with_two_decimals():
    raw = pd.DataFrame({"a": [1.0], "strength": [79.98611]})
    assert (
        download.prepare(Source(1, 1, "strength", step="two_decimals"), raw)["target"][0] == 79.99
    )


def test_claims_are_drawn_and_encoded_over_the_levels_of_the_whole_table():
    n = 6000
    raw = pd.DataFrame({"kind": ["a", "b"] * (n // 2), "x": np.arange(n), "loss": np.arange(n)})
    raw.loc[0, "kind"] = "rare"
    table = download.prepare(SOURCES["allstate"], raw.assign(id=1))
    assert list(table.columns) == ["x", "kind_b", "kind_rare", "target"]
    assert len(table) == 5000
    assert table["target"].is_unique
    np.testing.assert_array_equal(table["x"], table["target"])


def test_the_most_variable_fingerprints_are_kept():
    raw = pd.DataFrame(
        {
            "MOLECULE_CHEMBL_ID": ["m1", "m2", "m3", "m4"],
            "FCFP6_1024_0": [0, 0, 0, 1],
            "FCFP6_1024_1": [0, 0, 1, 1],
            "FCFP6_1024_2": [0, 0, 0, 0],
            "MEDIAN_PXC50": [7, 8, 5, 6],
        }
    )
    source = replace(SOURCES["qsar"], d=2)
    assert list(download.prepare(source, raw)) == ["FCFP6_1024_0", "FCFP6_1024_1", "target"]


def test_a_source_that_changed_is_named():
    with pytest.raises(datasets.DatasetError, match="OpenML 189 has no column 'y'; it has a"):
        download.prepare(SOURCES["kin8nm"], pd.DataFrame({"a": [1]}))


def test_files_in_archives(tmp_path):
    columns = ("a", "b", "c")
    in_zip = Source(2, 2, "c", url="u", member="folder/data.txt", columns=columns)
    with zipfile.ZipFile(tmp_path / "raw.zip", "w") as archive:
        archive.writestr("folder/data.txt", "   1.0   2.0\t3\n   4.0   5.0\t6\n")
    with tarfile.open(tmp_path / "raw.tgz", "w:gz") as archive:
        content = b"1,2,3\n4,5,6\n"
        info = tarfile.TarInfo("folder/data.txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    for name in ("raw.zip", "raw.tgz"):
        table = download.read_raw(in_zip, tmp_path / name)
        np.testing.assert_array_equal(table[list(columns)], [[1, 2, 3], [4, 5, 6]])


def test_an_interrupted_download_goes_on_where_it_stopped(monkeypatch, tmp_path):
    content = bytes(range(200))
    asked = []

    def urlopen(request, timeout):
        start = int(request.headers.get("Range", "bytes=0-")[6:-1])
        asked.append(start)
        return Answer(content[start:], 206 if start else 200, None if start else 120)

    monkeypatch.setattr(download.urllib.request, "urlopen", urlopen)
    with pytest.raises(ConnectionResetError):
        download.fetch_file("https://host/file.zip", tmp_path / "file.zip")
    assert not (tmp_path / "file.zip").exists()
    download.fetch_file("https://host/file.zip", tmp_path / "file.zip")
    assert (tmp_path / "file.zip").read_bytes() == content
    assert asked == [0, 120]
    download.fetch_file("https://host/file.zip", tmp_path / "file.zip")
    assert asked == [0, 120]


def test_without_internet_one_sentence_says_what_to_do(cache, monkeypatch, capsys):
    def urlopen(request, timeout):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(download.urllib.request, "urlopen", urlopen)
    assert __main__.main(["download", "airfoil"]) == 2
    error = capsys.readouterr().err
    assert "Could not fetch 'airfoil' from https://archive.ics.uci.edu" in error
    assert "CLEARBANDS_DATA" in error


def test_a_download_is_checked_kept_and_loaded(cache, monkeypatch):
    raw = "age,sex,charges\n19,female,100\n20,male,200\n"
    X, y = np.array([[19.0, 0], [20, 1]]), np.array([100.0, 200])
    source = Source(2, 2, "charges", url="https://host/tiny.csv", nominal=("sex",))
    good = replace(source, sha256=sources.fingerprint(X, y))
    monkeypatch.setattr(
        download.urllib.request, "urlopen", lambda request, timeout: Answer(raw.encode())
    )
    monkeypatch.setitem(SOURCES, "tiny", replace(source, sha256="0"))
    with pytest.raises(datasets.DatasetError, match="not the table the paper used"):
        download.download("tiny")
    monkeypatch.setitem(SOURCES, "tiny", good)
    path = download.download("tiny")
    assert path.parent == cache == datasets.folder()
    np.testing.assert_array_equal(datasets.load("tiny")[0], X)
    assert datasets.status("tiny") == "there"


def test_targets_are_checked_where_the_table_has_no_sum():
    source = Source(3, 1, "y", openml=1, first=(1.0, 2.0), mean=2.0)
    X = np.zeros((3, 1))
    assert sources.difference(source, X, np.array([1.0, 2, 3])) == ""
    assert "first targets" in sources.difference(source, X, np.array([2.0, 1, 3]))
    assert "mean target" in sources.difference(source, X, np.array([1.0, 2, 4]))
    assert "2 rows" in sources.difference(source, X[:2], np.array([1.0, 2]))
