"""Tables as text in files."""

from __future__ import annotations

import polars as pl

TABLE = pl.DataFrame({"size": [1.5, 2.5], "town": ["Zürich", "Bern"]})
CSV = "size,town\n1.5,Zürich\n2.5,Bern\n"


def write(frame, path):
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".feather": frame.write_ipc}[
        path.suffix
    ](path)
    return path
