"""`kg.observe`: data follow a distribution.

The data array owns its likelihood: parameters know it only weakly, so that running a notebook cell
again, which makes the data anew, replaces the likelihood instead of adding a second one. A
likelihood whose data array is dropped by accident would silently leave the model; the unknowns
therefore keep a note of it, and `kg.model` refuses to build a model that lost one.

A model works on copies of its observed data (`detached`), so that it keeps no likelihood alive for
the next model. Only a likelihood whose parameters are computed from its own data (an
autoregression) lives on in the graph of an old model; `superseded` recognises it.
"""

import warnings
import weakref
from collections.abc import Collection, Iterable
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ..distributions.family import Distribution, Variable
from ..distributions.support import WholeNumbers
from ..graph.array import Array
from ..graph.errors import DataError, KinetographWarning, ModelError, ShapeError
from ..graph.messages import describe
from ..graph.node import Data, Node, ancestors
from ..graph.source import Site, user_frame, variable_name

__all__ = ["Observation", "detached", "lost_observations", "observe", "superseded"]


class Observation(NamedTuple):
    """Where and how a likelihood was written."""

    place: Site
    code: CodeType  # the user's code that observed
    variable: str | None  # the variable that held the data
    expression: str

    def rerun_of(self, other: "Observation") -> bool:
        """Whether this is the same statement as `other`, compiled and run once more.

        Code that runs several times without being compiled anew (a loop, a function called
        repeatedly) states several likelihoods.
        """
        if self.code is other.code:
            return False
        if self.variable is not None or other.variable is not None:
            return self.variable == other.variable
        # Prompts number every statement 1, so that their lines say nothing.
        return self.place == other.place and self.place.filename not in ("<stdin>", "<string>")


_LOST: "weakref.WeakKeyDictionary[Node, list[Observation]]" = weakref.WeakKeyDictionary()
_PLACES: "weakref.WeakKeyDictionary[Distribution, Observation]" = weakref.WeakKeyDictionary()
# For each likelihood, what leaves the note when its data die.
_NOTICES: "weakref.WeakKeyDictionary[Distribution, weakref.finalize]" = weakref.WeakKeyDictionary()


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
    if isinstance(old, Distribution) and old in _NOTICES:
        _NOTICES[old].detach()
    node._owned = likelihood
    variable = distribution.node
    assert isinstance(variable, Variable)
    variable.observed_by = f"{describe(node)}{f' at {node.site}' if node.site else ''}"
    _record(data, likelihood)
    return data


def _record(data: Array, likelihood: Distribution) -> None:
    frame = user_frame()
    if frame is None or likelihood.site is None:
        return
    place = Observation(
        likelihood.site,
        frame.f_code,
        variable_name(data, frame),
        likelihood.expression(),
    )
    _PLACES[likelihood] = place
    # The nearest unknowns, held weakly: the note must keep nothing alive.
    above = ancestors(likelihood.parents, stop=lambda n: isinstance(n, Variable))
    unknowns = [weakref.ref(n) for n in above if isinstance(n, Variable)]
    notice = weakref.finalize(data.node, _note_loss, place, unknowns)
    notice.atexit = False
    _NOTICES[likelihood] = notice


def _check_arguments(data: Any, distribution: Any) -> tuple[Data, Distribution]:
    if isinstance(getattr(data, "node", None), Variable) and _is_data(distribution):
        raise TypeError(
            "observe: the arguments are the wrong way round; "
            "write kg.observe(y, kg.normal(mean, sd))"
        )
    if not isinstance(data, Array):
        raise TypeError(
            f"observe: the first argument is a {type(data).__name__}; make data of it and keep it "
            "in a variable: y = kg.data(values)"
        )
    if not isinstance(data.node, Data) or data.node.literal:
        raise TypeError(
            f"observe: {describe(data.node)} is not data; only arrays made by kg.data can be "
            "observed"
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


def _is_data(value: Any) -> bool:
    return isinstance(getattr(value, "node", value), (Data, np.ndarray, list))


def _what(value: Any) -> str:
    return describe(value.node) if isinstance(value, Array) else f"a {type(value).__name__}"


def _fits(shape: tuple[int, ...], follows: Distribution) -> bool:
    event = follows.event_shape
    try:
        fits = np.broadcast_shapes(shape, follows.shape) == shape
    except ValueError:
        return False
    return fits and shape[len(shape) - len(event) :] == event


def _check_shape(node: Data, follows: Distribution) -> None:
    if _fits(node.shape, follows):
        return
    family, own = follows.family, follows.shape
    hint = ""
    if len(node.shape) == 2 and _fits(node.shape[::-1], follows):
        hint = "\n  The data look transposed: each row is a separate realisation."
    raise ShapeError(
        f"observe: the data do not fit the distribution\n"
        f"    {follows.expression():<40}  shape {own}\n"
        f"    {describe(node):<40}  shape {node.shape}\n"
        f"  {family.name}'s parameters must broadcast to the shape of the data.{hint}"
    )


def _check_support(node: Data, follows: Distribution) -> None:
    value, support = node.value, follows.support
    inside = np.asarray(support.contains(value))
    if inside.all():
        return
    place = tuple(int(i) for i in np.argwhere(~inside)[0])
    where = f" at index {place[0] if len(place) == 1 else place}" if place else ""
    if isinstance(support, WholeNumbers):
        support = support.at(place, value.shape)
    raise DataError(
        f"observe: {follows.family.name} data must be {support.describe()}, but "
        f"{describe(node)} is {value[place]}{where}"
    )


def _note_loss(place: Observation, unknowns: Iterable["weakref.ref[Variable]"]) -> None:
    """Called when a data array dies: leave a note on the unknowns its likelihood was about."""
    for reference in unknowns:
        node = reference()
        if node is not None:
            notes = _LOST.setdefault(node, [])
            if place not in notes and len(notes) < 100:
                notes.append(place)


def detached(likelihood: Distribution) -> tuple[Distribution, Data]:
    """A copy of a likelihood on a copy of its data, for a model to keep.

    Once a model has it, the likelihood may go away with its data: nothing is lost.
    """
    node = likelihood.target
    assert isinstance(node, Data)
    if likelihood in _NOTICES:
        _NOTICES[likelihood].detach()
    data = Data(node.value, node.name, node.dims, coords=node.coords)
    copy = Distribution(likelihood.family, likelihood.parents, likelihood.shape)
    data._place, copy._place = node._place, likelihood._place
    copy.dtype = likelihood.dtype
    copy.target = data
    return copy, data


def lost_observations(nodes: Iterable[Node], living: Iterable[Distribution]) -> list[Observation]:
    """Likelihoods about these unknowns that went away and were not observed again."""
    places = [place for place in map(_PLACES.get, living) if place is not None]
    lost: dict[Observation, None] = {}
    for node in nodes:
        for note in _LOST.get(node, ()):
            if not any(place.rerun_of(note) for place in places):
                lost[note] = None
    return list(lost)


def superseded(likelihoods: Iterable[Distribution], held: Collection[Node]) -> list[Distribution]:
    """Autoregressions that a later statement among these likelihoods replaced.

    Data that a variable of the user's still holds (`held`) are not replaced.
    """
    places = [(d, _PLACES[d]) for d in likelihoods if d in _PLACES]
    if len({id(place.code) for _, place in places}) < 2:
        return []
    return [
        old
        for old, place in places
        if old.target not in held
        and any(new.serial > old.serial and p.rerun_of(place) for new, p in places)
        and old.target in ancestors(old.parents)
    ]
