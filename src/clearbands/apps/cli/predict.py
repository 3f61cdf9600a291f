"""clearbands predict"""

from __future__ import annotations

from clearbands.apps.cli import console
from clearbands.apps.cli.opened import load_model, read_for_models
from clearbands.apps.cli.options import (
    Data,
    Jobs,
    Model,
    QuestionOptions,
    TableOut,
    TextFile,
    Workers,
)
from clearbands.apps.reading import files
from clearbands.apps.reading.formats import STREAM
from clearbands.engine.progress import listening


def predict(
    model: Model,
    data: Data,
    output: TableOut,
    questioned: QuestionOptions,
    text: TextFile,
    workers: Workers,
    jobs: Jobs = None,
) -> None:
    """Write the prediction, its bounds and why they are wide for every row.

    The columns are those of predict_frame: prediction; lower_90 and upper_90, a pair for every
    level; at the first level the widths aleatoric and epistemic, epistemic_share between 0 and 1,
    and dominant (noise, ignorance or unclear); unfamiliar, whether the row is unlike those of the
    fit. Then come quantile_0.1, above_400000 and below_..., if asked for. With --side the two parts
    are still those of the interval with both bounds. Columns that the model does not know are
    ignored. Parquet files are read piece by piece: the table may be larger than memory.

    A model for classes gives prediction; set_90, the classes of the set; p_ and the name of each
    class with its probability; the entropies aleatoric and epistemic in bits, epistemic_share,
    dominant and unfamiliar.
    """
    from clearbands.apps.cli.predicting import PredictionOptions, predict_files, table_in_files
    from clearbands.apps.task import task_of

    files.check_output(output.out, inputs=[model, data], table=True)
    fitted, wanted = load_model(model, of_classes=True), PredictionOptions(questioned, output)
    task_of(fitted).check(vars(questioned), "--")
    table_on_disk = table_in_files(data, fitted)
    if table_on_disk is not None:
        predict_files(model, wanted, table_on_disk, workers.make_engine(jobs), workers.work)
        n_rows = table_on_disk.n_rows
    else:
        workers.refuse()
        reading = read_for_models(data, text, fitted)
        with console.progress_bar() as progress, listening(progress):
            table = wanted.table(fitted, reading)
            files.write_table(table, output.out, no_formulas=output.no_formulas)
        n_rows = reading.frame.height
    if output.out != STREAM:
        console.print_line(f"Wrote {output.out} ({n_rows:,} rows).")
