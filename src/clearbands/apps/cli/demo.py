"""clearbands demo"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from clearbands.apps.cli import console
from clearbands.apps.cli.options import option
from clearbands.apps.reading import files


def demo(
    out: Annotated[Path, option("The folder for table, picture and report.", "DIR")] = Path(
        "clearbands-demo"
    ),
) -> None:
    """Fit on data that comes with scikit-learn, show the result and write a report."""
    files.make_folder(out)
    table, picture, page = out / "intervals.csv", out / "bands.png", out / "report.html"
    files.check_output(table, table=True)
    files.check_output(picture)
    files.check_output(page)
    with console.progress_bar() as progress:
        from clearbands.apps.cli import diabetes

        result = diabetes.run(progress)
    files.write_table(result.table(), table)
    with files.atomic_path(picture) as unfinished:
        result.draw(unfinished)
    result.report().save(page)
    console.show_pairs("Diabetes progression after one year", result.summary())
    console.print_line(f"Wrote {table}, {picture} and {page}.")
    console.print_line("Your turn: clearbands fit DATA --target COLUMN --out MODEL")
