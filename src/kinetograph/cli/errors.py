"""How the command fails: one line on standard error and an exit code, whatever went wrong."""

import contextlib
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import click

from ..runs.background import end, leaving
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

FORMATS = ("table", "json", "plain")  # of a summary
INTERRUPTED = 130  # what shells report for a command that a signal ended


class InputError(click.ClickException):
    """The file, the model or an option is wrong."""

    exit_code = 2


class RunError(click.ClickException):
    """The input was fine, and the run failed."""

    exit_code = 1


class Interrupted(click.ClickException):
    """Ctrl-C has stopped it."""

    exit_code = INTERRUPTED


class Killed(click.ClickException):
    """SIGTERM has stopped it."""

    exit_code = Terminated.CODE


def stopped(by: str | BaseException, rest: str = "") -> click.ClickException:
    """What ends the command when somebody has stopped it, and the rest of what it says."""
    if not isinstance(by, str):
        by = "SIGTERM" if isinstance(by, Terminated) else "Ctrl-C"
    kind = Killed if by == "SIGTERM" else Interrupted
    return kind(f"stopped by {by}{rest}")


class Commands(click.Group):
    """A group of commands that reports each error as `kinetograph: what is wrong`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, which may be stopped at any time."""
        listen()
        try:
            return super().invoke(ctx)
        except STOPS as error:
            raise stopped(error) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; the process ends with its exit code."""
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
        if not args and kwargs.get("args") is None:  # the process is this command's own
            end()
        sys.exit(code)


def _usage(error: click.UsageError) -> str:
    """What is wrong with the call; of an option by another library's word, what it is here."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        from ..calls.words import WORDS

        word = error.option_name.lstrip("-").replace("-", "_")
        options = {name: p.opts[0] for p in error.ctx.command.params if (name := p.name)}
        meant = [options[own] for own in WORDS.get(word, ()) if own in options]
        if word in FORMATS and "--format" in options.values():
            meant = [f"--format {word}"]
        if meant:
            return f"{_sentence(error.message)}; here it is {meant[0]}"
    return _sentence(error.format_message())


def _sentence(text: str) -> str:
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def note(text: str) -> None:
    """A line for the person who looks on, not for the pipe; nobody need be there."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def print_traceback(error: BaseException, start: TracebackType | None = None) -> None:
    """The traceback of an error, from the frame `start` on."""
    shown = start or error.__traceback__
    note("".join(traceback.format_exception(type(error), error, shown)).rstrip())


@contextmanager
def readable_warnings() -> Iterator[None]:
    """Show kinetograph's warnings as plain lines; Python's own format names a line of ours."""
    from ..graph.errors import KinetographWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", KinetographWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, KinetographWarning):
                note(f"warning: {message}")
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield
