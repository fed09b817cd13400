"""`kinetograph graph`: the graph of a model, printed or written."""

from pathlib import Path

import click

from .errors import RunError, note, readable_warnings
from .files import check_target, write_whole
from .models import load_model, model_argument, traceback_option

__all__ = ["graph"]

FORMATS = {".svg": "svg", ".mmd": "mermaid", ".dot": "dot", ".txt": "text"}


@click.command()
@model_argument
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write to a file instead: .svg picture, .mmd Mermaid, .dot Graphviz, .txt text.",
)
@traceback_option
def graph(source: str, out: Path | None, show_traceback: bool) -> None:
    """Print the graph of a model, or write it to a file.

    FILE is a Python file that creates a model at top level: model = kg.model(...). NAME selects the
    variable if there are several models.
    """
    target = None if out is None else check_target(out, tuple(FORMATS))
    with readable_warnings():
        drawing = load_model(source, show_traceback).plot()
    if out is None or target is None:
        click.echo(drawing.text())
        return
    text = getattr(drawing, FORMATS[out.suffix])() + "\n"
    try:
        write_whole(target, lambda path: path.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{out} could not be written: {error}") from error
    note(f"wrote {out}")
