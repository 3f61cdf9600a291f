"""Models in MLflow: they are loaded as saved, and served with the numbers of `clearbands predict`.

The tests are skipped where MLflow is not installed: `pip install ".[mlflow]"`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import clearbands
import clearbands.apps.mlflow
from clearbands import ClearRegressor, LinearQuantiles, PCSEnsemble, ResidualQuantiles

mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
pytest.importorskip("mlflow.pyfunc", reason="mlflow has no pyfunc")
pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow itself warns


@pytest.fixture(scope="module")
def houses():
    rng = np.random.default_rng(0)
    area, town = rng.uniform(40, 200, 120), rng.choice(["Basel", "Bern"], 120)
    frame = pd.DataFrame({"area": area, "rooms": rng.integers(1, 7, 120), "town": town})
    return frame, 100 + 3 * area + rng.normal(size=120) * area / 4


@pytest.fixture(scope="module")
def model(houses):
    linear = LinearQuantiles()
    parts = PCSEnsemble({"linear": linear}, n_bootstraps=3), ResidualQuantiles(linear, 3)
    model = ClearRegressor(*parts, confidence_level=[0.9, 0.5], calibration="joint", random_state=0)
    return model.fit(*houses)


@pytest.fixture
def tracking(tmp_path, monkeypatch):
    """Let MLflow keep its runs in a new database."""
    pytest.importorskip("sqlalchemy", reason="mlflow without it has no store of runs")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.set_experiment("houses")


def expected(model, frame):
    return model.predict_frame(frame)


def test_a_saved_model_is_the_same_and_serves_the_same_numbers(model, houses, tmp_path):
    frame, _ = houses
    clearbands.apps.mlflow.save_model(model, tmp_path / "model", input_example=frame.head(3))
    again = clearbands.apps.mlflow.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(
        again.predict_interval(frame)[1], model.predict_interval(frame)[1]
    )
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert_frame_equal(served.predict(frame), expected(model, frame))
    inputs = served.metadata.signature.inputs.input_names()
    outputs = served.metadata.signature.outputs.input_names()
    assert inputs == ["area", "rooms", "town"]
    assert outputs[:3] == ["prediction", "lower_90", "upper_90"]
    requirements = (tmp_path / "model" / "requirements.txt").read_text().split()
    assert f"clearbands=={clearbands.__version__}" in requirements


def test_the_file_inside_is_a_model_file(model, tmp_path):
    clearbands.apps.mlflow.save_model(model, tmp_path / "model")
    inside = clearbands.load(tmp_path / "model" / "data" / clearbands.apps.mlflow.FILE)
    np.testing.assert_array_equal(inside.gamma1_, model.gamma1_)


def test_columns_that_are_not_there_are_refused(model, houses, tmp_path):
    frame, _ = houses
    clearbands.apps.mlflow.save_model(model, tmp_path / "model", input_example=frame.head(3))
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    with pytest.raises(mlflow.MlflowException, match="town"):
        served.predict(frame.drop(columns="town"))


def test_a_logged_model_is_found_and_registered(model, houses, tracking):
    frame, _ = houses
    with mlflow.start_run():
        info = clearbands.apps.mlflow.log_model(
            model, name="houses", input_example=frame.head(3), registered_model_name="houses"
        )
    for uri in (info.model_uri, "models:/houses/1"):
        served = mlflow.pyfunc.load_model(uri)
        assert_frame_equal(served.predict(frame), expected(model, frame))
        assert clearbands.apps.mlflow.load_model(uri).levels_.tolist() == [0.9, 0.5]


def test_its_server_answers_with_the_numbers_of_the_command(model, houses, tmp_path):
    scoring = pytest.importorskip("mlflow.pyfunc.scoring_server")
    try:
        from fastapi.testclient import TestClient
    except (ImportError, RuntimeError) as error:  # RuntimeError if httpx is missing
        pytest.skip(f"fastapi has no client: {error}")
    frame, _ = houses
    clearbands.apps.mlflow.save_model(model, tmp_path / "model", input_example=frame.head(3))
    with TestClient(scoring.init(mlflow.pyfunc.load_model(str(tmp_path / "model")))) as ask:
        rows = frame.head(4).to_dict(orient="split", index=False)
        answer = ask.post("/invocations", json={"dataframe_split": rows})
    assert answer.status_code == 200, answer.text
    served = pd.DataFrame(answer.json()["predictions"])
    assert_frame_equal(served, expected(model, frame.head(4)), check_exact=True)
