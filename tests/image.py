"""The steps of the Dockerfile without Docker: `python -m tests.image`.

A new folder gets an empty environment in place of the base image and the files that .dockerignore
lets through; then the commands run as they stand in the Dockerfile. The service must become
healthy, answer, and stop on request. Steps that need a machine of their own (the user, the layers)
are left out, and a line says so.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import clearbands
from tests.served import small_model

ROOT = Path(__file__).parents[1]
PORT = "8000"  # the port in the Dockerfile
MOST_SECONDS = 120  # before it is healthy, on a busy machine


class Step(NamedTuple):
    """An instruction of the Dockerfile, and the rest of its line."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The words of a list in brackets, or of a line."""
        return json.loads(self.rest) if self.rest.startswith("[") else shlex.split(self.rest)


def read_steps(text: str) -> list[Step]:
    """Return the instructions of a Dockerfile; continued lines are joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = (line.split(None, 1) for line in joined.splitlines() if line.strip())
    return [Step(name, rest.strip()) for name, rest in pairs]


def let_through(root: Path) -> list[str]:
    """Return the names that .dockerignore lets through: it names them with "!" after "*"."""
    first, *others = (root / ".dockerignore").read_text("utf-8").split()
    assert first == "*", "this reader knows a list of what is let through, and nothing else"
    assert all(name.startswith("!") for name in others)
    return [name[1:] for name in others]


def copy(sources: list[str], root: Path, folder: Path) -> None:
    """Run COPY, without the files that .dockerignore ignores."""
    allowed = let_through(root)
    for source in sources:
        if source not in allowed:
            raise FileNotFoundError(f"{source} is copied, but .dockerignore keeps it out.")
        if (root / source).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / source, folder / source, ignore=ignored)
        else:
            shutil.copy(root / source, folder / source)


def build(steps: list[Step], root: Path, folder: Path) -> dict[str, str]:
    """Run the steps up to the end of the build; return the environment of the service."""
    home = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    environment = {"PATH": f"{home / 'bin'}:{os.defpath}", "HOME": str(folder)}
    source = folder / "src"
    source.mkdir()
    for step in steps:
        if step.name == "ENV":
            pairs = (pair.partition("=") for pair in step.words)
            environment |= {name: value for name, _, value in pairs}
            environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
        elif step.name == "COPY":
            copy(step.words[:-1], root, source)
        elif step.name == "RUN" and step.words[0] == "pip":
            subprocess.run(step.words, cwd=source, env=environment, check=True)
        else:
            say(f"left out: {step.name} {step.rest}")
    return environment


def serve(steps: list[Step], environment: dict[str, str], model: Path) -> None:
    """Start the service as the container would, wait until it is healthy, ask it, and stop it."""
    named = {step.name: step for step in steps}
    port = free_port()
    given = {"/model.clear": str(model), PORT: port}
    words = [given.get(word, word) for word in (*named["ENTRYPOINT"].words, *named["CMD"].words)]
    check = named["HEALTHCHECK"].rest.partition("CMD ")[2].replace(f":{PORT}/", f":{port}/")
    words[0] = shutil.which(words[0], path=environment["PATH"]) or words[0]
    process = subprocess.Popen(words, env=environment, cwd="/")
    try:
        ends = time.monotonic() + MOST_SECONDS
        quiet = {"env": environment, "stderr": subprocess.DEVNULL}
        while subprocess.run(json.loads(check), **quiet).returncode:
            if process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("The service did not become healthy.")
            time.sleep(1)
        with urlopen(f"http://127.0.0.1:{port}/model", timeout=60) as answer:
            rows = json.load(answer)["trained_on"]["training_rows"]
            say(f"healthy, with a model of {rows:,} rows")
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
    say(f"stopped with exit code {code}")
    if code:
        raise RuntimeError("The service did not stop as it should.")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def main() -> None:
    steps = read_steps((ROOT / "Dockerfile").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.clear"
        clearbands.save(small_model(), model)
        serve(steps, build(steps, ROOT, folder), model)


if __name__ == "__main__":
    main()
