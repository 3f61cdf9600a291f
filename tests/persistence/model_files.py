"""Model files, and a way to change their content."""

import json
import zipfile

from clearbands import ClearRegressor, PCSEnsemble, ResidualQuantiles
from clearbands.persistence.model_file import SCHEMA


def small_clear(model):
    return ClearRegressor(
        PCSEnsemble([model], n_bootstraps=3),
        ResidualQuantiles(model, n_bootstraps=3),
        calibration="joint",
        random_state=0,
    )


def rewritten(path, change=lambda schema: schema, entries=(), compression=zipfile.ZIP_DEFLATED):
    """Write the file again with a changed schema and other `entries`; return its path."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    held[SCHEMA] = json.dumps(change(json.loads(held[SCHEMA]))).encode()
    held.update(entries)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in held.items():
            archive.writestr(name, content)
    return path
