"""Plates: boxes around what has a named dimension, as in the notation of graphical models.

What has the same dimensions is in the same box. Where all of a box's dimensions are among those of
another, the other stands inside of it; where those of two boxes are, next to them.
"""

from collections.abc import Mapping, Sequence

from .diagram import Group

__all__ = ["plates"]

Axes = Mapping[str, int]  # the lengths of named axes, in their order


def plates(vertices: Sequence[Axes]) -> tuple[list[Group], list[int | None]]:
    """The boxes, outer ones first, and the place of the innermost around each vertex."""
    boxes = dict.fromkeys(frozenset(axes.items()) for axes in vertices if axes)
    ordered = sorted(boxes, key=len)
    places = {box: place for place, box in enumerate(ordered)}
    written = {frozenset(axes.items()): axes for axes in vertices}
    groups = []
    for box in ordered:
        inside = [other for other in ordered if other < box]
        nearest = [other for other in inside if not any(other < third for third in inside)]
        outer = nearest[0] if len(nearest) == 1 else frozenset()
        own = [axis for axis in written[box].items() if axis not in outer]
        title = " × ".join(f"{dim} ({length})" for dim, length in own)
        groups.append(Group(title, title, outer=places.get(outer), plate=True))
    return groups, [places.get(frozenset(axes.items())) for axes in vertices]
