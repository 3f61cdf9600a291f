"""clearbands monitor writes the page and leaves the model as it is."""

from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app
from tests.apps.web.updating import hours
from tests.apps.web.updating import in_time as hourly_model
from tests.pages import as_text


def test_the_command_writes_the_page_and_leaves_the_model(tmp_path):
    path, data, out = (tmp_path / name for name in ("model.clear", "new.csv", "page.html"))
    clearbands.save(hourly_model(), path)
    before = path.read_bytes()
    hours(80, first=120).write_csv(data)
    arguments = ["monitor", str(path), str(data), "--out", str(out), "--stretch", "40"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    assert "80 rows in the order of time" in done.stdout
    assert path.read_bytes() == before
    assert "Every point looks back over 40 rows." in as_text(out.read_text("utf-8"))
