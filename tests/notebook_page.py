"""docs/notebook.md, the executed and rendered notebook; `python -m tests.notebook_page` writes it.

Tables stand on the page as text, and pictures in docs/images/notebook. `make docs` runs it.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK, PAGE, PICTURES = (
    DOCS / "notebook.ipynb",
    DOCS / "notebook.md",
    DOCS / "images" / "notebook",
)
GLOSSARY = (
    "*Center, member, part, pair, noise and ignorance: the [glossary](glossary.md) says what these "
    "words mean.*"
)
SOURCE = "[The notebook](notebook.ipynb) that this page was made from can be opened in Jupyter."


def execute(notebook: Any, folder: Path) -> Any:
    """Execute the notebook; the files that it writes go to the folder."""
    import nbclient

    options = {"timeout": 300, "resources": {"metadata": {"path": str(folder)}}}
    nbclient.NotebookClient(notebook, kernel_name="python3", **options).execute()
    return notebook


def render(notebook: Any) -> tuple[str, dict[str, bytes]]:
    """Return the page, and its pictures by name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```py\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![The picture that this cell draws](images/notebook/{name})")
            elif "text/plain" in data:
                parts.append(f"```text\n{data['text/plain']}\n```")
    title, *rest = parts
    heading, _, introduction = title.partition("\n")
    page = [heading, GLOSSARY, SOURCE, introduction.strip(), *rest]
    return "\n\n".join(page) + "\n", pictures


if __name__ == "__main__":
    import nbformat

    with tempfile.TemporaryDirectory() as folder:
        executed = execute(nbformat.read(NOTEBOOK, as_version=4), Path(folder))
    page, pictures = render(executed)
    PAGE.write_text(page, "utf-8")
    PICTURES.mkdir(exist_ok=True)
    for name, content in pictures.items():
        (PICTURES / name).write_bytes(content)
