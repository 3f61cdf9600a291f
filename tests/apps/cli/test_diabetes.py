"""Table, picture, report and summary of the demo use the same predictions."""

from __future__ import annotations

from clearbands.apps.cli.diabetes import Demo
from clearbands.rows.display import percent
from tests.apps.report.houses import houses, small_clear


class Counting:
    """A fitted model that counts the rows it predicts."""

    def __init__(self, model):
        self.model, self.rows = model, 0

    def __getattr__(self, name):
        return getattr(self.model, name)

    def answers(self, X, calibration_groups=None):
        self.rows += len(X)
        return self.model.answers(X)

    def predict_interval(self, X):
        raise AssertionError("The parts are there already.")


def test_every_row_is_predicted_once(tmp_path):
    model = Counting(small_clear().fit(*houses(120)))
    demo = Demo(model, *houses(60, seed=1))
    assert demo.table().height == 60
    demo.draw(tmp_path / "bands.png")
    summary = demo.summary()
    page = demo.report().html
    assert model.rows == 60
    share = percent(demo.predicted[0].mean_share)
    assert summary["epistemic share"].startswith(f"{share} of the mean width")
    assert f"{share} ignorance" in page
    coverage, width = (summary[name].split(" ")[0] for name in ("coverage", "typical width"))
    assert f'<p class="big">{coverage}</p>' in page  # the same to the last digit
    assert f'<p class="big">{width}</p>' in page
