"""The command, as `kinetograph` and as `python -m kinetograph` start it.

What the command stands on is imported here, so that Ctrl-C is one line meanwhile, too.
"""

import contextlib
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; the process ends with its exit code."""
    _open_streams()
    try:
        from .cli import main as command
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):
            print("kinetograph: stopped by Ctrl-C", file=sys.stderr)
        exec("")  # else Python ends by a signal where it came within an `exec`
        sys.exit(130)
    command(prog_name="kinetograph")


def _open_streams() -> None:
    """Open what is closed of the standard streams: the next file would be in its place otherwise,
    and have in it what libraries tell of."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
