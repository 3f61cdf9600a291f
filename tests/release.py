"""A test of the wheel with the extra `serve`: `python tests/release.py README.md`.

It runs the first block of Python of the README, the command on a table, and the service, which it
asks for a prediction. `make dist` runs it outside of the clone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

import clearbands

README = Path(sys.argv[1]).resolve()
COMMAND = Path(sys.executable).with_name("clearbands")
PATIENCE = 120.0  # seconds until the service must answer


def main() -> None:
    home = Path(clearbands.__file__).resolve()
    assert home.is_relative_to(Path(sys.prefix).resolve()), f"{home} is not the wheel's"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200) * np.exp(X[:, 1] / 2)
    code = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.S | re.M)[0]
    names = {"X": X, "y": y, "X_new": X}
    exec(code, names)
    assert names["intervals"].shape == (200, 2, 1)
    with tempfile.TemporaryDirectory() as folder:
        use_command(Path(folder), X, y)
        use_service(Path(folder))
    sys.stdout.write(f"clearbands {clearbands.__version__}: README, command and service work.\n")


def use_command(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    rows = np.column_stack([X, y])
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b,target", comments="")
    for words in (
        ["fit", "rows.csv", "--target", "target", "--preset", "fast", "--out", "model.clear"],
        ["predict", "model.clear", "rows.csv", "--out", "bands.csv"],
        ["report", "model.clear", "rows.csv", "--out", "report.html"],
    ):
        subprocess.run([COMMAND, *words], cwd=folder, check=True)
    assert len((folder / "bands.csv").read_text().splitlines()) == 201


def use_service(folder: Path) -> None:
    port = "8765"
    service = subprocess.Popen([COMMAND, "serve", "model.clear", "--port", port], cwd=folder)
    body = json.dumps({"rows": [{"a": 0.5, "b": 0.1}]}).encode()
    address = f"http://127.0.0.1:{port}/predict"
    request = Request(address, body, {"Content-Type": "application/json"})
    try:
        answer = ask(request)
    finally:
        service.terminate()
        assert service.wait(60) == 0
    (prediction,) = json.loads(answer)["predictions"]
    assert prediction["lower_90"] < prediction["prediction"] < prediction["upper_90"]


def ask(request: Request) -> bytes:
    started = time.monotonic()
    while True:
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.read()
        except URLError:
            if time.monotonic() - started > PATIENCE:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    main()
