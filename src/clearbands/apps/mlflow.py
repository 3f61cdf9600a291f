"""Models in MLflow: logged, loaded again, and served through its generic interface.

    import clearbands.apps.mlflow

    info = clearbands.apps.mlflow.log_model(model, name="houses", input_example=X.head())
    clearbands.apps.mlflow.load_model(info.model_uri)     # the model itself
    mlflow.pyfunc.load_model(info.model_uri).predict(X)   # what `clearbands predict` writes

A model is stored in the file format of `clearbands.save`: loading it runs no code from it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from clearbands import __version__
from clearbands._compat import require
from clearbands.persistence.model_file import load, save

if TYPE_CHECKING:
    import pandas as pd
    from mlflow.models import Model
    from mlflow.models.model import ModelInfo

    from clearbands.classifier import ClearClassifier
    from clearbands.regressor import ClearRegressor

FLAVOUR = "clearbands"
FILE = "model.clear"


def save_model(
    model: ClearRegressor | ClearClassifier,
    path: str | os.PathLike[str],
    mlflow_model: Model | None = None,
    **options: Any,
) -> None:
    """Write a fitted model to a folder that MLflow can read; the folder must not be there yet.

    `options` are those of `mlflow.pyfunc.save_model`, such as `signature`, `input_example`,
    `metadata` and `pip_requirements`. With an example but no signature, the signature is that of
    the example and its predictions.
    """
    mlflow = _mlflow()
    described = mlflow.models.Model() if mlflow_model is None else mlflow_model
    described.add_flavor(FLAVOUR, data=f"data/{FILE}", version=__version__)
    if "conda_env" not in options:
        options.setdefault("pip_requirements", [f"clearbands=={__version__}", "pandas"])
    example = options.get("input_example")
    if example is not None and options.get("signature") is None:
        predicted = PredictionTable(model).predict(example)
        options["signature"] = mlflow.models.infer_signature(example, predicted)
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / FILE)
        mlflow.pyfunc.save_model(
            os.fspath(path),
            loader_module=__name__,
            data_path=os.fspath(Path(folder) / FILE),
            mlflow_model=described,
            **options,
        )


def log_model(model: ClearRegressor | ClearClassifier, name: str, **options: Any) -> ModelInfo:
    """Log a fitted model in the run that is active, or in a new one; `options` as above.

    `registered_model_name` also registers it.
    """
    models = _mlflow().models
    return models.Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], model=model, **options
    )


def load_model(model_uri: str) -> ClearRegressor | ClearClassifier:
    """Load the model itself, from a place that MLflow knows."""
    folder = _mlflow().artifacts.download_artifacts(artifact_uri=model_uri)
    return load(Path(folder) / "data" / FILE)


class PredictionTable:
    """The model as MLflow wants it: tables in, tables out."""

    def __init__(self, model: ClearRegressor | ClearClassifier) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Return the columns of `predict_frame`; the index of the rows is kept."""
        frame = self.model.predict_frame(model_input)
        return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def _load_pyfunc(path: str) -> PredictionTable:
    """Load the table of predictions from a path that MLflow gives."""
    return PredictionTable(load(path))


def _mlflow() -> ModuleType:
    for name in ("mlflow.models", "mlflow.pyfunc", "mlflow.artifacts"):
        require(name, what="clearbands.apps.mlflow", extra="mlflow")
    return sys.modules["mlflow"]
