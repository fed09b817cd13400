"""Results: trees of xarray whose answers to names that they do not have are ours.

A module of its own, as importing xarray takes time; it is imported where results are made.
"""

import sys
from collections.abc import Mapping
from typing import Any

import xarray

from ..graph.source import place_text
from ..graph.suggestions import meant, refuse_assignment

__all__ = ["DataTree", "answering", "tree_of"]

_SHOWN = 12  # names


class DataTree(xarray.DataTree):
    """An `xarray.DataTree`, which tells what there is in place of a name that there is not."""

    __slots__ = ()
    _instead = "results.assign(name=values) and results[group] = dataset make groups and arrays"

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            refuse_assignment(self, name, sys._getframe(1).f_code.co_filename)
        super().__setattr__(name, value)

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            raise KeyError(self._lacking(key)) from None

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):
                raise
            raise AttributeError(self._lacking(name), name=name) from None

    def _lacking(self, key: Any) -> str:
        """What to say of a name that is not there."""
        names = [str(name) for name in (*self.children, *self.variables)]
        within = [group for group, node in self.children.items() if key in node.variables]
        hint = meant(key, names)
        if within:
            hint = f"; it is in the group {within[0]}: results[{within[0]!r}][{key!r}]"
        elif not hint and self.parent is not None and key in self.parent.children:
            hint = "; it is a group of the whole results"
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        where = "the results" if self.parent is None else f"the group {self.name}"
        return (
            f"{key!r} is not in {where}{place_text()}; {self._hold()} {listed or 'nothing'}{hint}"
        )

    def _hold(self) -> str:
        return "it holds" if self.parent is not None else "they hold"


def tree_of(groups: Mapping[str, Any], whole: Any = None) -> DataTree:
    """Results of datasets or trees by the names of their groups, and what belongs to all."""
    children = {
        name: part if isinstance(part, DataTree) else DataTree(part)
        for name, part in groups.items()
    }
    return DataTree(whole, children)


def answering(tree: xarray.DataTree) -> DataTree:
    """The same tree, of which nothing is read, as one of ours."""
    own = tree.to_dataset(inherit=False)
    made = DataTree(own, {name: answering(child) for name, child in tree.children.items()})
    made.encoding = dict(tree.encoding)
    made.set_close(tree.close)
    return made
