"""Names in results: variables, dimensions and labels, checked before sampling.

A target becomes a variable of the results, and each of its axes a dimension, with the user's name
or a name such as `theta_dim_0`. Observed data and other data are stored in the same way in groups
of their own. xarray and netCDF require different names within a group, and allow most characters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..graph.dims import check_different, check_labels
from ..graph.errors import DimsError, ModelError
from ..graph.value_texts import shown
from .axes import Axes, Part

__all__ = [
    "Labelled",
    "axis_names",
    "check_coords",
    "check_given_coords",
    "check_group",
    "check_name",
]

Labelled = tuple[str, Axes, tuple[int, ...]]  # name, axes, shape


def axis_names(name: str, axes: Axes) -> tuple[str, ...]:
    """The dimensions of an array in results.

    If two axes have the same name, only the first keeps it. A part of a dimension has another
    length, so its name combines the array and the dimension: `tail_school`.
    """
    names: list[str] = []
    for i, axis in enumerate(axes):
        dim = f"{name}_{axis.dim}" if isinstance(axis, Part) else axis
        names.append(f"{name}_dim_{i}" if dim is None or dim in names else dim)
    return tuple(names)


def check_name(name: str, title: str, change: str) -> None:
    """Raise ModelError for a name that files cannot hold.

    Raises
    ------
    ModelError
        If the name cannot be printed, contains a slash, or is "." or "..".
    """
    reason = ""
    if "/" in name:
        reason = "contains a slash, which separates the groups of results"
    elif name in ("", ".", "..") or name.strip() != name:
        reason = "is empty, a dot, or begins or ends with a space"
    elif not name.isprintable():
        reason = "contains a character that cannot be printed"
    if reason:
        raise ModelError(f"model: {title} is named {name!r}, which {reason}; {change}")


def check_group(
    group: str, members: Iterable[Labelled], lead: tuple[str, ...] = (), doing: str = "model"
) -> None:
    """Raise an error for names that clash within a group of results.

    `lead` are the dimensions that all variables start with.

    Raises
    ------
    ModelError
        If a variable and a dimension have the same name.
    DimsError
        If a dimension has two lengths, or the name of one of `lead`.
    """
    members = list(members)
    axes: dict[str, tuple[int, str, str]] = {}
    for name, dims, shape in members:
        for i, (axis, size) in enumerate(zip(axis_names(name, dims), shape, strict=True)):
            axis_text = f"axis {i} of {name}"
            if axis in lead:
                raise DimsError(
                    f"{doing}: {axis_text} is called {axis!r}, but all {group} have a dimension of "
                    "that name; give the axis another name with dims="
                )
            check_name(axis, axis_text, "give it another name with dims=")
            origin = "by default" if axis not in dims else "by dims="
            old, other, how = axes.setdefault(axis, (size, axis_text, origin))
            if old != size:
                raise DimsError(
                    f"{doing}: {other} (named {how}) and {axis_text} (named {origin}) are both "
                    f"called {axis!r}, but have lengths {old} and {size}; give one of them another "
                    "name with dims="
                )
    for name, _, _ in members:
        change = "give the array another name with name=, or the axis with dims="
        if name in lead:
            raise ModelError(
                f"{doing}: {name!r} is an array and a dimension that all {group} have; "
                "give the array another name with name="
            )
        if name in axes:
            raise ModelError(f"{doing}: {name!r} is an array and {axes[name][1]}; {change}")


def check_coords(coords: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The labels of dimensions as arrays that results can hold.

    Raises
    ------
    DimsError
        If labels are not a one-dimensional array of numbers, texts or dates.
    """
    if not isinstance(coords, Mapping):
        raise DimsError(
            "model: coords must be a dictionary of labels by dimension, as {'school': [...]}; "
            f"got {shown(coords)}"
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


def check_given_coords(coords: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The user's labels of dimensions, as arrays of different labels.

    Raises
    ------
    DimsError
        If labels are not a one-dimensional array of numbers, texts or dates, or occur twice.
    """
    checked = check_coords(coords)
    for dim, labels in checked.items():
        check_different(labels, f"model: coords[{dim!r}]", "; give each element its own label")
    return checked
