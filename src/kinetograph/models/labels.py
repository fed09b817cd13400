"""What results are labelled by, checked before anything is drawn.

A target becomes a variable of the results and each of its axes a dimension, called as the user
calls it or `theta_dim_0`; observed and other data likewise, each in a group of their own. xarray
and netCDF want the names of a group to differ, and allow most characters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..graph.dims import check_labels
from ..graph.errors import DimsError, ModelError
from .axes import Axes, Part

__all__ = ["Labelled", "axis_names", "check_coords", "check_group", "check_name"]

Labelled = tuple[str, Axes, tuple[int, ...]]  # name, axes, shape


def axis_names(name: str, axes: Axes) -> tuple[str, ...]:
    """The dimensions of an array in results; a name that two axes have serves the first.

    A part of a dimension, which has another length, is called by both: `tail_school`.
    """
    names: list[str] = []
    for i, axis in enumerate(axes):
        own = f"{name}_{axis.dim}" if isinstance(axis, Part) else axis
        names.append(f"{name}_dim_{i}" if own is None or own in names else own)
    return tuple(names)


def check_name(name: str, what: str, change: str) -> None:
    """Refuse names that files cannot hold.

    Raises
    ------
    ModelError
        If the name cannot be printed, holds a slash, or is "." or "..".
    """
    reason = ""
    if "/" in name:
        reason = "holds a slash, which separates the groups of results"
    elif name in ("", ".", "..") or name.strip() != name:
        reason = "is empty, a dot, or begins or ends with a space"
    elif not name.isprintable():
        reason = "holds a character that cannot be printed"
    if reason:
        raise ModelError(f"model: {what} is named {name!r}, which {reason}; {change}")


def check_group(
    group: str, members: Iterable[Labelled], lead: tuple[str, ...] = (), doing: str = "model"
) -> None:
    """Refuse names that clash in one group of the results; `lead` are its dimensions before all.

    Raises
    ------
    ModelError
        If a variable is called as a dimension.
    DimsError
        If a dimension has two lengths, or is called as one of `lead`.
    """
    members = list(members)
    axes: dict[str, tuple[int, str, str]] = {}
    for name, dims, shape in members:
        for i, (axis, size) in enumerate(zip(axis_names(name, dims), shape, strict=True)):
            what = f"axis {i} of {name}"
            if axis in lead:
                raise DimsError(
                    f"{doing}: {what} is called {axis!r}, as a dimension that all {group} have; "
                    "give it another name by dims="
                )
            check_name(axis, what, "give it another name by dims=")
            own = "by itself" if axis not in dims else "by dims="
            old, other, how = axes.setdefault(axis, (size, what, own))
            if old != size:
                raise DimsError(
                    f"{doing}: {other} (named {how}) and {what} (named {own}) are both called "
                    f"{axis!r}, but have lengths {old} and {size}; give one another name by dims="
                )
    for name, _, _ in members:
        change = "give the array another name by name=, or the axis by dims="
        if name in lead:
            raise ModelError(
                f"{doing}: {name!r} is an array and a dimension that all {group} have; "
                "give the array another name by name="
            )
        if name in axes:
            raise ModelError(f"{doing}: {name!r} is an array and {axes[name][1]}; {change}")


def check_coords(coords: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The labels of dimensions as arrays that results can hold.

    Raises
    ------
    DimsError
        If labels are no one-dimensional array of numbers, texts or dates.
    """
    if not isinstance(coords, Mapping):
        raise DimsError(
            "model: labels are given by the names of dimensions, coords={'school': [...]}; "
            f"got {coords!r:.60}"
        )
    return {
        str(dim): check_labels(
            str(dim),
            given,
            "model",
            f"give numbers, texts or dates: coords={{{str(dim)!r}: [...]}}",
        )
        for dim, given in coords.items()
    }
