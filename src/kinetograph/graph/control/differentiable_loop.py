"""Loops with an unknown number of trips and derivatives of every order.

JAX cannot differentiate `lax.while_loop` in reverse mode: the values that the backward pass needs
would have to be stored for an unknown number of trips. Here a loop has its own derivative rules,
which are loops of the same kind:

    reverse   Forward pass: the same loop, which also writes the loop variables that the body's
              derivative needs into a buffer of `length` rows. Backward pass: a loop that counts
              down, applies the body's vector-Jacobian product to each row and sums the
              cotangents of the captures.
    forward   A loop over pairs of values and tangents, whose body is the body's jvp.

`modes` lists the derivatives that are being taken around a loop, the innermost first. Each rule
removes its own mode from the list and builds its loops for the remaining modes. The two rules
therefore also give reverse over reverse, forward over reverse and reverse over forward. A loop
without remaining modes is a `lax.while_loop`.

Only carried values that are `live` take part in derivatives. The other carried values, with
integers and booleans, have no derivative and are stored only if the body's derivative needs them.
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

from .batched_loops import batched, chosen, with_tracers_captured
from .residuals import Residuals
from .tensor_tuples import (
    Mask,
    Tensor,
    Tensors,
    Types,
    floats,
    in_places,
    merged,
    picked,
    types_of,
    used_inputs,
    with_zeros,
)

__all__ = ["FORWARD", "REVERSE", "After", "Loop", "Modes", "Product", "Strategy", "run"]

REVERSE, FORWARD = "reverse", "forward"
Modes = tuple[str, ...]
After = tuple[Tensors, Tensors]  # the carry after a trip, and a row of results
Body = Callable[[Modes, Tensor, Tensors, Tensors, Tensors], After]


@dataclass(frozen=True)
class Loop:
    """A loop as functions of flat tuples of tensors.

    - `body(modes, alive, carry, captures, row)` returns the next carry and a row of results. In a
      batch it is also computed where `alive` is false, and its result is not used there.
    - `more(carry, captures)` is true while the loop continues. If it is None, only the limit ends
      the loop.
    - `length` is the number of rows of the buffers that the loop reads and writes row by row.
    - `backwards` is true if rows are processed from the last trip to the first.
    - `live` marks the carried values that take part in derivatives; None marks all floating-point
      ones.
    - `ambient` is true if the body may read tensors of the surrounding trace, too.
    """

    body: Body
    more: Callable[[Tensors, Tensors], Tensor] | None
    length: int
    results: Types = ()
    backwards: bool = False
    strategy: "Callable[[Loop, Product, Modes], Strategy]" = field(kw_only=True)
    most: int = 2**31  # trips
    note: Callable[[int], None] | None = None  # called with the size of the buffers in bytes
    live: Mask | None = None
    ambient: bool = False

    def masks[T: Tensors | Types](self, carry: T, captures: T, rows: T) -> tuple[Mask, Mask, Mask]:
        """The masks of the carry, captures and rows that have derivatives."""
        return floats(carry) if self.live is None else self.live, floats(captures), floats(rows)

    def settled(self, carry: Tensors) -> Tensors:
        """The carry, with gradients stopped for values that are not live."""
        if self.live is None:
            return carry
        return tuple(
            c if m else lax.stop_gradient(c) for c, m in zip(carry, self.live, strict=True)
        )


class Product:
    """The vector-Jacobian product of a loop's body, traced once.

    A function of (alive, carry, captures, row, cotangents of the new carry, cotangents of the
    result) that returns the cotangents of carry, captures and row. `masks` mark the carried values,
    captures and rows with cotangents, and `of_results` marks the results with cotangents.
    """

    def __init__(
        self, loop: Loop, carry: Types, captures: Types, rows: Types, remaining_modes: Modes
    ) -> None:
        self.carry, self.captures, self.rows = carry, captures, rows
        counts = [len(carry), len(captures), len(rows)]
        flag = jax.ShapeDtypeStruct((), np.bool_)

        def turn(alive: Tensor, *parts: Tensors) -> After:
            return loop.body((REVERSE, *remaining_modes), alive, *parts)

        body = jax.make_jaxpr(turn)(flag, carry, captures, rows)
        masks = loop.masks(carry, captures, rows)
        # Unused captures need no cotangents, which would otherwise be summed in each trip.
        used = used_inputs(body.jaxpr, tokens=True)[1 + counts[0] :]
        used_parts = used[: counts[1]], used[counts[1] :]
        used_masks = (tuple(map(and_, *pair)) for pair in zip(masks[1:], used_parts, strict=True))
        self.masks: tuple[Mask, ...] = (masks[0], *used_masks)
        self.of_results = floats(loop.results)

        def product(alive: Tensor, *tensors: Tensors) -> Any:
            *parts, ct_carry, ct_result = tensors

            def differentiable(*differentiable_parts: Tensors) -> Any:
                inputs = map(merged, differentiable_parts, parts, self.masks)
                flat = jaxpr_as_fun(body)(
                    alive, *(leaf for pullback in inputs for leaf in pullback)
                )
                new, result = flat[: counts[0]], flat[counts[0] :]
                return (picked(new, self.masks[0]), picked(result, self.of_results)), flat

            _, pull, flat = jax.vjp(differentiable, *map(picked, parts, self.masks), has_aux=True)
            return flat, pull((ct_carry, ct_result))

        traced_product = jax.make_jaxpr(product)(
            flag,
            carry,
            captures,
            rows,
            picked(carry, self.masks[0]),
            picked(loop.results, self.of_results),
        )
        forward = len(body.jaxpr.outvars)
        names = traced_product.jaxpr.debug_info.with_unknown_names()
        pullback = traced_product.jaxpr.replace(
            outvars=traced_product.jaxpr.outvars[forward:], debug_info=names
        )
        self.jaxpr = ClosedJaxpr(pullback, traced_product.consts)
        self.residuals = None if remaining_modes else Residuals(traced_product, counts, forward)
        self.evaluate = jaxpr_as_fun(self.jaxpr)
        used = used_inputs(self.jaxpr.jaxpr)[1:]
        ends = np.cumsum(counts)
        self.needs_carry = used[: ends[0]]
        self.needs_row = used[ends[1] : ends[2]]
        self._sizes = [sum(mask) for mask in self.masks]

    def moving(self, place: int) -> Types:
        """The types of inputs with cotangents.

        The place is 0 for carry, 1 for captures and 2 for a row.
        """
        return picked((self.carry, self.captures, self.rows)[place], self.masks[place])

    def still(self) -> Tensors:
        """The cotangents of the captures before the first backward trip: zeros."""
        return tuple(jnp.zeros(t.shape, t.dtype) for t in self.moving(1))

    def __call__(self, alive: Tensor, *parts: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        return self.split(self.evaluate(alive, *(leaf for part in parts for leaf in part)))

    def split(self, cotangents: Iterable[Tensor]) -> tuple[Tensors, Tensors, Tensors]:
        """Split a flat sequence into the cotangents of carry, captures and row."""
        flat = iter(cotangents)
        a, b, c = (tuple(next(flat) for _ in range(size)) for size in self._sizes)
        return a, b, c


class Strategy(Protocol):
    """A way to provide the values of all trips; see `strategies`."""

    def forward(self, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        """Run the loop; return its results and the stored values."""

    def backward(self, residuals: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        """Compute the cotangents of carry, captures and rows."""


def run(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    """Run a loop; return the last carry, the trips and results.

    The second value is the number of trips, the third the rows of results.

    The loop ends after `limit` trips at the latest. Only the first `length` rows are stored, so
    with the strategy `Stack` the derivative is right only for at most `length` trips.
    """
    carry, captures = tuple(map(jnp.asarray, carry)), tuple(map(jnp.asarray, captures))
    limit = jnp.asarray(limit, np.int32)
    if REVERSE not in modes:
        return _plain(loop, limit, carry, captures, rows, modes)
    rule = _reversed if modes[0] == REVERSE else _pushed
    results: tuple[Tensors, Tensor, Tensors] = jax.tree.map(
        _constant, rule(loop, limit, carry, captures, rows, modes[1:])
    )
    return results


def _constant(tensor: Tensor) -> Tensor:
    """Remove the tangent of a tensor of integers or booleans.

    Other tensors are returned unchanged.

    A custom derivative rule gives its integer results tangents of the type float0. JAX's `cond`
    stores the residuals of all branches in shared places. There such an integer may meet the index
    of a conditional in another branch, which must not have a tangent.
    """
    if jnp.issubdtype(tensor.dtype, jnp.inexact):
        return tensor
    return lax.bitwise_or(tensor, jnp.zeros_like(tensor))


def _plain(
    loop: Loop, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Tensor, Tensors]:
    """Run the loop without its own reverse rule."""
    if modes:  # only forward modes: JAX differentiates the loop itself
        return _turns(loop, limit, carry, captures, rows, modes)
    if loop.ambient:
        loop, captures = with_tracers_captured(loop, carry, captures, rows)
    return batched(_turns, loop)(limit, carry, captures, rows)


def _turns(
    loop: Loop,
    limit: Tensor,
    carry: Tensors,
    captures: Tensors,
    rows: Tensors,
    modes: Modes = (),
) -> tuple[Tensors, Tensor, Tensors]:
    """Run a loop or, if `limit` is a vector, a batch."""
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
    loop: Loop,
    limit: Tensor,
    carry: Tensors,
    captures: Tensors,
    rows: Tensors,
    remaining_modes: Modes,
) -> tuple[Tensors, Tensor, Tensors]:
    row_types = tuple(jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in rows)
    product = Product(loop, types_of(carry), types_of(captures), row_types, remaining_modes)
    strategy = loop.strategy(loop, product, remaining_modes)

    @jax.custom_vjp
    def call(limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return _plain(loop, limit, carry, captures, rows, ())

    def backward(residuals: Any, cotangents: Any) -> Any:
        ct_carry, _, ct_results = cotangents
        ct_of_carry, ct_of_results = (
            picked(ct_carry, product.masks[0]),
            picked(ct_results, product.of_results),
        )
        cotangents_of_inputs = strategy.backward(residuals, ct_of_carry, ct_of_results)
        return (
            None,
            *(
                in_places(part, mask)
                for part, mask in zip(cotangents_of_inputs, product.masks, strict=True)
            ),
        )

    call.defvjp(strategy.forward, backward, generic_batching=True)
    return call(limit, carry, captures, rows)


# Forward mode, where a remaining mode is reverse.
def _pushed(
    loop: Loop,
    limit: Tensor,
    carry: Tensors,
    captures: Tensors,
    rows: Tensors,
    remaining_modes: Modes,
) -> tuple[Tensors, Tensor, Tensors]:
    counts = len(carry), len(captures), len(rows), len(loop.results)
    masks, of_results = loop.masks(carry, captures, rows), floats(loop.results)

    def body(modes: Modes, alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors) -> After:
        values = (carry[: counts[0]], captures[: counts[1]], row[: counts[2]])
        tangents = (carry[counts[0] :], captures[counts[1] :], row[counts[2] :])

        def differentiable(*differentiable_values: Tensors) -> Any:
            new, result = loop.body(
                (FORWARD, *modes), alive, *map(merged, differentiable_values, values, masks)
            )
            return (picked(new, masks[0]), picked(result, of_results)), (new, result)

        _, (d_new, d_result), (new, result) = jax.jvp(
            differentiable, tuple(map(picked, values, masks)), tangents, has_aux=True
        )
        return (*new, *d_new), (*result, *d_result)

    predicate = loop.more
    pairs = replace(
        loop,
        body=body,
        more=None if predicate is None else lambda c, k: predicate(c[: counts[0]], k[: counts[1]]),
        results=(*loop.results, *picked(loop.results, of_results)),
        live=None if loop.live is None else (*loop.live, *(True for m in loop.live if m)),
    )

    @jax.custom_jvp
    def call(limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return run(loop, limit, carry, captures, rows, remaining_modes)

    @call.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        limit, *values = primals
        carry, captures, rows = (
            (*part, *picked(ts, mask))
            for part, ts, mask in zip(values, tangents[1:], masks, strict=True)
        )
        new, trips, results = run(pairs, limit, carry, captures, rows, remaining_modes)
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
