"""clearbands serve"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import load_model
from clearbands.apps.cli.options import Model, Port, option
from clearbands.apps.web.limits import Limits


def serve(
    model: Model,
    port: Port = 8000,
    host: Annotated[
        str,
        option("The address to listen on; 0.0.0.0 opens the service to all networks.", "ADDRESS"),
    ] = "127.0.0.1",
    token_env: Annotated[
        str | None, option("The environment variable that holds the token.", "NAME")
    ] = None,
    token_file: Annotated[Path | None, option("The file that holds the token.", "FILE")] = None,
    allow_host: Annotated[
        list[str] | None,
        option("Without a token, also answer under this name; repeat it for several.", "NAME"),
    ] = None,
    allow_update: Annotated[
        bool,
        option("Accept rows with their true values at /update, and write them into the model."),
    ] = False,
    workers: Annotated[int, option("How many processes share the model.", "N", min=1)] = 1,
    max_rows: Annotated[int, option("The most rows of one request.", "N", min=1)] = Limits.rows,
    max_bytes: Annotated[int, option("The most bytes of one request.", "N", min=1)] = Limits.bytes,
    timeout: Annotated[float, option("How long one request may take.", "SECONDS")] = Limits.seconds,
) -> None:
    """Answer requests over HTTP: /predict, /model, /metrics, /health, /ready, /docs for people.

    With --allow-update, which needs a token and one process, /update goes on calibrating with
    rows whose true values are known. The model is written to its file after them, at most every
    30 s, and at the end.

    With a token, every path that tells of the model asks for it. SIGTERM or Ctrl-C stops the
    service after the requests under way, and SIGHUP reads the model file again. Logs are JSON
    lines on standard error, without the data.
    """
    from clearbands.apps.web import server

    server.check_extra()
    from clearbands.apps.web.service import read_token, serving
    from clearbands.apps.web.service.serving import log_as_json

    limits = Limits(rows=max_rows, bytes=max_bytes, seconds=timeout)
    token = read_token(token_env, token_file)
    hosts = None if token else serving.own_hosts(host, allow_host or ())
    load = serving.loader(
        model,
        lambda: load_model(model, of_classes=True),
        token,
        hosts,
        limits,
        workers,
        allow_updates=allow_update,
    )
    with server.listen(host, port) as listener:
        make_app = load()
        if token is None and not server.is_local(listener):
            console.print_error("Warning: without a token, whoever reaches this machine may ask.")
        log_as_json()

        def say_so() -> None:
            console.print_line(
                f"Serving {model.name} on {server.address_of(listener)} (Ctrl-C stops it)"
            )

        serving.serve(make_app, load, listener, workers, grace=timeout, on_ready=say_so)
