"""The commands `kinetograph neural`.

    train, sample           runs of a simulation                        simulation.py
    analyse                 tables of a trajectory file                 analyse.py
    surface, input-space    losses and outputs on grids                 surface.py
    explore                 a search for minima                         explore.py
    dataset                 synthetic data                              dataset.py
    batches                 the batches of a run                        batches.py
    compare                 differences of two files of records         compare.py
    flags                   flags from the table of options; config files

All of them are defined by the table `options.py` and by the signatures of the public functions that
they call. `cli/` imports this package when one of the commands is needed.
"""

import click

from .analyse import analyse
from .batches import batches
from .compare import compare
from .dataset import dataset
from .explore import explore
from .simulation import sample, train
from .surface import input_space, surface

__all__ = ["commands"]

commands = click.Group("neural")
for command in (train, sample, analyse, surface, input_space, explore, dataset, batches, compare):
    commands.add_command(command)
