"""Paths of choices on which a node is active, for `where_derivatives`."""

from collections.abc import Iterable

from ..node import Node

__all__ = ["ALWAYS", "LATE", "Path", "Paths", "late_paths", "united"]

# A sequence of choices: a `where` and its side, or a branch or loop that reads the value.
Path = tuple[tuple[Node, int], ...]  # outermost first
LATE = -1  # stands for a side that is known only after the branch or loop has run
Paths = frozenset[Path]  # alternatives
ALWAYS: Paths = frozenset({()})
MOST = 8  # alternatives that are distinguished


def late_paths(paths: Paths) -> Paths:
    """The paths known only after a branch or loop has run."""
    return frozenset(p for p in paths if any(side == LATE for _, side in p))


def united(paths: Iterable[Path]) -> Paths:
    """The paths in their simplest form.

    More than `MOST` paths are replaced by their common beginning, which is active in more places.
    """
    paths_left = set(paths)
    for path in sorted(paths_left, key=len, reverse=True):
        while path and path in paths_left:
            *outer, (node, side) = path
            if (*outer, (node, 1 - side)) not in paths_left:
                break
            paths_left -= {path, (*outer, (node, 1 - side))}
            path = tuple(outer)
            paths_left.add(path)
    paths_left = {p for p in paths_left if not any(p[:n] in paths_left for n in range(len(p)))}
    if len(paths_left) > MOST:
        common: Path = ()
        for steps in zip(*paths_left, strict=False):
            if len(set(steps)) > 1:
                break
            common = (*common, steps[0])
        paths_left = {common}
    return frozenset(paths_left)
