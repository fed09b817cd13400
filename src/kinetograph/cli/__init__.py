"""The command `kinetograph`: one file for each of its commands.

    kinetograph sample FILE[:NAME]    draw from the posterior of a model in a Python file
    kinetograph resume PATH           continue a stored run
    kinetograph summary PATH          print the summary of a stored run
    kinetograph report PATH -o PAGE   write an HTML page about a stored run, with pictures
    kinetograph graph FILE[:NAME]     print or draw the graph of a model
    kinetograph neural ...            train, sample and analyse networks; in `kg.neural`

Exit codes: 0 done, 1 the run failed, 2 the input or the call is wrong, 130 stopped by Ctrl-C, 143
stopped by SIGTERM. Heavy libraries are imported only when a command runs, so that `--help`,
completion and a typing mistake are answered at once.
"""

import click

from ..version import __version__
from .errors import Commands
from .graph import graph
from .late_group import LateGroup
from .report import report
from .resume import resume
from .sample import sample
from .summary import summary

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Sample, summarise and draw probabilistic models written in Python files.

    Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by SIGTERM.

    Completion in bash: eval "$(_KINETOGRAPH_COMPLETE=bash_source kinetograph)"; zsh and fish alike.
    """


main.add_command(sample)
main.add_command(resume)
main.add_command(summary)
main.add_command(report)
main.add_command(graph)
main.add_command(
    LateGroup(
        "neural",
        "neural.commands",
        short_help="Train, sample and analyse networks.",
        help="Train, sample and analyse networks. The options are the options of "
        "kg.neural.Simulation; a file --config has the same names.",
    )
)
