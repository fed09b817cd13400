"""The entry point of `kinetograph` and of `python -m kinetograph`.

The modules of the command are imported inside `main`, so that Ctrl-C during the imports gives one
line, too, and not a traceback.
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
        exec("")  # without it, Python ends by a signal if Ctrl-C came inside an `exec`
        sys.exit(130)
    command(prog_name="kinetograph")


def _open_streams() -> None:
    """Open closed standard streams on the null device.

    Otherwise the next file that is opened would take the stream's descriptor, and would receive
    what libraries print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
