"""Values that learn in the backward pass whether they took part.

A value that is computed outside of branches and loops, and read only inside them, may take no part:
the branch is not taken, or the loop makes no trip. Its cotangent is then 0, and 0 times an infinite
slope would be NaN. Only the reader knows whether the value took part, and the value has been
computed before. So the information travels with the cotangent: a token, the number 0, accompanies
the value.

    outside   value, token = track(x), then root = sqrt(value): `hand(root, token)` goes in
    inside    read(...) at each use; a value that is passed on unread is not changed

The cotangent of the token counts the readings through which a cotangent came back. `track` passes
the cotangent of its value on if that count is positive, and passes 0 otherwise. All these functions
are the identity except in reverse derivatives.

A derivative of a derivative reads the value once more, where it was multiplied by the incoming
cotangent. A value that took part in one order also takes part in the orders around it.
"""

import functools
import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

__all__ = ["TRACK", "Tracked", "carried_on", "hand", "no_token", "plain", "read", "track"]


class Tracked(NamedTuple):
    """A value, and the token whose cotangent its readers send back."""

    value: Any
    token: Any


_NO, _YES = np.bool_(False), np.bool_(True)


def no_token() -> Any:
    """The token of a value that is not tracked."""
    return np.zeros((), np.float32)


def read(tensor: Any, flag: Any = _YES) -> Any:
    """The value at a use.

    It takes part where the flag is true.
    """
    return _bind(*tensor, always=flag)[0] if isinstance(tensor, Tracked) else tensor


def carried_on(tensor: Any, tracked: bool) -> Any:
    """The form in which a loop carries a value.

    A tracked value has a token.
    """
    if not tracked:
        return read(tensor)
    return tensor if isinstance(tensor, Tracked) else Tracked(tensor, no_token())


def plain(tensor: Any) -> Any:
    """The value without its token.

    No reader sends a count back.
    """
    return tensor.value if isinstance(tensor, Tracked) else tensor


def track(tensor: Any, always: Any, late: Any) -> Tracked:
    """Track a value that takes part where the masks say so.

    The value takes part where `always` is true, and where `late` is true if the token reports a
    reading. The masks have as many axes as the tensor, or none; the value is broadcast against
    them.
    """
    value, token = tensor if isinstance(tensor, Tracked) else (tensor, no_token())
    shape = jnp.broadcast_shapes(jnp.shape(value), jnp.shape(always), jnp.shape(late))
    return Tracked(*_bind(jnp.broadcast_to(value, shape), token, always=always, late=late))


def hand(value: Any, tokens: Iterable[Any], again: bool) -> Tracked:
    """The form in which a branch or loop is given a value.

    `again` says whether derivatives of the derivative are taken.
    """
    return Tracked(*_bind(value, functools.reduce(operator.add, tokens), late=_YES, again=again))


def _bind(
    value: Any, token: Any, *, always: Any = _NO, late: Any = _NO, again: bool = False
) -> Any:
    none = no_token()
    return TRACK.bind(value, token, none, none, always, late, axes=0, again=again)


# The primitive returns the first two of (value, token, echo, recalled, always, late) and is linear
# in the first three. The echo receives the same cotangent as the token; `recalled` becomes the echo
# in the next derivative. The first `axes` axes are batch axes, the only axes that tokens have.
TRACK = Primitive("track")
TRACK.multiple_results = True


@TRACK.def_impl
def _evaluate(value: Any, token: Any, *masks: Any, axes: int, again: bool) -> Any:
    return [value, token]


@TRACK.def_abstract_eval
def _types(value: Any, token: Any, *masks: Any, axes: int, again: bool) -> Any:
    return [value, token]


mlir.register_lowering(TRACK, lambda context, value, token, *masks, **options: [value, token])


def _push(primals: Any, tangents: Any, *, axes: int, again: bool) -> Any:
    results = TRACK.bind(*primals, axes=axes, again=again)
    moves = [t for t in tangents[:4] if type(t) is not ad.Zero]
    if not moves:
        return results, [ad.Zero(jax.typeof(x).to_tangent_aval()) for x in results]
    value, token, echo, recalled = map(ad.instantiate_zeros, tangents[:4])
    recall = results[1] if again else jnp.zeros_like(results[1])
    inputs = (value, token, echo + recalled, recall, *primals[4:])
    return results, TRACK.bind(*inputs, axes=axes, again=again)


ad.primitive_jvps[TRACK] = _push


def _transpose(cotangents: Any, *inputs: Any, axes: int, again: bool) -> Any:
    of_value, of_token = cotangents
    recalled, always, late = inputs[3:]
    is_linear = [ad.is_undefined_primal(x) for x in inputs[:3]]
    if type(of_value) is ad.Zero:
        return [of_value, of_token if is_linear[1] else None, *[None] * 4]
    flag = jnp.asarray(always)
    if type(of_token) is not ad.Zero:
        late = jnp.asarray(late)
        ndim = max(flag.ndim, late.ndim)
        flag = _wide(flag, ndim) | (_wide(late, ndim) & _wide(of_token != 0, ndim))
    of_value = jnp.where(_wide(flag, of_value.ndim), of_value, jnp.zeros_like(of_value))
    if again:
        none = jnp.zeros_like(recalled)
        parts = (of_value, none, recalled, none, flag, jnp.zeros_like(flag))
        of_value = TRACK.bind(*parts, axes=axes, again=again)[0]
    taking = flag.any(tuple(range(axes, flag.ndim))).astype(np.float32)
    return [of_value, *(taking if w else None for w in is_linear[1:]), None, None, None]


def _wide(mask: Any, ndim: int) -> Any:
    return mask.reshape(mask.shape + (1,) * (ndim - mask.ndim))


ad.primitive_transposes[TRACK] = _transpose


def _batch(inputs: Any, places: Any, *, axes: int, again: bool) -> Any:
    size = next(x.shape[a] for x, a in zip(inputs, places, strict=True) if a is not None)
    rows = [
        jnp.broadcast_to(x, (size, *jnp.shape(x))) if a is None else jnp.moveaxis(x, a, 0)
        for x, a in zip(inputs, places, strict=True)
    ]
    return TRACK.bind(*rows, axes=axes + 1, again=again), [0, 0]


batching.primitive_batchers[TRACK] = _batch
