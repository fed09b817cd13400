"""Errors of the command: one line, and an exit code."""

import contextlib
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import click

from ..programs.background import end, leaving
from ..runs.signals import STOPS, Terminated, listen

__all__ = [
    "FORMATS",
    "INTERRUPTED",
    "Commands",
    "InputError",
    "RunError",
    "note",
    "print_traceback",
    "readable_warnings",
    "stopped",
]

FORMATS = ("table", "json", "plain")  # of the summary
INTERRUPTED = 130  # the exit code that shells report for a command ended by Ctrl-C


class InputError(click.ClickException):
    """The file, the model or an option is wrong."""

    exit_code = 2


class RunError(click.ClickException):
    """The input was right, but the run failed."""

    exit_code = 1


class Interrupted(click.ClickException):
    """Ctrl-C has stopped the command."""

    exit_code = INTERRUPTED


class Killed(click.ClickException):
    """SIGTERM has stopped the command."""

    exit_code = Terminated.CODE


def stopped(by: str | BaseException, rest: str = "") -> click.ClickException:
    """The exception that ends a command stopped by a signal.

    `rest` continues its message.
    """
    if not isinstance(by, str):
        by = "SIGTERM" if isinstance(by, Terminated) else "Ctrl-C"
    kind = Killed if by == "SIGTERM" else Interrupted
    return kind(f"stopped by {by}{rest}")


class Commands(click.Group):
    """A group of commands that reports each error as `kinetograph: <message>`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, which signals may stop at any time."""
        listen()
        try:
            return super().invoke(ctx)
        except STOPS as error:
            raise stopped(error) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, and end the process with its exit code."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = 2
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "kinetograph"
            note(f"{command}: {_usage(error)} (see {command} --help)")
            code = error.exit_code
        except click.ClickException as error:
            note(f"kinetograph: {error.format_message()}")
            code = error.exit_code
        except click.Abort:
            note("kinetograph: stopped by Ctrl-C")
            code = INTERRUPTED
        leaving(code or 0)
        if not args and kwargs.get("args") is None:  # the process was started for this command
            end()
        sys.exit(code)


def _usage(error: click.UsageError) -> str:
    """The message about a wrong call.

    For an option by another library's name, the message gives the option here.
    """
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        from ..calls.argument_names import WORDS

        word = error.option_name.lstrip("-").replace("-", "_")
        options = {name: p.opts[0] for p in error.ctx.command.params if (name := p.name)}
        here = [options[meaning] for meaning in WORDS.get(word, ()) if meaning in options]
        if word in FORMATS and "--format" in options.values():
            here = [f"--format {word}"]
        if here:
            return f"{_sentence(error.message)}; here it is {here[0]}"
    unknown = re.match(r"No such command '(.+)'", error.message)
    if unknown and error.ctx is not None and isinstance(error.ctx.command, click.Group):
        from ..graph.suggestions import did_you_mean

        names = error.ctx.command.list_commands(error.ctx)
        return f"{_sentence(error.message)}{did_you_mean(unknown[1], names)}"
    return _sentence(error.format_message())


def _sentence(text: str) -> str:
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def note(text: str) -> None:
    """Print a line on standard error; a closed stream is ignored."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def print_traceback(error: BaseException, start: TracebackType | None = None) -> None:
    """Print the traceback of an error, from the frame `start` on."""
    shown = start or error.__traceback__
    note("".join(traceback.format_exception(type(error), error, shown)).rstrip())


@contextmanager
def readable_warnings() -> Iterator[None]:
    """Show kinetograph's warnings as plain lines.

    Python's own format names a line of kinetograph's code.
    """
    from ..graph.errors import KinetographWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", KinetographWarning)
        default_show = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, KinetographWarning):
                note(f"warning: {message}")
            else:
                default_show(message, category, *rest, **more)

        warnings.showwarning = show
        yield
