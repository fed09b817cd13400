"""Draws with explicit states: `draw(name, rng, ...) -> (rng, value)`.

This is the functional form of `kg.RandomStreams`, for programs that carry the states themselves.
"""

import weakref
from typing import Any

import numpy as np

from ..bits.keys import MEMBER, check_seed, make_key
from ..graph.array import Array
from ..graph.errors import KinetographWarning, ModelError, ShapeError
from ..graph.hooks import ON_ROLLBACK
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.source import place_text, warn_user
from .methods import METHODS, Draws
from .operations import WORDS, Draw, advanced, initial_state

__all__ = ["draw", "new_state"]

# The states that have been used for draws, and the serial numbers of these draws.
_USED: "weakref.WeakKeyDictionary[Node, int]" = weakref.WeakKeyDictionary()


@ON_ROLLBACK.fill
def _forget_since(serial: int) -> None:
    for state, draw in list(_USED.items()):
        if draw >= serial:
            del _USED[state]


@public
def new_state(bits: Any, member: int | str = 0) -> np.ndarray:
    """The first state of a stream: its key and its counter.

    The key has four words, the counter two. It is the state of draw number `member`, or
    of the draw named `member`, of `kg.RandomStreams(bits)`.

    Raises
    ------
    TypeError, ValueError
        If `bits` is not a non-negative whole number or a list of them.
    """
    return initial_state(make_key(check_seed(bits, "new_state"), MEMBER, member))


class _StateDraws(Draws):
    """Stream methods that draw from a given state."""

    def __init__(self, state: Node) -> None:
        self.state, self.serial = state, -1

    def _next(self, name: str | None) -> tuple[Node, Any]:
        return self.state, None

    def _keep(self, node: Draw) -> Array:
        self.serial = node.serial
        return Array(node)


@public
def draw(
    distribution: str,
    rng: Any,
    *parameters: Any,
    strict: bool = False,
    **settings: Any,
) -> tuple[Array, Array]:
    """Draw from an explicit state, and return the next state.

    Parameters
    ----------
    distribution
        The name of a method of `kg.RandomStreams`, such as "normal".
    rng
        The state of a stream: an array of six uint32, first the one from `kg.streams.new_state`.
    *parameters, **settings
        The parameters of the method, `shape`, `dtype`.
    strict
        Whether to raise an error, instead of a warning, if a state is used for a second draw.

    Returns
    -------
    rng, value
        The next state, and the numbers.

    Raises
    ------
    ValueError
        If the distribution is unknown, or a parameter whose value is known is invalid.
    ShapeError
        If `rng` is not a state.
    ModelError
        If `strict` and the state has been used.

    Warns
    -----
    KinetographWarning
        If the state has been used: both draws would give the same numbers.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rng = kg.placeholder((6,), dtype="uint32", name="rng")
    >>> after, x = kg.streams.draw("normal", rng, 0.0, 1.0, shape=(2,))
    >>> f = kg.compile([rng], [after, x])
    >>> state, first = f(kg.streams.new_state(7))
    >>> state, second = f(state)
    >>> bool((first == second).any())
    False
    """
    state = as_node(rng, "draw")
    if state.shape != (WORDS,) or state.dtype != np.uint32:
        raise ShapeError(
            f"draw: rng {describe(state)} must be six uint32, got {state.dtype} of shape "
            f"{state.shape}{place_text()}"
        )
    if distribution not in METHODS:
        raise ValueError(
            f"draw: unknown distribution {distribution!r}; the names are {', '.join(METHODS)}"
        )
    if state in _USED:
        text = (
            f"draw: the state {describe(state)} has been used for a draw already{place_text()}: "
            "both would give the same numbers; use the state that the first draw returned"
        )
        if strict:
            raise ModelError(text)
        warn_user(text, KinetographWarning)
    drawing = _StateDraws(state)
    value = getattr(drawing, distribution)(*parameters, **settings)
    _USED[state] = drawing.serial
    return Array(advanced(state)), value
