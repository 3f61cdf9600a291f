"""Several files are read as one table."""

import polars as pl
import pytest

from clearbands.scaling.source import is_table_on_disk, open_table, read_piece
from tests.scaling.files import table, write


def test_pieces_make_up_the_table_and_know_their_rows(tmp_path):
    found = open_table(write(tmp_path, cuts=(1, 350)))
    pieces = found.pieces(200)
    assert [piece.size for piece in pieces] == [1, 200, 149, 200, 50]
    assert [row for piece in pieces for row in piece.rows.tolist()] == list(range(600))
    whole = pl.concat([read_piece(piece, ["price", "town"]) for piece in pieces])
    assert whole.equals(table().select("price", "town"))


def test_the_fingerprint_is_that_of_the_content(tmp_path):
    one = open_table(write(tmp_path))
    moved = tmp_path / "moved.parquet"
    (tmp_path / "houses.parquet").rename(moved)
    assert open_table(moved).fingerprint == one.fingerprint
    table(seed=1).write_parquet(moved)
    assert open_table(moved).fingerprint != one.fingerprint


def test_what_is_no_table_is_refused_in_one_sentence(tmp_path):
    def refused(given, match):
        with pytest.raises(ValueError, match=match):
            open_table(given)

    refused(tmp_path / "nowhere.parquet", "There is no file")
    refused(tmp_path, "holds no parquet file")
    (tmp_path / "a.csv").write_text("a\n1")
    refused(tmp_path / "a.csv", "must be in parquet files")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    refused(tmp_path / "a.parquet", "could not be read as a parquet file")
    table()[:0].write_parquet(tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", "no rows")
    table().write_parquet(tmp_path / "a.parquet")
    as_floats = pl.col("age").cast(pl.Float32)
    others = {
        "without 'town'": table().drop("town"),
        "with 'year'": table().with_columns(year=1),
        "'age' of type Float32 instead of Int64": table().with_columns(as_floats),
        "in another order": table().select("town", "price", "age", "size"),
    }
    for difference, other in others.items():
        other.write_parquet(tmp_path / "b.parquet")
        refused(tmp_path, rf"has other columns than .*a\.parquet, {difference}: all files")


def test_paths_are_tables_on_disk_and_rows_are_not(tmp_path):
    assert is_table_on_disk("a.parquet")
    assert is_table_on_disk([tmp_path, "a.parquet"])
    assert not is_table_on_disk([])
    assert not is_table_on_disk([[1.0, 2.0]])
    assert not is_table_on_disk(table())
