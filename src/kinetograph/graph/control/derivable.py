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

Integers and booleans have no derivative and are not kept unless the body's derivative needs them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

__all__ = ["FORWARD", "REVERSE", "Loop", "Modes", "run", "stack_bytes"]

REVERSE, FORWARD = "reverse", "forward"
Modes = tuple[str, ...]
Tensors = tuple[Any, ...]
Body = Callable[[Modes, Any, Tensors, Tensors, Tensors], tuple[Tensors, Tensors]]

_BUDGET = 2**26  # bytes of the buffers of one loop under the strategy "checkpoint"
_MOST = 2**31  # trips


@dataclass(frozen=True)
class Loop:
    """A loop as functions of flat tuples of tensors.

    `body(modes, alive, carry, captures, row)` gives the next carry and a row of results; in a batch
    it is also computed where `alive` is false, for nothing. `more(carry, captures)` says whether to
    go on, for ever where it is None. `length` is the number of rows of what
    the loop reads and writes row by row; `backwards` says that it does so from the last trip.
    """

    body: Body
    more: Callable[[Tensors, Tensors], Any] | None
    length: int
    results: tuple[jax.ShapeDtypeStruct, ...] = ()
    backwards: bool = False
    strategy: str = "stack"  # or checkpoint, forward


def run(
    loop: Loop, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Any, Tensors]:
    """The carry after the last trip, the number of trips, and the rows of results.

    Ends after `limit` trips at the latest. Rows beyond `length` are not kept, so the derivative is
    right only for at most `length` trips (for the strategy "stack").
    """
    carry, captures = tuple(map(jnp.asarray, carry)), tuple(map(jnp.asarray, captures))
    limit = jnp.asarray(limit, np.int32)
    if REVERSE not in modes:
        return _plain(loop, limit, carry, captures, rows, modes)
    rule = _reversed if modes[0] == REVERSE else _pushed
    return rule(loop, limit, carry, captures, rows, modes[1:])


def _plain(
    loop: Loop, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors, modes: Modes
) -> tuple[Tensors, Any, Tensors]:
    """The loop itself."""

    def more(state: tuple[Any, Tensors, Tensors]) -> Any:
        trip, carry, _ = state
        within = trip < limit
        return within if loop.more is None else within & loop.more(carry, captures)

    def body(state: tuple[Any, Tensors, Tensors]) -> tuple[Any, Tensors, Tensors]:
        trip, carry, results = state
        at = limit - 1 - trip if loop.backwards else trip
        row = tuple(_read(a, at) for a in rows)
        carry, result = loop.body(modes, more(state), carry, captures, row)
        results = tuple(_write(a, b, at) for a, b in zip(results, result, strict=True))
        return trip + 1, carry, results

    buffers = tuple(jnp.zeros((loop.length, *t.shape), t.dtype) for t in loop.results)
    trips, carry, results = lax.while_loop(more, body, (jnp.int32(0), carry, buffers))
    return carry, trips, results


def _read(rows: Any, at: Any) -> Any:
    starts = (at, *(np.int32(0),) * (rows.ndim - 1))
    row = lax.dynamic_slice(rows, starts, (1, *rows.shape[1:]), allow_negative_indices=False)
    return row.reshape(rows.shape[1:])


def _write(rows: Any, row: Any, at: Any) -> Any:
    starts = (at, *(np.int32(0),) * (rows.ndim - 1))
    return lax.dynamic_update_slice(rows, row[None], starts, allow_negative_indices=False)


# Reverse mode.
def _reversed(
    loop: Loop, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors, rest: Modes
) -> tuple[Tensors, Any, Tensors]:
    row_types = tuple(jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in rows)
    product = _Product(loop, _types(carry), _types(captures), row_types, rest)
    strategies = {"stack": _Stack, "checkpoint": _Checkpoints, "forward": _Jacobian}
    strategy = strategies[loop.strategy](loop, product, rest)

    @jax.custom_vjp
    def call(limit: Any, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return _plain(loop, limit, carry, captures, rows, ())

    def backward(kept: Any, cotangents: Any) -> Any:
        ct_carry, _, ct_results = cotangents
        given, ct = _floats(ct_carry), _floats(ct_results)
        of_carry, of_captures, of_rows = strategy.backward(kept, given, ct)
        return (
            None,
            _among(of_carry, product.carry),
            _among(of_captures, product.captures),
            _among(of_rows, product.rows),
        )

    call.defvjp(strategy.forward, backward, generic_batching=True)
    return call(limit, carry, captures, rows)


class _Product:
    """The vector-Jacobian product of a loop's body, traced once.

    A function of (alive, carry, captures, row, cotangents of the new carry, cotangents of the
    result), floating-point parts only among cotangents, which gives those of carry, captures, row.
    """

    def __init__(
        self, loop: Loop, carry: Tensors, captures: Tensors, rows: Tensors, rest: Modes
    ) -> None:
        self.carry, self.captures, self.rows = carry, captures, rows

        def product(alive: Any, *tensors: Tensors) -> Any:
            *parts, ct_carry, ct_result = tensors

            def differentiable(*floats: Tensors) -> Any:
                inputs = (_merged(f, part) for f, part in zip(floats, parts, strict=True))
                new, result = loop.body((REVERSE, *rest), alive, *inputs)
                return _floats(new), _floats(result)

            _, pull = jax.vjp(differentiable, *map(_floats, parts))
            return pull((ct_carry, ct_result))

        flag = jax.ShapeDtypeStruct((), np.bool_)
        self.jaxpr: ClosedJaxpr = jax.make_jaxpr(product)(
            flag, carry, captures, rows, _floats(carry), _floats(loop.results)
        )
        self.evaluate = jaxpr_as_fun(self.jaxpr)
        counts = [len(carry), len(captures), len(rows)]
        used = _used(self.jaxpr.jaxpr)[1:]
        ends = np.cumsum(counts)
        self.needs_carry = used[: ends[0]]
        self.needs_row = used[ends[1] : ends[2]]
        self._sizes = [len(_floats(part)) for part in (carry, captures, rows)]

    def __call__(self, alive: Any, *parts: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        flat = iter(self.evaluate(alive, *(leaf for part in parts for leaf in part)))
        a, b, c = (tuple(next(flat) for _ in range(size)) for size in self._sizes)
        return a, b, c


class _Stack:
    """Keep what the backward pass needs of every trip."""

    def __init__(self, loop: Loop, product: _Product, rest: Modes) -> None:
        self.loop, self.product, self.rest = loop, product, rest

    def forward(self, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        loop, needed = self.loop, self.product.needs_carry
        kept_types = tuple(t for t, n in zip(self.product.carry, needed, strict=True) if n)

        def body(modes: Modes, alive: Any, carry: Tensors, captures: Tensors, row: Tensors) -> Any:
            new, result = loop.body(modes, alive, carry, captures, row)
            return new, (*result, *(c for c, n in zip(carry, needed, strict=True) if n))

        recorded = replace(loop, body=body, results=(*loop.results, *kept_types))
        new, trips, results = run(recorded, limit, carry, captures, rows, self.rest)
        count = len(loop.results)
        kept_rows = tuple(r for r, n in zip(rows, self.product.needs_row, strict=True) if n)
        kept = (trips, captures, results[count:], kept_rows)
        return (new, trips, results[:count]), kept

    def backward(self, kept: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        trips, captures, stack, kept_rows = kept
        product = self.product
        needed, row_needed = product.needs_carry, product.needs_row
        widths = len(stack), len(kept_rows)
        count = len(ct_carry)

        def body(modes: Modes, alive: Any, cts: Tensors, captures: Tensors, row: Tensors) -> Any:
            carry = _filled(row[: widths[0]], product.carry, needed)
            own = _filled(row[widths[0] : sum(widths)], product.rows, row_needed)
            of_carry, of_captures, of_row = product(
                alive, carry, captures, own, cts[:count], row[sum(widths) :]
            )
            sums = (a + b for a, b in zip(cts[count:], of_captures, strict=True))
            return (*of_carry, *sums), of_row

        down = Loop(
            body,
            None,
            self.loop.length,
            _floats(product.rows),
            backwards=not self.loop.backwards,
        )
        zeros = tuple(jnp.zeros(t.shape, t.dtype) for t in _floats(product.captures))
        limit = jnp.minimum(trips, self.loop.length)
        cts, _, of_rows = run(
            down, limit, (*ct_carry, *zeros), captures, (*stack, *kept_rows, *ct_results), self.rest
        )
        return cts[:count], cts[count:], of_rows


class _Checkpoints:
    """Keep nothing but the start; the backward pass runs the loop again, in segments.

    A segment of more than c trips is cut into c parts whose starts are kept in a first run over
    it; the last level keeps every trip. With c slots on each of d levels c^d trips are possible.
    """

    def __init__(self, loop: Loop, product: _Product, rest: Modes) -> None:
        self.loop, self.product, self.rest = loop, product, rest
        size = sum(math.prod(t.shape) * t.dtype.itemsize for t in product.carry) or 1
        self.levels, self.slots = 3, _slots(3)
        while self.levels < 8 and self.levels * self.slots * size > _BUDGET:
            self.levels += 1
            self.slots = _slots(self.levels)

    def forward(self, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        new, trips, results = run(self.loop, limit, carry, captures, rows, self.rest)
        return (new, trips, results), (trips, carry, captures)

    def backward(self, kept: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        trips, carry, captures = kept
        zeros = tuple(jnp.zeros(t.shape, t.dtype) for t in _floats(self.product.captures))
        cts = self._segment(self.levels, carry, captures, trips, (*ct_carry, *zeros))
        count = len(ct_carry)
        return cts[:count], cts[count:], ()

    def _steps(self, modes: Modes, carry: Tensors, captures: Tensors, count: Any) -> Tensors:
        """The carry some trips later."""
        loop = replace(self.loop, more=None, strategy="checkpoint")
        return run(loop, count, carry, captures, (), modes)[0]

    def _segment(
        self, level: int, carry: Tensors, captures: Tensors, trips: Any, cts: Tensors
    ) -> Tensors:
        """The cotangents at the start of a segment, given those at its end."""
        if level == 1:
            return self._last_level(carry, captures, trips, cts)
        stride = jnp.maximum((trips + self.slots - 1) // self.slots, 1)
        parts = (trips + stride - 1) // stride
        amount = len(captures)

        def up(modes: Modes, alive: Any, carry: Tensors, outer: Tensors, row: Tensors) -> Any:
            *captures, stride = outer
            steps = jnp.where(alive, stride, 0)
            return self._steps(modes, carry, tuple(captures), steps), carry

        def down(modes: Modes, alive: Any, state: Tensors, outer: Tensors, row: Tensors) -> Any:
            left, *cts = state
            captures, stride = outer[:amount], outer[amount]
            # All parts are full but the last, which is the first one here.
            part = jnp.where(alive, left - (left - 1) // stride * stride, 0)
            inner = self._within(modes)
            return (left - part, *inner._segment(level - 1, row, captures, part, tuple(cts))), ()

        outer = (*captures, stride)
        first = Loop(up, None, self.slots, _types(carry))
        starts = run(first, parts, carry, outer, (), self.rest)[2]
        second = Loop(down, None, self.slots, backwards=True)
        state, _, _ = run(second, parts, (trips, *cts), outer, starts, self.rest)
        return state[1:]

    def _within(self, modes: Modes) -> "_Checkpoints":
        """The same strategy inside a loop for which other derivatives are left."""
        if modes == self.rest:
            return self
        product = self.product
        again = _Product(self.loop, product.carry, product.captures, product.rows, modes)
        return _Checkpoints(self.loop, again, modes)

    def _last_level(self, carry: Tensors, captures: Tensors, trips: Any, cts: Tensors) -> Tensors:
        loop = replace(self.loop, more=None, length=self.slots, strategy="stack")
        stack = _Stack(loop, self.product, self.rest)
        _, kept = stack.forward(trips, carry, captures, ())
        count = len(_floats(carry))
        of_carry, of_captures, _ = stack.backward(kept, cts[:count], ())
        sums = (a + b for a, b in zip(cts[count:], of_captures, strict=True))
        return (*of_carry, *sums)


def _slots(levels: int) -> int:
    return math.ceil(_MOST ** (1 / levels))


class _Jacobian:
    """Push a tangent of every input number through the loop; nothing is kept of the trips."""

    def __init__(self, loop: Loop, product: _Product, rest: Modes) -> None:
        self.loop, self.product, self.rest = loop, product, rest

    def forward(self, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        parts = (carry, captures)

        def differentiable(*floats: Tensors) -> Any:
            inputs = (_merged(f, part) for f, part in zip(floats, parts, strict=True))
            new, _, _ = run(self.loop, limit, *inputs, rows, (FORWARD, *self.rest))
            return _floats(new)

        jacobian = jax.jacfwd(differentiable, argnums=(0, 1))(*map(_floats, parts))
        new, trips, results = run(self.loop, limit, carry, captures, rows, self.rest)
        return (new, trips, results), jacobian

    def backward(self, jacobian: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        def pulled(place: int) -> Tensors:
            kinds = (self.product.carry, self.product.captures)[place]
            sums = []
            for i in range(len(_floats(kinds))):
                terms = (
                    jnp.tensordot(ct, row[place][i], axes=ct.ndim)
                    for ct, row in zip(ct_carry, jacobian, strict=True)
                )
                sums.append(sum(terms))
            return tuple(sums)

        return pulled(0), pulled(1), ()


# Forward mode, where a reverse one follows.
def _pushed(
    loop: Loop, limit: Any, carry: Tensors, captures: Tensors, rows: Tensors, rest: Modes
) -> tuple[Tensors, Any, Tensors]:
    counts = len(carry), len(captures), len(rows), len(loop.results)

    def body(modes: Modes, alive: Any, carry: Tensors, captures: Tensors, row: Tensors) -> Any:
        parts = (carry[: counts[0]], captures[: counts[1]], row[: counts[2]])
        tangents = (carry[counts[0] :], captures[counts[1] :], row[counts[2] :])

        def differentiable(*floats: Tensors) -> Any:
            inputs = (_merged(f, part) for f, part in zip(floats, parts, strict=True))
            new, result = loop.body((FORWARD, *modes), alive, *inputs)
            return (_floats(new), _floats(result)), (new, result)

        _, (d_new, d_result), (new, result) = jax.jvp(
            differentiable, tuple(map(_floats, parts)), tangents, has_aux=True
        )
        return (*new, *d_new), (*result, *d_result)

    more = loop.more
    pairs = replace(
        loop,
        body=body,
        more=None if more is None else lambda c, k: more(c[: counts[0]], k[: counts[1]]),
        results=(*loop.results, *_floats(loop.results)),
    )

    @jax.custom_jvp
    def call(limit: Any, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        return run(loop, limit, carry, captures, rows, rest)

    @call.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        limit, *parts = primals
        inputs = (
            (*part, *(t for t, p in zip(ts, part, strict=True) if _is_float(p)))
            for part, ts in zip(parts, tangents[1:], strict=True)
        )
        new, trips, results = run(pairs, limit, *inputs, rest)
        d_new, d_results = new[counts[0] :], results[counts[3] :]
        new, results = new[: counts[0]], results[: counts[3]]
        tangent = (_with_zeros(d_new, new), _zero(trips), _with_zeros(d_results, results))
        return (new, trips, results), tangent

    return call(limit, carry, captures, rows)


# Flat tuples.
def _is_float(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _floats(tensors: Sequence[Any]) -> Tensors:
    return tuple(t for t in tensors if _is_float(t))


def _types(tensors: Sequence[Any]) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tensors)


def _merged(floats: Tensors, everything: Tensors) -> Tensors:
    """`everything` with its floating-point parts replaced."""
    rest = iter(floats)
    return tuple(next(rest) if _is_float(x) else x for x in everything)


def _among(floats: Tensors, kinds: Tensors) -> tuple[Any, ...]:
    """Cotangents in their places, None for what has none."""
    rest = iter(floats)
    return tuple(next(rest, None) if _is_float(kind) else None for kind in kinds)


def _filled(kept: Tensors, kinds: Tensors, needed: Sequence[bool]) -> Tensors:
    """What was kept in its places; zeros, which nobody reads, in the others."""
    rest = iter(kept)
    return tuple(
        next(rest) if n else jnp.zeros(kind.shape, kind.dtype)
        for kind, n in zip(kinds, needed, strict=True)
    )


def _zero(x: Any) -> np.ndarray:
    return np.zeros(x.shape, jax.dtypes.float0)


def _with_zeros(tangents: Tensors, values: Tensors) -> Tensors:
    rest = iter(tangents)
    return tuple(next(rest) if _is_float(v) else _zero(v) for v in values)


def _used(jaxpr: Any) -> list[bool]:
    """Which inputs of a program its outputs depend on."""
    live = {id(v) for v in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        made = [id(v) in live for v in equation.outvars]
        if not any(made) and not equation.effects:
            continue
        inner = equation.params.get("jaxpr") if equation.primitive.name in ("jit", "pjit") else None
        if inner is not None and not equation.effects:
            reads = _used_for(inner.jaxpr, made)
        else:
            reads = [True] * len(equation.invars)
        live.update(id(v) for v, r in zip(equation.invars, reads, strict=True) if r)
    return [id(v) in live for v in jaxpr.invars]


def _used_for(jaxpr: Any, wanted: Sequence[bool]) -> list[bool]:
    outputs = [v for v, w in zip(jaxpr.outvars, wanted, strict=True) if w]
    return _used(jaxpr.replace(outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names()))


def stack_bytes(loop_carry: Sequence[Any], length: int) -> int:
    """The size of the rows that the backward pass keeps."""
    return length * sum(math.prod(t.shape) * t.dtype.itemsize for t in loop_carry)
