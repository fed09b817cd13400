"""`kg.observe`: data follow a distribution.

The data array owns its likelihood: parameters know it only weakly, so that running a notebook cell
again, which makes the data anew, replaces the likelihood instead of adding a second one. A
likelihood whose data array is dropped by accident would silently leave the model; the parameters
therefore keep a note of it, and `kg.model` refuses to build a model that lost one.
"""

import warnings
import weakref
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ..distributions.family import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import DataError, KinetographWarning, ModelError, ShapeError
from ..graph.messages import describe
from ..graph.node import Data, Node, ancestors
from ..graph.source import Site, user_frame, variable_name

__all__ = ["Lost", "lost_observations", "observe"]


class Lost(NamedTuple):
    """A likelihood that went away with its data array."""

    place: Site
    code: CodeType  # the user's code that observed
    variable: str | None  # the variable that held the data
    expression: str


_LOST: "weakref.WeakKeyDictionary[Node, list[Lost]]" = weakref.WeakKeyDictionary()
_PLACES: "weakref.WeakKeyDictionary[Distribution, Lost]" = weakref.WeakKeyDictionary()


def observe(data: Array, distribution: Array, name: str | None = None) -> Array:
    """State that data follow a distribution: adds log p(data | parameters) to the log density.

    Parameters
    ----------
    data
        An array made by `kg.data`. It owns the likelihood: keep it in a variable until the model
        is made. Observing it again replaces the likelihood, with a warning.
    distribution
        The distribution, as an unknown that is used for nothing else: `kg.normal(mu, sd)`.
    name
        How results and messages call the data, unless the array has a name of its own.

    Returns
    -------
    Array
        The data.

    Raises
    ------
    TypeError
        If `data` is not made by `kg.data`, or `distribution` is not a distribution.
    ShapeError
        If the distribution's parameters do not broadcast to the data's shape.
    DataError
        If data lie outside the distribution's support (the message gives the first position).
    ModelError
        If the distribution has been used before.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.data([1.2, 0.7, 1.9])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    """
    node, follows = _check_arguments(data, distribution)
    family = follows.family
    if name is not None and node.name is None:
        node.name = name
    _check_shape(node, follows)
    _check_support(node, follows)
    old = node._owned
    if old is not None:
        warnings.warn(
            f"{describe(node)} was observed before, as {old.label()}"
            f"{f' at {old.site}' if old.site else ''}; the new likelihood replaces the old one",
            KinetographWarning,
            stacklevel=2,
        )
    likelihood = Distribution(family, follows.parents, node.shape)
    likelihood.target = node
    node._owned = likelihood
    distribution.node.observed_by = f"{describe(node)}{f' at {node.site}' if node.site else ''}"  # type: ignore[attr-defined]
    frame = user_frame()
    if frame is not None and likelihood.site is not None:
        _PLACES[likelihood] = Lost(
            likelihood.site, frame.f_code, variable_name(data, frame), likelihood.expression()
        )
    finalizer = weakref.finalize(node, _note_loss, weakref.ref(node), likelihood)
    finalizer.atexit = False
    return data


def _check_arguments(data: Any, distribution: Any) -> tuple[Data, Distribution]:
    if not isinstance(data, Array):
        raise TypeError(
            f"observe: the first argument is a {type(data).__name__}; make data of it and keep it "
            "in a variable: y = kg.data(values)"
        )
    if not isinstance(data.node, Data) or data.node.literal:
        raise TypeError(
            f"observe: {describe(data.node)} is not data; only arrays made by kg.data can be observed"
        )
    variable = getattr(distribution, "node", None)
    if not isinstance(variable, Variable) or variable.distribution is None:
        raise TypeError(
            f"observe: the second argument, {_what(distribution)}, is not a distribution; "
            "write kg.observe(y, kg.normal(mean, sd))"
        )
    if variable.observed_by is not None:
        raise ModelError(
            f"observe: this {variable.distribution.family.name} is the likelihood of "
            f"{variable.observed_by} already; write the distribution again"
        )
    if any(True for _ in variable.children):
        raise ModelError(
            f"observe: {describe(variable)} is used elsewhere in the model as an unknown; "
            "write the distribution again inside observe"
        )
    return data.node, variable.distribution


def _what(value: Any) -> str:
    return describe(value.node) if isinstance(value, Array) else f"a {type(value).__name__}"


def _check_shape(node: Data, follows: Distribution) -> None:
    family = follows.family
    own = follows.shape
    try:
        fits = np.broadcast_shapes(node.shape, own) == node.shape
    except ValueError:
        fits = False
    if fits:
        return
    swapped = len(node.shape) == 2 and node.shape[::-1] == own
    hint = "\n  The data look transposed: each row is a separate realisation." if swapped else ""
    raise ShapeError(
        f"observe: the data do not fit the distribution\n"
        f"    {follows.expression():<40}  shape {own}\n"
        f"    {describe(node):<40}  shape {node.shape}\n"
        f"  {family.name}'s parameters must broadcast to the shape of the data.{hint}"
    )


def _check_support(node: Data, follows: Distribution) -> None:
    value = node.value
    if follows.family.discrete and value.dtype.kind == "f" and np.all(value == np.floor(value)):
        node.value = value = value.astype(np.int64)
        node.dtype = value.dtype
        node.value.setflags(write=False)
    inside = follows.support.contains(value)
    if np.all(inside):
        return
    place = tuple(int(i) for i in np.argwhere(~np.asarray(inside))[0])
    where = f" at index {place[0] if len(place) == 1 else place}" if place else ""
    raise DataError(
        f"observe: {follows.family.name} data must be {follows.support.describe()}, but "
        f"{describe(node)} is {value[place]}{where}"
    )


def _note_loss(reference: "weakref.ref[Node]", likelihood: Distribution) -> None:
    """Called when a data array dies: leave a note on the unknowns its likelihood was about."""
    place = _PLACES.get(likelihood)
    if place is None:
        return
    for node in ancestors(likelihood.parents):
        if isinstance(node, Variable):
            notes = _LOST.setdefault(node, [])
            if place not in notes and len(notes) < 100:
                notes.append(place)


def lost_observations(nodes: list[Node], living: list[Distribution]) -> list[Lost]:
    """Likelihoods about these unknowns that went away and were not observed again.

    A living likelihood of the same variable, or written at the same line, but by other code is a
    notebook cell run again: it replaced the old one on purpose. By the same code (a loop, a
    function called repeatedly) it is one more likelihood, and the old one was lost.
    """
    places = [place for place in map(_PLACES.get, living) if place is not None]

    def replaced(note: Lost) -> bool:
        return any(
            place.code is not note.code
            and (place.place == note.place or place.variable == note.variable is not None)
            for place in places
        )

    lost: list[Lost] = []
    for node in nodes:
        lost += [n for n in _LOST.get(node, ()) if n not in lost and not replaced(n)]
    return lost
