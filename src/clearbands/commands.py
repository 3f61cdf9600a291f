"""What the command line can do: demo, fit, predict, evaluate, report, serve.

Whatever is slow to import is imported by the command that needs it, so that help is fast.
"""

from __future__ import annotations

import json
import math
import shlex
import time
import traceback
import warnings
import webbrowser
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from clearbands import __version__, console, files

if TYPE_CHECKING:
    from clearbands.regressor import ClearRegressor
    from clearbands.split import Rows


class Group(TyperGroup):
    """Takes --debug wherever it stands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)


class Command(TyperCommand):
    """Failures are one sentence and exit code 2, Ctrl-C is 130, warnings are one line each."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = console.show_warning
                return super().invoke(ctx)
        except KeyboardInterrupt:
            console.complain("Stopped; no file was left half-written.")
            raise typer.Exit(130) from None
        except Exception as error:
            if ctx.find_root().params.get("debug"):
                typer.echo(traceback.format_exc(), err=True, nl=False)
            else:
                console.complain(console.sentence(error))
            raise typer.Exit(2) from error


class Preset(StrEnum):
    default = "default"
    a = "a"
    b = "b"
    c = "c"
    deep = "deep"


class Calibration(StrEnum):
    joint = "joint"
    conformal = "conformal"


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its boxes cost half a second
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"clearbands {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
) -> None:
    """Prediction intervals you can trust, that say why they are wide."""


Data = Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by fit.")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")
]
Target = Annotated[str, typer.Option("--target", metavar="COLUMN", help="What to predict.")]


@app.command(cls=Command)
def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for table, picture and report.")
    ] = Path("clearbands-demo"),
) -> None:
    """Fit on data that comes with scikit-learn, show the result and write a report."""
    files.make_folder(out)
    table, picture, page = out / "intervals.csv", out / "bands.png", out / "report.html"
    files.check_output(table, table=True)
    files.check_output(picture)
    files.check_output(page)
    with console.progress_bar() as progress:
        from clearbands import demo

        result = demo.run(progress)
    files.write_table(result.table(), table)
    with files.written_whole(picture) as unfinished:
        result.draw(unfinished)
    result.report().save(page)
    console.show_pairs("Diabetes progression after one year", result.summary())
    console.say(f"Wrote {table}, {picture} and {page}.")
    console.say("Your turn: clearbands fit DATA --target COLUMN --out MODEL")


@app.command(cls=Command)
def fit(
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", help="File for the model.")],
    level: Annotated[
        list[float],
        typer.Option("--level", metavar="LEVEL", help="Confidence level; repeat for several."),
    ] = [0.9],  # noqa: B006
    preset: Annotated[
        Preset, typer.Option("--preset", help="a, b, c and deep are the variants of the paper.")
    ] = Preset.default,
    calibration: Annotated[
        Calibration,
        typer.Option(
            "--calibration", help="conformal holds out more rows and guarantees the coverage."
        ),
    ] = Calibration.joint,
    seed: Annotated[
        int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same model.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, metavar="N", help="Cores to use, all by default; changes no result."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Keep a fifth of the rows out of the fit and write a report on them.",
        ),
    ] = None,
) -> None:
    """Learn intervals for one column of a table from all the others."""
    from clearbands.levels import check_levels
    from clearbands.networks.extra import import_torch

    levels = check_levels(level)
    files.check_output(out, inputs=[data])
    if report is not None:
        _check_report(report, out, inputs=[data])
    if preset == Preset.deep:
        import_torch()
    frame = files.read_table(data)
    y = files.take_target(frame, target, data)
    X = files.drop_target(frame, target, data)
    X, y, kept = _keep_rows(X, y, seed) if report is not None else (X, y, None)

    started = time.perf_counter()
    with console.progress_bar() as progress:
        from clearbands.persistence import save

        model = _make_model(
            preset,
            confidence_level=levels[0] if len(levels) == 1 else list(levels),
            calibration=calibration.value,
            random_state=seed,
            n_jobs=-1 if jobs is None else jobs,
        )
        model.fit(X, y, progress=progress)
        save(model, out)
    console.show_fit(model, data.name)
    seconds = time.perf_counter() - started
    console.say(f"Wrote {out} ({out.stat().st_size / 1e6:.1f} MB) after {seconds:.1f} s.")
    if report is not None and kept is not None:
        settings = [f"--level={given:g}" for given in levels]
        settings += [f"--preset={preset}", f"--calibration={calibration}", f"--seed={seed}"]
        origin = {
            "Command": _spelled(
                "fit", data, "--target", target, "--out", out, *settings, "--report", report
            ),
            "Data": files.fingerprint(data),
            "Rows of this report": f"{len(kept)} of {frame.height}, drawn by the seed and kept "
            "out of the fit",
        }
        _write_report(report, model, kept.X, kept.y, target=target, origin=origin)


@app.command(cls=Command)
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A .csv or .parquet file.")],
) -> None:
    """Write point, bounds and the two parts of the width for every row.

    The columns are point, lower, upper (lower_0.9, upper_0.9, ... with several levels), and, at
    the first level, the widths aleatoric and epistemic and epistemic_share between 0 and 1.
    Columns that the model does not know are ignored.
    """
    files.check_output(out, inputs=[model, data], table=True)
    fitted = _load(model)
    frame = _read_for(fitted, data)

    from clearbands.predictions import prediction_table

    table = prediction_table(fitted, _features(fitted, frame, data))
    files.write_table(table, out)
    console.say(f"Wrote {out} ({table.height} rows).")


@app.command(cls=Command)
def evaluate(
    model: Model,
    data: Data,
    target: Target,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON for machines; infinite values are null.")
    ] = False,
) -> None:
    """Score the intervals on rows whose target is known."""
    fitted = _load(model)
    frame = _read_for(fitted, data)
    y = files.take_target(frame, target, data)
    if (y == y[0]).all():
        raise ValueError(
            f"The target {target!r} has the same value in every row of {data}, so widths cannot "
            "be measured against its range; evaluate on more rows."
        )

    from clearbands import metrics

    center, intervals = fitted.predict_interval(_features(fitted, frame, data))
    scores = [
        {"confidence_level": float(level)}
        | metrics.evaluate(y, center, intervals[:, :, j], float(level))
        for j, level in enumerate(fitted.levels_)
    ]
    if as_json:
        finite = [{k: v if math.isfinite(v) else None for k, v in row.items()} for row in scores]
        typer.echo(json.dumps({"n_rows": len(y), "levels": finite}, indent=2))
    else:
        console.show_scores(scores, f"{data.name}, {len(y)} rows")


@app.command(cls=Command)
def report(
    model: Model,
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page, a .html file.")],
    unit: Annotated[
        str, typer.Option("--unit", metavar="TEXT", help="Unit of the target, to be shown.")
    ] = "",
    group: Annotated[
        str | None,
        typer.Option(
            "--group", metavar="COLUMN", help="Compare coverage between the groups it names."
        ),
    ] = None,
) -> None:
    """Write one page about the model on rows it has not seen.

    The page says whether the intervals hold, why they are wide, and which rows to look at. It
    is one file that needs no network.
    """
    files.check_output(out, inputs=[model, data])
    fitted = _load(model)
    frame = _read_for(fitted, data)
    y = files.take_target(frame, target, data)
    groups = None if group is None else files.take_column(frame, group, data).to_list()

    from clearbands.persistence import read_header

    given = ["report", model, data, "--target", target, "--out", out]
    given += [f"--unit={unit}"] if unit else []
    given += [f"--group={group}"] if group is not None else []
    header = read_header(model)
    written = ", ".join(f"{name} {header[name]}" for name in header if name != "format")
    _write_report(
        out,
        fitted,
        _features(fitted, frame, data),
        y,
        target=target,
        unit=unit,
        groups=groups,
        origin={
            "Command": _spelled(*given),
            "Data": files.fingerprint(data),
            "Model file": files.fingerprint(model),
            "Fitted with": written,
        },
    )


@app.command(cls=Command)
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
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=1, metavar="N", help="Of one request.")
    ] = 10_000,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=1, metavar="N", help="Of one request.")
    ] = 10_000_000,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="For one request.")
    ] = 30.0,
) -> None:
    """Answer requests over HTTP: /predict, /model, /health, and /docs for people.

    With a token every path but /health asks for it. SIGTERM or Ctrl-C stops the service after
    the requests under way. Logs are JSON lines on standard error, without the data.
    """
    from clearbands import server

    server.check_extra()
    from clearbands.persistence import read_header
    from clearbands.service import Limits, create_app, read_token

    limits = Limits(rows=max_rows, bytes=max_bytes, seconds=timeout)
    token = read_token(token_env, token_file)
    fitted = _load(model)
    versions = {name: str(version) for name, version in read_header(model).items()}
    web_app = create_app(fitted, name=model.name, versions=versions, token=token, limits=limits)
    listener = server.listen(host, port)
    console.say(f"Serving {model.name} on {server.address_of(listener)}; Ctrl-C stops it.")
    if token is None and not server.is_local(listener):
        console.complain("Warning: without a token, whoever reaches this machine may ask.")
    server.log_as_json()
    server.run(web_app, listener, grace=timeout)


def _check_report(report: Path, out: Path, inputs: list[Path]) -> None:
    files.check_output(report, inputs=inputs)
    if report.resolve() == out.resolve():
        raise ValueError(f"--report and --out both name {out}; give each a file of its own.")


def _write_report(path: Path, model: ClearRegressor, X: Any, y: Any, **words: Any) -> None:
    from clearbands.report import make_report

    make_report(model, X, y, **words).save(path)
    console.say(f"Wrote {path} (a report on {len(y)} rows).")


def _keep_rows(X: Any, y: Any, seed: int) -> tuple[Any, Any, Rows]:
    """The rows to fit on, and the fifth that no step of the fit may see."""
    import numpy as np

    from clearbands.report.facts import FEWEST_ROWS
    from clearbands.split import Rows, hold_out

    other_draws = np.random.RandomState([seed, 1])  # than those of the fit
    rows, kept = hold_out(Rows(X, y), 0.2, other_draws)
    if len(kept) < FEWEST_ROWS:
        raise ValueError(
            f"A fifth of {len(y)} rows is {len(kept)}, and a report needs at least {FEWEST_ROWS}; "
            "give more rows, or fit without --report."
        )
    return rows.X, rows.y, kept


def _spelled(*arguments: Any) -> str:
    """The command as a shell takes it."""
    return shlex.join(["clearbands", *map(str, arguments)])


@app.command(cls=Command)
def explore(
    model: Model,
    data: Data,
    model2: Annotated[
        Path | None, typer.Argument(metavar="MODEL2", help="A second model, to compare.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COLUMN", help="The true values, if they are known."),
    ] = None,
    port: Port = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only say where the page is.")
    ] = False,
) -> None:
    """Open a page on this machine: move features and watch the band, see why rows are uncertain.

    It starts from the rows in DATA, scores csv files that are dropped on it, and answers to this
    machine alone.
    """
    from clearbands import server

    server.check_extra()
    from clearbands.explore import create_page, make_scene
    from clearbands.features import text_columns

    paths = [model] if model2 is None else [model, model2]
    alike = len({path.name for path in paths}) < len(paths)
    models = {str(path) if alike else path.name: _load(path) for path in paths}
    text = {name for fitted in models.values() for name in text_columns(fitted)}
    frame = files.read_table(data, text=text)
    for fitted in models.values():
        _features(fitted, frame, data)
    truth = None if target is None else files.take_target(frame, target, data)
    page = create_page(make_scene(models, frame, truth))
    listener = server.listen("127.0.0.1", port)
    address = server.address_of(listener)
    console.say(f"The page is at {address}; Ctrl-C ends it.")
    if not no_browser:
        webbrowser.open(address)  # it waits for the first answer
    server.run(page, listener, grace=5)


def _make_model(preset: Preset, **parameters: Any) -> ClearRegressor:
    from clearbands import variants
    from clearbands.regressor import ClearRegressor

    makers: dict[Preset, Callable[..., ClearRegressor]] = {
        Preset.default: ClearRegressor,
        Preset.a: variants.variant_a,
        Preset.b: variants.variant_b,
        Preset.c: variants.variant_c,
        Preset.deep: variants.variant_deep,
    }
    return makers[preset](**parameters)


def _load(path: Path) -> ClearRegressor:
    from clearbands.persistence import ModelFileError, load
    from clearbands.regressor import ClearRegressor

    model = load(path)
    if not isinstance(model, ClearRegressor):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}; the command needs a ClearRegressor."
        )
    if not hasattr(model, "feature_names_in_"):
        raise ModelFileError(
            f"{path} was fitted on an array without column names; fit it on a table to use it "
            "with files."
        )
    return model


def _read_for(model: ClearRegressor, data: Path) -> Any:
    """The table, with the model's categories as the text they are."""
    from clearbands.features import text_columns

    return files.read_table(data, text=text_columns(model))


def _features(model: ClearRegressor, frame: Any, data: Path) -> Any:
    return files.take_features(frame, list(model.feature_names_in_), data)
