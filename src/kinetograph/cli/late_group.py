"""A group of commands of an outer package.

The package is imported when one of the commands is needed.
"""

from importlib import import_module
from typing import Any

import click

from .errors import InputError

__all__ = ["LateGroup"]


class LateGroup(click.Group):
    """A group whose commands are in a package.

    `package` is the name of the package relative to kinetograph; its `commands` is a group.
    """

    def __init__(self, name: str, package: str, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return self._group().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        return self._group().get_command(ctx, cmd_name)

    def _group(self) -> click.Group:
        try:
            module = import_module(f"..{self.package}", __package__)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("kinetograph"):
                raise
            raise InputError(
                f"the commands of {self.name} need {error.name}: "
                f"pip install 'kinetograph[{self.name}]'"
            ) from error
        group: click.Group = module.commands
        return group
