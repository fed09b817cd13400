"""`FILE[:NAME]`: finding the model that a Python file makes."""

import sys
import traceback
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..graph.suggestions import meant
from ..runs.signals import Terminated, stoppable
from .errors import InputError, print_traceback

if TYPE_CHECKING:
    from ..models.model import Model

__all__ = ["complete_file", "load_model", "model_argument", "traceback_option"]

MODULE = "kinetograph_model_file"  # never `__main__`: what a file does as a script stays undone
DEFAULT = "model"
GUARD = "__name__"  # of what a file does as a script


def complete_file(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Files, which the shell knows."""
    return [CompletionItem(incomplete, type="file")]


model_argument = click.argument("source", metavar="FILE[:NAME]", shell_complete=complete_file)
traceback_option = click.option(
    "--traceback", "show_traceback", is_flag=True, help="Show the whole traceback of an error."
)


def load_model(source: str, show_traceback: bool = False) -> "Model":
    """Run a Python file and return the model it makes at top level.

    With a NAME that one, or that of the model function of this name; else the variable `model`;
    else the only model there is.
    """
    path, name = _split(source)
    _check_file(path)
    namespace = _run(path, show_traceback)
    return _choose(path, namespace, name, show_traceback)


def _split(source: str) -> tuple[Path, str | None]:
    file, colon, name = source.rpartition(":")
    if not colon or Path(source).exists():
        return Path(source), None
    if not name.isidentifier():
        raise InputError(f"{source}: after the colon comes the name of a variable, got {name!r}")
    return Path(file), name


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a Python file")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.suffix != ".py":
        raise InputError(f"{path} is not a Python file: its name does not end in .py")


def _run(path: Path, show_traceback: bool) -> dict[str, Any]:
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno or 1}: {error.msg}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    module = ModuleType(MODULE)
    module.__file__ = str(path)
    sys.modules[MODULE] = module
    arguments, sys.argv = sys.argv, [str(path)]
    sys.path.insert(0, str(path.resolve().parent))  # a file may import its neighbours
    try:
        with stoppable() as check:
            try:
                exec(code, module.__dict__)
            finally:
                check()  # what is imported may have made another error of it, or none
    except Terminated:
        raise
    except SystemExit as error:
        raise InputError(
            f"{path} ended with exit code {error.code} instead of making a model"
        ) from (error)
    except Exception as error:
        raise _explain(path, error, show_traceback) from error
    finally:
        sys.argv = arguments
    return module.__dict__


def _explain(path: Path, error: Exception, show_traceback: bool) -> InputError:
    """Say in one line what went wrong, and in which line of the file."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if show_traceback:
        start = error.__traceback__
        print_traceback(error, start.tb_next if start else None)  # without our own frame
    from ..graph.errors import KinetographError

    text = str(error)
    if not isinstance(error, KinetographError):
        said = traceback.TracebackException.from_exception(error).format_exception_only()
        text = "".join(said).partition(": ")[2]  # with the names that Python thinks are meant
        text = text.strip().partition("\n")[0]  # others' messages may be pages long
    where = f"{path}:{lines[-1]}" if lines else str(path)
    return InputError(f"{where}: {type(error).__name__}: {text}")


def _why(path: Path) -> str:
    """Why a file that seems to make a model makes none."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    guards = [i + 1 for i, line in enumerate(lines) if line.startswith(f"if {GUARD} ==")]
    if guards:
        return f"; what stands under `if {GUARD} == ...` (line {guards[0]}) is not run"
    inside = any(line[:1].isspace() and "kg.model(" in line for line in lines)
    return f"; a model function is named, as in {path}:build" if inside else ""


def _choose(
    path: Path, namespace: dict[str, Any], name: str | None, show_traceback: bool
) -> "Model":
    from ..models.model import Model, model

    models = {
        key: value
        for key, value in namespace.items()
        if isinstance(value, Model) and not key.startswith("_")
    }
    known = ", ".join(models) or "none"
    if name is not None:
        if name not in namespace:
            hint = meant(name, models, str)
            raise InputError(f"{path} has no variable {name}; its models: {known}{hint}")
        value = namespace[name]
        if isfunction(value):
            try:
                with stoppable() as check:
                    try:
                        return model(value)
                    finally:
                        check()
            except Terminated:
                raise
            except Exception as error:
                raise _explain(path, error, show_traceback) from error
        if not isinstance(value, Model):
            kind = type(value).__name__
            raise InputError(
                f"{name} in {path} is no model but of type {kind}; its models: {known}"
            )
        return value
    if DEFAULT in models:
        return models[DEFAULT]
    distinct = list({id(m): m for m in models.values()}.values())
    if not distinct:
        raise InputError(
            f"{path} makes no model: write model = kg.model(...) at top level{_why(path)}"
        )
    if len(distinct) > 1:
        first = next(iter(models))
        raise InputError(f"{path} makes several models: {known}; choose one, as in {path}:{first}")
    return distinct[0]
