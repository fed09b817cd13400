"""Flags of commands, config files, and errors of commands.

Flags come from the table of options, or from the signature of a function.

A config file is a TOML file whose keys are the names of options. Flags take the place of its
values. One file may serve all commands: each of them reads the keys that it has.
"""

import inspect
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import numpy as np
from click.shell_completion import CompletionItem

from ...cli.errors import InputError, RunError, print_traceback, readable_warnings
from ...cli.models import traceback_option
from ...graph.errors import KinetographError
from ...graph.suggestions import absent
from ...runs.signals import STOPS
from ..option import Option
from ..option_words import advice_on
from ..options import OPTIONS

__all__ = ["OptionType", "explained", "given_options", "interval", "option_flags", "signature_flag"]

Decorator = Callable[[Any], Any]
_NONE = "none"
_FILES = ("run_file", "trajectory_file", "averages_file", "save_model", "sql_db")


class OptionType(click.ParamType):
    """A value of an option; several values are separated by commas."""

    def __init__(self, option: Option) -> None:
        self.option, self.name = option, option.kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value in its type."""
        if isinstance(value, str) and value.lower() == _NONE and self.option.default is None:
            return None
        if isinstance(value, str):
            value = self._parsed(value)
        try:
            return self.option.check(value)
        except FileNotFoundError as error:
            self.fail(absent(error.filename), param, ctx)
        except OSError as error:
            self.fail(f"{error.filename}: {error.strerror}", param, ctx)
        except ValueError as error:
            self.fail(str(error).removeprefix(f"{self.option.name}: "), param, ctx)

    def _parsed(self, text: str) -> Any:
        kind = self.option.kind
        if kind == "dictionary":
            try:
                return json.loads(text)
            except json.JSONDecodeError as error:
                self.fail(f'expected JSON such as {{"layer0/bias": [0.0]}}, got {text!r}: {error}')
        if kind.endswith("s"):
            return [_number(part.strip(), kind) for part in text.split(",") if part.strip()]
        return _number(text, kind)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin with the incomplete text, or files."""
        if self.option.kind.startswith("file"):
            return [CompletionItem(incomplete, type="file")]
        names = self.option.names() if self.option.names else ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _number(text: str, kind: str) -> Any:
    """The number of a text, or else the text."""
    types: dict[str, Callable[[str], Any]] = {"whole number": int, "number": float}
    try:
        return types.get(kind.removesuffix("s"), str)(text)
    except ValueError:
        return text


def _flag(option: Option) -> Decorator:
    flag = f"--{option.name.replace('_', '-')}"
    shown = json.dumps(option.default) if option.kind == "flag" else option.default
    text = ",".join(map(str, shown)) if isinstance(shown, tuple) else shown
    names = f" One of {', '.join(option.names())}." if option.names else ""
    default = f"  [default: {_NONE if text is None else text}]" if text != "" else ""
    if option.kind == "flag":
        flag = f"{flag}/--no-{option.name.replace('_', '-')}"
        return click.option(flag, option.name, default=None, help=f"{option.text}{default}")
    return click.option(
        flag,
        option.name,
        type=OptionType(option),
        metavar="JSON" if option.kind == "dictionary" else option.kind.upper().replace(" ", "-"),
        help=f"{option.text}{names}{default}",
    )


def option_flags(
    *groups: str,
    names: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Add --config, the flags of options, and --traceback.

    Parameters
    ----------
    groups, names
        Groups of options, and further options.
    without
        Options of the groups that the command has no use for.
    defaults
        Defaults in the help of the command that differ from the table.
    """

    def decorate(command: Any) -> Any:
        command = traceback_option(command)
        for option in reversed(OPTIONS.values()):
            if (option.group in groups or option.name in names) and option.name not in without:
                default = defaults.get(option.name, option.default)
                command = _flag(replace(option, default=default))(command)
        return click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_read_config,
            help="A TOML file with options by name; flags take the place of its values.",
        )(command)

    return decorate


def signature_flag(function: Callable[..., Any], name: str, text: str, kind: Any = None) -> Any:
    """A flag for a parameter of a function, with its default."""
    default = inspect.signature(function).parameters[name].default
    return click.option(
        f"--{name.replace('_', '-')}",
        name,
        type=type(default) if kind is None else kind,
        default=default,
        show_default=default is not None and not isinstance(default, tuple),
        help=text,
    )


def interval(function: Callable[..., Any], name: str, text: str) -> Decorator:
    """A flag LOW,HIGH,SAMPLES for an interval."""
    default = inspect.signature(function).parameters[name].default
    shown = f"  [default: {','.join(map(str, default))}]" if default else ""
    metavar = "LOW,HIGH,SAMPLES"
    return click.option(
        f"--{name}", name, type=_Interval(), default=default, metavar=metavar, help=text + shown
    )


class _Interval(click.ParamType):
    """Two numbers and a whole number."""

    name = "interval"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The interval."""
        parts = value.split(",") if isinstance(value, str) else value
        try:
            low, high, samples = parts
            return float(low), float(high), int(samples)
        except (TypeError, ValueError):
            self.fail(f"expected LOW,HIGH,SAMPLES such as -1,1,10, got {value!r}", param, ctx)


def _read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take the values of a config file as defaults."""
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--config {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"--config {path} is not a TOML file: {error}") from error
    parameters = {p.name: p for p in ctx.command.params if p.name is not None}
    for name, value in values.items():
        if name not in parameters:
            names = _all_names(ctx)
            if name in names:
                continue
            hint = advice_on(name, names).replace("help()", "--help")
            raise InputError(f"--config {path}: unknown option {name!r}{hint}")
        try:
            parameters[name].type_cast_value(ctx, value)
        except click.BadParameter as error:
            raise InputError(f"--config {path}: {name}: {error.message}") from error
    ctx.default_map = values


def _all_names(ctx: click.Context) -> set[str]:
    """The names of the parameters of all commands."""
    group = ctx.parent.command if ctx.parent is not None else None
    commands = [ctx.command]
    if isinstance(group, click.Group):
        commands_of_group = (group.get_command(ctx, name) for name in group.list_commands(ctx))
        commands = [command for command in commands_of_group if command is not None]
    return {str(p.name) for command in commands for p in command.params}


def given_options(values: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, and not left at their defaults.

    Raises
    ------
    InputError
        If the data are missing, or the folder of a file that will be written does not exist.
    """
    given = {name: v for name, v in values.items() if name in OPTIONS and v is not None}
    if "batch_data_files" in values and not {"batch_data_files", "restore_model"} & {*given}:
        raise InputError(
            "the data are missing; give --batch-data-files data.csv, a file of inputs and labels"
        )
    for name in _FILES:
        if name in given and not Path(given[name]).absolute().parent.is_dir():
            flag = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{flag} {given[name]}: the folder {Path(given[name]).parent} does not exist"
            )
    return given


@contextmanager
def explained(show_traceback: bool) -> Iterator[None]:
    """Make errors lines of the command, with an exit code.

    The code is 2 for a wrong input, and 1 for a failed run.
    """
    try:
        with readable_warnings():
            yield
    except (click.ClickException, *STOPS):
        raise
    except Exception as error:
        if show_traceback:
            print_traceback(error)
        text = str(error)
        if not isinstance(error, KinetographError):  # of other libraries, which may be pages long
            text = text.strip().partition("\n")[0]
        wrong = isinstance(error, (ValueError, AttributeError, FileNotFoundError))
        if wrong and not isinstance(error, np.linalg.LinAlgError):
            raise InputError(text) from error
        raise RunError(f"{type(error).__name__}: {text}") from error
