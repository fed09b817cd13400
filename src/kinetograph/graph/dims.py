"""Named dimensions: how they are checked against a shape."""

from typing import Any

from .errors import DimsError

__all__ = ["check_dims"]


def check_dims(dims: Any, shape: tuple[int, ...], what: str) -> tuple[str | None, ...] | None:
    """The dims as a tuple, checked against the number of axes."""
    if dims is None:
        return None
    try:
        names = (dims,) if isinstance(dims, str) else tuple(dims)
    except TypeError:
        names = (dims,)
    if wrong := [name for name in names if not (name is None or isinstance(name, str))]:
        raise DimsError(f"{what}: dims are names of axes, such as 'school', got {wrong[0]!r:.60}")
    if len(names) != len(shape):
        raise DimsError(
            f"{what}: dims {names} name {len(names)} axes, the shape {shape} has {len(shape)}"
        )
    given = [n for n in names if n is not None]
    if len(set(given)) < len(given):
        raise DimsError(f"{what}: dims {names} name a dimension twice")
    return names
