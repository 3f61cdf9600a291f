"""clearbands warm"""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

from clearbands.apps.cli import console


def warm(
    portable: Annotated[
        bool,
        typer.Option(
            "--portable",
            help="For any x86-64 processor with AVX2 under Linux instead of the one at hand: a "
            "wheel brings such kernels along.",
        ),
    ] = False,
) -> None:
    """Compile all kernels now, so that no later fit or prediction has to wait for it.

    Kernels are compiled at their first use and kept with the installation, or in the folder that
    the environment variable NUMBA_CACHE_DIR names: run this once when an image is built. Where a
    wheel brought kernels along, those compiled here for the processor at hand are faster.
    """
    from numba import config

    from clearbands.engine.kernel_cache import PORTABLE, KernelCache

    KernelCache.takes_portable = False
    if portable:
        _, processor, abilities = PORTABLE
        vars(config).update(CPU_NAME=processor, CPU_FEATURES=abilities)
    import polars as pl
    from sklearn.datasets import make_classification, make_friedman1

    from clearbands import ClearClassifier, ClearRegressor

    started = perf_counter()
    with console.progress_bar() as progress:
        X, y = make_friedman1(400, n_features=5, noise=1.0, random_state=0)
        frame = pl.DataFrame(X).with_columns(town=pl.Series([f"town {i % 40}" for i in range(400)]))
        model = ClearRegressor(random_state=0, n_jobs=1).fit(frame, y, progress=progress)
        model.predict_frame(frame.head(3))
        ClearRegressor(random_state=0, n_jobs=1).fit(X, y).predict_interval(X[:3])
        X, y = make_classification(200, n_features=4, random_state=0)
        ClearClassifier(random_state=0, n_jobs=1).fit(X, y).predict_set(X[:3])
    console.print_line(f"All kernels are compiled, after {perf_counter() - started:.0f} s.")
