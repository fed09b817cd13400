"""Plates: boxes around vertices with named dimensions, as in graphical models.

Vertices with the same dimensions are in the same box. A box whose dimensions include all dimensions
of one other box is inside that box. If they include the dimensions of two separate boxes, it is
next to these boxes.
"""

from collections.abc import Mapping, Sequence

from .diagram import Group

__all__ = ["plates"]

Axes = Mapping[str, int]  # the lengths of named axes, in their order


def plates(vertices: Sequence[Axes]) -> tuple[list[Group], list[int | None]]:
    """The boxes from outer to inner, and each vertex's innermost box."""
    boxes = dict.fromkeys(frozenset(axes.items()) for axes in vertices if axes)
    ordered = sorted(boxes, key=len)
    places = {box: place for place, box in enumerate(ordered)}
    written = {frozenset(axes.items()): axes for axes in vertices}
    groups = []
    for box in ordered:
        smaller = [other for other in ordered if other < box]
        nearest = [other for other in smaller if not any(other < third for third in smaller)]
        outer = nearest[0] if len(nearest) == 1 else frozenset()
        new_axes = [axis for axis in written[box].items() if axis not in outer]
        title = " × ".join(f"{dim} ({length})" for dim, length in new_axes)
        groups.append(Group(title, title, outer=places.get(outer), plate=True))
    return groups, [places.get(frozenset(axes.items())) for axes in vertices]
