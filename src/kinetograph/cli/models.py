"""`FILE[:NAME]`: find the model that a Python file creates."""

import sys
import traceback
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..graph.suggestions import did_you_mean
from ..runs.signals import Terminated, stoppable
from .errors import InputError, print_traceback

if TYPE_CHECKING:
    from ..models.model import Model

__all__ = ["complete_file", "load_model", "model_argument", "traceback_option"]

MODULE = "kinetograph_model_file"  # not `__main__`, so that the script part does not run
DEFAULT = "model"
GUARD = "__name__"  # guards the part of a file that runs only as a script


def complete_file(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completion of files, done by the shell."""
    return [CompletionItem(incomplete, type="file")]


model_argument = click.argument("source", metavar="FILE[:NAME]", shell_complete=complete_file)
traceback_option = click.option(
    "--traceback", "show_traceback", is_flag=True, help="Show the full traceback of an error."
)


def load_model(source: str, show_traceback: bool = False) -> "Model":
    """Run a Python file and return the model that it creates.

    With NAME it is the model of that name, or the model of the model function of that name.
    Otherwise it is the variable `model`, or else the only model.
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
        raise InputError(f"{source}: expected the name of a variable after the colon, got {name!r}")
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
    sys.path.insert(0, str(path.resolve().parent))  # a file may import modules next to it
    try:
        with stoppable() as check:
            try:
                exec(code, module.__dict__)
            finally:
                check()  # an import may have caught the exception of the signal
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
    """An error in one line, with the line of the file."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    if show_traceback:
        start = error.__traceback__
        print_traceback(error, start.tb_next if start else None)  # without the frame of this module
    from ..graph.errors import KinetographError

    text = str(error)
    if not isinstance(error, KinetographError):
        lines_of_error = traceback.TracebackException.from_exception(error).format_exception_only()
        text = "".join(lines_of_error).partition(": ")[2]  # with the names that Python suggests
        text = text.strip().partition("\n")[0]  # messages of other libraries may be pages long
    where = f"{path}:{lines[-1]}" if lines else str(path)
    return InputError(f"{where}: {type(error).__name__}: {text}")


def _why(path: Path) -> str:
    """A hint why a file creates no model."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    guards = [i + 1 for i, line in enumerate(lines) if line.startswith(f"if {GUARD} ==")]
    if guards:
        return f"; code under `if {GUARD} == ...` (line {guards[0]}) is not run"
    inside = any(line[:1].isspace() and "kg.model(" in line for line in lines)
    return f"; for a model function give its name, as in {path}:build" if inside else ""


def _choose(
    path: Path, namespace: dict[str, Any], name: str | None, show_traceback: bool
) -> "Model":
    from ..models.model import Model
    from ..models.model_of_targets import model

    models = {
        key: value
        for key, value in namespace.items()
        if isinstance(value, Model) and not key.startswith("_")
    }
    names = ", ".join(models) or "none"
    if name is not None:
        if name not in namespace:
            hint = did_you_mean(name, models, str)
            raise InputError(f"{path} has no variable {name}; its models: {names}{hint}")
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
                f"{name} in {path} is not a model but of type {kind}; its models: {names}"
            )
        return value
    if DEFAULT in models:
        return models[DEFAULT]
    distinct_models = list({id(m): m for m in models.values()}.values())
    if not distinct_models:
        raise InputError(
            f"{path} creates no model: write model = kg.model(...) at top level{_why(path)}"
        )
    if len(distinct_models) > 1:
        first = next(iter(models))
        raise InputError(
            f"{path} creates several models: {names}; choose one, as in {path}:{first}"
        )
    return distinct_models[0]
