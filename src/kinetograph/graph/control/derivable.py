"""Loops whose number of trips is known only when they run, with derivatives of every order.

JAX cannot reverse `lax.while_loop`: what the backward pass needs would have to be kept for a number
of trips that is not known. Here a loop brings its own rules, and they are loops of the same kind:

    reverse   forward pass: the same loop, which also writes the loop variables that the body's
              derivative needs into a buffer of `length` rows. Backward pass: a loop that counts
              down, applies the body's vector-Jacobian product to each row and sums the
              cotangents of what the loop only reads.
    forward   a loop over pairs of values and tangents, whose body is the body's jvp.

`modes` lists the derivatives that are being taken around a loop, the innermost first, so that each
rule builds its loops for those that are left: reverse over reverse, forward over reverse and
reverse over forward all come out of the two rules. With none left a loop is a `lax.while_loop`.

Only the carry that is `live` takes part. The rest, with integers and booleans, has no derivative
and is not kept unless the body's derivative needs it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import and_
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from .batched import batched, chosen, told_all
from .flat import (
    Mask,
    Tensor,
    Tensors,
    Types,
    among,
    floats,
    merged,
    picked,
    types_of,
    used_inputs,
    with_zeros,
)
from .residuals import Residuals

__all__ = ["FORWARD", "REVERSE", "After", "Loop", "Modes", "Product", "Strategy", "run"]

REVERSE, FORWARD = "reverse", "forward"
Modes = tuple[str, ...]
After = tuple[Tensors, Tensors]  # the carry after a trip, and a row of results
Body = Callable[[Modes, Tensor, Tensors, Tensors, Tensors], After]


@dataclass(frozen=True)
class Loop:
    """A loop as functions of flat tuples of tensors.

    `body(modes, alive, carry, captures, row)` gives the next carry and a row of results; in a batch
    it is also computed where `alive` is false, for nothing. `more(carry, captures)` says whether to
    go on, for ever where it is None. `length` is the number of rows of what
    the loop reads and writes row by row; `backwards` says that it does so from the last trip.
    `live` is the part of the carry that takes part in derivatives; None for all that is
    floating-point. An `ambient` one reads tensors of the trace around it, too.
    """

    body: Body
    more: Callable[[Tensors, Tensors], Tensor] | None
    length: int
    results: Types = ()
    backwards: bool = False
    strategy: "Callable[[Loop, Product, Modes], Strategy]" = field(kw_only=True)
    most: int = 2**31  # trips
    note: Callable[[int], None] | None = None  # is told the size in bytes of what is kept
    live: Mask | None = None
    ambient: bool = False

    def masks[T: Tensors | Types](self, carry: T, captures: T, rows: T) -> tuple[Mask, Mask, Mask]:
        """What has derivatives."""
        return floats(carry) if self.live is None else self.live, floats(captures), floats(rows)

    def settled(self, carry: Tensors) -> Tensors:
        """The carry, of which what is not live is constant."""
        if self.live is None:
            return carry
        return tuple(
            c if m else lax.stop_gradient(c) for c, m in zip(carry, self.live, strict=True)
        )


class Product:
    """The vector-Jacobian product of a loop's body, traced once.

    A function of (alive, carry, captures, row, cotangents of the new carry, cotangents of the
    result), which gives the cotangents of carry, captures, row. `masks` tell which of these, and
    `of_results` which of the results, have cotangents.
    """

    def __init__(self, loop: Loop, carry: Types, captures: Types, rows: Types, rest: Modes) -> None:
        self.carry, self.captures, self.rows = carry, captures, rows
        counts = [len(carry), len(captures), len(rows)]
        flag = jax.ShapeDtypeStruct((), np.bool_)

        def turn(alive: Tensor, *parts: Tensors) -> After:
            return loop.body((REVERSE, *rest), alive, *parts)

        body = jax.make_jaxpr(turn)(flag, carry, captures, rows)
        masks = loop.masks(carry, captures, rows)
        # What the body does not use needs no cotangents, which would be summed up in each trip.
        used = used_inputs(body.jaxpr, told=True)[1 + counts[0] :]
        apart = used[: counts[1]], used[counts[1] :]
        others = (tuple(map(and_, *pair)) for pair in zip(masks[1:], apart, strict=True))
        self.masks: tuple[Mask, ...] = (masks[0], *others)
        self.of_results = floats(loop.results)

        def product(alive: Tensor, *tensors: Tensors) -> Any:
            *parts, ct_carry, ct_result = tensors

            def differentiable(*own: Tensors) -> Any:
                inputs = map(merged, own, parts, self.masks)
                flat = jaxpr_as_fun(body)(alive, *(leaf for part in inputs for leaf in part))
                new, result = flat[: counts[0]], flat[counts[0] :]
                return (picked(new, self.masks[0]), picked(result, self.of_results)), flat

            _, pull, flat = jax.vjp(differentiable, *map(picked, parts, self.masks), has_aux=True)
            return flat, pull((ct_carry, ct_result))

        whole = jax.make_jaxpr(product)(
            flag,
            carry,
            captures,
            rows,
            picked(carry, self.masks[0]),
            picked(loop.results, self.of_results),
        )
        forward = len(body.jaxpr.outvars)
        names = whole.jaxpr.debug_info.with_unknown_names()
        part = whole.jaxpr.replace(outvars=whole.jaxpr.outvars[forward:], debug_info=names)
        self.jaxpr = ClosedJaxpr(part, whole.consts)
        self.residuals = None if rest else Residuals(whole, counts, forward)
        self.evaluate = jaxpr_as_fun(self.jaxpr)
        used = used_inputs(self.jaxpr.jaxpr)[1:]
        ends = np.cumsum(counts)
        self.needs_carry = used[: ends[0]]
        self.needs_row = used[ends[1] : ends[2]]
        self._sizes = [sum(mask) for mask in self.masks]

    def moving(self, place: int) -> Types:
        """The types of what has cotangents, of carry (0), captures (1) or a row (2)."""
        return picked((self.carry, self.captures, self.rows)[place], self.masks[place])

    def still(self) -> Tensors:
        """The cotangents of the captures before the first trip back."""
        return tuple(jnp.zeros(t.shape, t.dtype) for t in self.moving(1))

    def __call__(self, alive: Tensor, *parts: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        return self.split(self.evaluate(alive, *(leaf for part in parts for leaf in part)))

    def split(self, found: Iterable[Tensor]) -> tuple[Tensors, Tensors, Tensors]:
        """Cotangents of carry, captures and row."""
        flat = iter(found)
        a, b, c = (tuple(next(flat) for _ in range(size)) for size in self._sizes)
        return a, b, c


class Strategy(Protocol):
    """How the backward pass gets the values of all trips; see `strategies`."""

    def forward(self, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        """Run the loop: its results, and what is kept for the backward pass."""

    def backward(self, kept: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        """The cotangents of carry, captures and rows."""


def run(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    """The carry after the last trip, the number of trips, and the rows of results.

    Ends after `limit` trips at the latest. Rows beyond `length` are not kept, so the derivative is
    right only for at most `length` trips (for the strategy `Stack`).
    """
    carry, captures = tuple(map(jnp.asarray, carry)), tuple(map(jnp.asarray, captures))
    limit = jnp.asarray(limit, np.int32)
    if REVERSE not in modes:
        return _plain(loop, limit, carry, captures, rows, modes)
    rule = _reversed if modes[0] == REVERSE else _pushed
    found: tuple[Tensors, Tensor, Tensors] = jax.tree.map(
        _constant, rule(loop, limit, carry, captures, rows, modes[1:])
    )
    return found


def _constant(tensor: Tensor) -> Tensor:
    """A tensor that JAX knows to have no tangent, if it is of whole numbers or truth values.

    Those out of a rule of our own have one, of a type without numbers. A number that is kept in one
    branch shares its place with the index of a conditional in another, which must have none.
    """
    if jnp.issubdtype(tensor.dtype, jnp.inexact):
        return tensor
    return lax.bitwise_or(tensor, jnp.zeros_like(tensor))


def _plain(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    """The loop itself."""
    if modes:  # JAX takes the derivative of it
        return _turns(loop, limit, carry, captures, rows, modes)
    if loop.ambient:
        loop, captures = told_all(loop, carry, captures, rows)
    return batched(_turns, loop)(limit, carry, captures, rows)


def _turns(
    loop: Loop,
    limit: Tensor,
    carry: Tensors,
    captures: Tensors,
    rows: Tensors,
    modes: Modes = (),
) -> tuple[Tensors, Tensor, Tensors]:
    """The loop or, with a limit for each member, that of a batch."""
    batch, longest = limit.shape, limit.max()

    def place(trip: Tensor) -> Tensor:
        return longest - 1 - trip if loop.backwards else trip

    def alive(trip: Tensor, carry: Tensors) -> Tensor:
        within = place(trip) < limit if batch else trip < limit
        return within if loop.more is None else within & loop.more(carry, captures)

    def more(state: Any) -> Tensor:
        trip, _, carry, _ = state
        return trip < longest if loop.more is None else alive(trip, carry).any()

    def body(state: Any) -> Any:
        trip, trips, carry, results = state
        flags, at = alive(trip, carry), place(trip)
        row = tuple(_read(a, at) for a in rows)
        new, result = loop.body(modes, flags, carry, captures, row)
        new = loop.settled(new) if modes else new
        if batch:
            trips = trips + flags.astype(np.int32)
            new = tuple(chosen(flags, a, b) for a, b in zip(new, carry, strict=True))
            result = tuple(chosen(flags, a, jnp.zeros((), a.dtype)) for a in result)
        results = tuple(_write(a, b, at) for a, b in zip(results, result, strict=True))
        return trip + 1, trips, new, results

    buffers = tuple(jnp.zeros((loop.length, *t.shape), t.dtype) for t in loop.results)
    carry = loop.settled(carry) if modes else carry
    counts = jnp.zeros(batch, np.int32) if batch else None
    trip, trips, carry, results = lax.while_loop(more, body, (jnp.int32(0), counts, carry, buffers))
    return carry, trip if trips is None else trips, results


def _read(rows: Tensor, at: Tensor) -> Tensor:
    return lax.dynamic_index_in_dim(rows, at, keepdims=False, allow_negative_indices=False)


def _write(rows: Tensor, row: Tensor, at: Tensor) -> Tensor:
    return lax.dynamic_update_index_in_dim(rows, row, at, 0, allow_negative_indices=False)


# Reverse mode.
def _reversed(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, rest: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    row_types = tuple(jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in rows)
    product = Product(loop, types_of(carry), types_of(captures), row_types, rest)
    strategy = loop.strategy(loop, product, rest)

    @jax.custom_vjp
    def call(limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return _plain(loop, limit, carry, captures, rows, ())

    def backward(kept: Any, cotangents: Any) -> Any:
        ct_carry, _, ct_results = cotangents
        given, ct = picked(ct_carry, product.masks[0]), picked(ct_results, product.of_results)
        found = strategy.backward(kept, given, ct)
        return (None, *(among(part, mask) for part, mask in zip(found, product.masks, strict=True)))

    call.defvjp(strategy.forward, backward, generic_batching=True)
    return call(limit, carry, captures, rows)


# Forward mode, where a reverse one follows.
def _pushed(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, rest: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    counts = len(carry), len(captures), len(rows), len(loop.results)
    masks, of_results = loop.masks(carry, captures, rows), floats(loop.results)

    def body(modes: Modes, alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors) -> After:
        parts = (carry[: counts[0]], captures[: counts[1]], row[: counts[2]])
        tangents = (carry[counts[0] :], captures[counts[1] :], row[counts[2] :])

        def differentiable(*own: Tensors) -> Any:
            new, result = loop.body((FORWARD, *modes), alive, *map(merged, own, parts, masks))
            return (picked(new, masks[0]), picked(result, of_results)), (new, result)

        _, (d_new, d_result), (new, result) = jax.jvp(
            differentiable, tuple(map(picked, parts, masks)), tangents, has_aux=True
        )
        return (*new, *d_new), (*result, *d_result)

    more = loop.more
    pairs = replace(
        loop,
        body=body,
        more=None if more is None else lambda c, k: more(c[: counts[0]], k[: counts[1]]),
        results=(*loop.results, *picked(loop.results, of_results)),
        live=None if loop.live is None else (*loop.live, *(True for m in loop.live if m)),
    )

    @jax.custom_jvp
    def call(limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return run(loop, limit, carry, captures, rows, rest)

    @call.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        limit, *parts = primals
        carry, captures, rows = (
            (*part, *picked(ts, mask))
            for part, ts, mask in zip(parts, tangents[1:], masks, strict=True)
        )
        new, trips, results = run(pairs, limit, carry, captures, rows, rest)
        d_new, d_results = new[counts[0] :], results[counts[3] :]
        new, results = new[: counts[0]], results[: counts[3]]
        d_trips = with_zeros((), (trips,), (False,))[0]
        tangent = (
            with_zeros(d_new, new, masks[0]),
            d_trips,
            with_zeros(d_results, results, of_results),
        )
        return (new, trips, results), tangent

    return call(limit, carry, captures, rows)
