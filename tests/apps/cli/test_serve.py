"""clearbands serve refuses before it starts."""

from __future__ import annotations

import socket
import sys

import pytest
from typer.testing import CliRunner

import clearbands
from clearbands.apps.cli.commands import app as command
from tests.apps.web.updating import in_time


def test_bad_settings_are_refused_before_the_service_starts(service_files):
    model = service_files / "model.cb"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for options, said in (
            (["--port", port], f"Port {port} on 127.0.0.1 cannot be opened: it is in use"),
            (["--host", "no such host"], "'no such host' is no address of this machine"),
            (["--timeout", 0], "The timeout must be a positive number, got 0.0"),
            (["--token-env", "NOT_THERE"], "There is no environment variable NOT_THERE"),
        ):
            result = CliRunner().invoke(command, ["serve", str(model), *map(str, options)])
            assert result.exit_code == 2
            assert result.stderr.startswith(f"Error: {said}")


def test_without_the_extra_one_sentence_says_what_to_install(service_files, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(command, ["serve", str(service_files / "model.cb")])
    assert result.exit_code == 2
    said = (
        'Error: This command needs the extra "serve": pip install fastapi fastapi-offline uvicorn'
    )
    others = "prometheus-client typer rich polars jinja2 matplotlib"
    assert result.stderr == f"{said} {others}.\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--allow-update"], "it needs a token"),
        (["--allow-update", "--workers", "2", "--token-env", "T"], "needs --workers 1"),
    ],
)
def test_what_the_command_refuses(options, words, tmp_path):
    path = tmp_path / "model.clear"
    clearbands.save(in_time(), path)
    done = CliRunner().invoke(command, ["serve", str(path), *options], env={"T": "s" * 32})
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
