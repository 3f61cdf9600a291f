"""clearbands serve"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearbands.apps.cli import console
from clearbands.apps.cli.models import load_any
from clearbands.apps.cli.options import Model, Port
from clearbands.apps.web.limits import Limits


def serve(
    model: Model,
    port: Port = 8000,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    token_env: Annotated[
        str | None,
        typer.Option("--token-env", metavar="NAME", help="Environment variable with the token."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="File with the token.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host", metavar="NAME", help="Without a token: a name it is asked for under."
        ),
    ] = None,
    allow_update: Annotated[
        bool,
        typer.Option(
            "--allow-update",
            help="Take rows with their true values at /update, and write the model with them.",
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Processes that share the model.")
    ] = 1,
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=1, metavar="N", help="Of one request.")
    ] = Limits.rows,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=1, metavar="N", help="Of one request.")
    ] = Limits.bytes,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="For one request.")
    ] = Limits.seconds,
) -> None:
    """Answer requests over HTTP: /predict, /model, /metrics, /health, /ready, /docs for people.

    With --allow-update, which needs a token and one process, /update calibrates on with rows whose
    true values are known. The model is written to its file after them, at most every 30 s, and at
    the end.

    With a token every path that tells of the model asks for it. SIGTERM or Ctrl-C stops the
    service after the requests under way, SIGHUP reads the model file again. Logs are JSON lines on
    standard error, without the data.
    """
    from clearbands.apps.web import server

    server.check_extra()
    from clearbands.apps.web.logs import log_as_json
    from clearbands.apps.web.service import read_token, serving

    limits = Limits(rows=max_rows, bytes=max_bytes, seconds=timeout)
    token = read_token(token_env, token_file)
    hosts = None if token else serving.own_hosts(host, allow_host or ())
    load = serving.loader(
        model, lambda: load_any(model), token, hosts, limits, workers, allow_updates=allow_update
    )
    listener = server.listen(host, port)
    make_app = load()
    if token is None and not server.is_local(listener):
        console.complain("Warning: without a token, whoever reaches this machine may ask.")
    log_as_json()

    def say_so() -> None:
        console.say(f"Serving {model.name} on {server.address_of(listener)} (Ctrl-C stops it)")

    serving.serve(make_app, load, listener, workers, grace=timeout, on_ready=say_so)
