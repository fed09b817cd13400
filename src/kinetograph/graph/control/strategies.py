"""Strategies for the values of all trips in the backward pass.

    Stack         stores the values that the derivative of the body needs, for every trip
    Checkpoints   stores the start only, and runs the loop again, in segments
    Jacobian      stores nothing, and propagates a tangent of every input number through the loop

Each strategy has two methods. `forward` runs the loop and returns its results and the stored
values. `backward` returns the cotangents of carry, captures and rows.

Reference: Griewank & Walther (2008), Evaluating derivatives, SIAM, chapter 12 (checkpoints).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from .differentiable_loop import FORWARD, After, Loop, Modes, Product, Strategy, run
from .residuals import Residuals
from .tensor_tuples import Tensor, Tensors, bytes_of, filled, merged, picked, types_of

__all__ = ["STRATEGIES", "Checkpoints", "Jacobian", "Stack"]

_BUDGET = 2**26  # bytes of the buffers of one loop under the strategy "checkpoint"


class Stack:
    """Store the values that the backward pass needs, for every trip."""

    def __init__(self, loop: Loop, product: Product, remaining_modes: Modes) -> None:
        self.loop, self.product, self.remaining_modes = loop, product, remaining_modes
        carry_needs = zip(product.carry, product.needs_carry, strict=True)
        self.row_bytes = bytes_of(kind for kind, needed in carry_needs if needed)
        self.residuals = product.residuals
        if self.residuals is not None:
            if self.residuals.worth(self.row_bytes, loop.length, _BUDGET):
                self.row_bytes = bytes_of(self.residuals.types)
            else:
                self.residuals = None
        if loop.note is not None:
            loop.note(loop.length * self.row_bytes)

    def forward(self, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        if self.residuals is not None:
            return self._with_residuals(self.residuals, limit, carry, captures, rows)
        loop, needed = self.loop, self.product.needs_carry
        kept_types = tuple(t for t, n in zip(self.product.carry, needed, strict=True) if n)

        def body(
            modes: Modes, alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors
        ) -> After:
            new, result = loop.body(modes, alive, carry, captures, row)
            return new, (*result, *(c for c, n in zip(carry, needed, strict=True) if n))

        recorded = replace(loop, body=body, results=(*loop.results, *kept_types))
        new, trips, results = run(recorded, limit, carry, captures, rows, self.remaining_modes)
        count = len(loop.results)
        kept_rows = tuple(r for r, n in zip(rows, self.product.needs_row, strict=True) if n)
        stored = (trips, captures, results[count:], kept_rows)
        return (new, trips, results[:count]), stored

    def _with_residuals(
        self, residuals: Residuals, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors
    ) -> Any:
        loop, width = self.loop, len(carry)

        def body(
            modes: Modes, alive: Tensor, carry: Tensors, captures: Tensors, row: Tensors
        ) -> After:
            outputs, stored = residuals.forward(alive, carry, captures, row)
            return outputs[:width], (*outputs[width:], *stored)

        recorded = replace(loop, body=body, results=(*loop.results, *residuals.types))
        new, trips, results = run(recorded, limit, carry, captures, rows, self.remaining_modes)
        count = len(loop.results)
        stored = trips, captures, results[count:], tuple(rows[i] for i in residuals.rows)
        return (new, trips, results[:count]), stored

    def backward(self, stored: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        trips, captures, stack, kept_rows = stored
        product, residuals = self.product, self.residuals
        needed, row_needed = product.needs_carry, product.needs_row
        widths = len(stack), len(kept_rows)
        count = len(ct_carry)

        def body(
            modes: Modes, alive: Tensor, cts: Tensors, captures: Tensors, row: Tensors
        ) -> After:
            if residuals is not None:
                cotangents = residuals.second(
                    alive,
                    *row[: widths[0]],
                    *captures,
                    *row[widths[0] : sum(widths)],
                    *cts[:count],
                    *row[sum(widths) :],
                )
                of_carry, of_captures, of_row = product.split(cotangents)
                sums = (a + b for a, b in zip(cts[count:], of_captures, strict=True))
                return (*of_carry, *sums), of_row
            carry = filled(row[: widths[0]], product.carry, needed)
            row_values = filled(row[widths[0] : sum(widths)], product.rows, row_needed)
            of_carry, of_captures, of_row = product(
                alive, carry, captures, row_values, cts[:count], row[sum(widths) :]
            )
            sums = (a + b for a, b in zip(cts[count:], of_captures, strict=True))
            return (*of_carry, *sums), of_row

        backward_loop = Loop(
            body,
            None,
            self.loop.length,
            product.moving(2),
            backwards=not self.loop.backwards,
            strategy=Stack,
        )
        row_inputs = (*stack, *kept_rows, *ct_results, *product.moving(2))
        limit = jnp.minimum(trips, self.loop.length) if row_inputs else trips
        cts, _, of_rows = run(
            backward_loop,
            limit,
            (*ct_carry, *product.still()),
            captures,
            (*stack, *kept_rows, *ct_results),
            self.remaining_modes,
        )
        return cts[:count], cts[count:], of_rows


class Checkpoints:
    """Store the start only, and run the loop again in segments.

    A segment of more than c trips is cut into c parts, and a first run over the segment stores the
    starts of the parts. The last level stores every trip. With c slots on each of d levels, c^d
    trips are possible.
    """

    def __init__(self, loop: Loop, product: Product, remaining_modes: Modes) -> None:
        self.loop, self.product, self.remaining_modes = loop, product, remaining_modes
        size = bytes_of(product.carry) or 1
        self.levels, self.slots = 3, _slots(3, loop.most)
        while self.levels < 8 and self.levels * self.slots * size > _BUDGET:
            self.levels += 1
            self.slots = _slots(self.levels, loop.most)
        if loop.note is not None:
            loop.note(self.levels * self.slots * size)

    def forward(self, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        new, trips, results = run(self.loop, limit, carry, captures, rows, self.remaining_modes)
        return (new, trips, results), (trips, carry, captures)

    def backward(self, stored: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        trips, carry, captures = stored
        start = (*ct_carry, *self.product.still())
        cts = self._segment(self.levels, carry, captures, trips, start)
        count = len(ct_carry)
        return cts[:count], cts[count:], ()

    def _steps(self, modes: Modes, carry: Tensors, captures: Tensors, count: Tensor) -> Tensors:
        """The carry after `count` more trips."""
        loop = replace(self.loop, more=None, strategy=Checkpoints)
        return run(loop, count, carry, captures, (), modes)[0]

    def _segment(
        self, level: int, carry: Tensors, captures: Tensors, trips: Tensor, cts: Tensors
    ) -> Tensors:
        """Cotangents at the start of a segment from those at its end."""
        if level == 1:
            return self._last_level(carry, captures, trips, cts)
        stride = jnp.maximum((trips + self.slots - 1) // self.slots, 1)
        parts = (trips + stride - 1) // stride
        capture_count = len(captures)

        def keep_start(
            modes: Modes, alive: Tensor, carry: Tensors, outer: Tensors, row: Tensors
        ) -> After:
            *captures, stride = outer
            steps = jnp.where(alive, stride, 0)
            return self._steps(modes, carry, tuple(captures), steps), carry

        def go_back(
            modes: Modes, alive: Tensor, state: Tensors, outer: Tensors, row: Tensors
        ) -> After:
            trips_left, *cts = state
            captures, stride = outer[:capture_count], outer[capture_count]
            # All parts are full except the last one, which this loop reaches first.
            part = jnp.where(alive, trips_left - (trips_left - 1) // stride * stride, 0)
            inner = self._within(modes)
            return (
                trips_left - part,
                *inner._segment(level - 1, row, captures, part, tuple(cts)),
            ), ()

        outer = (*captures, stride)
        forward_loop = Loop(
            keep_start, None, self.slots, types_of(carry), strategy=Stack, live=self.loop.live
        )
        starts = run(forward_loop, parts, carry, outer, (), self.remaining_modes)[2]
        backward_loop = Loop(go_back, None, self.slots, backwards=True, strategy=Stack)
        state, _, _ = run(backward_loop, parts, (trips, *cts), outer, starts, self.remaining_modes)
        return state[1:]

    def _within(self, modes: Modes) -> "Checkpoints":
        """The same strategy for a loop with other remaining modes."""
        if modes == self.remaining_modes:
            return self
        product = self.product
        product_of_modes = Product(self.loop, product.carry, product.captures, product.rows, modes)
        return Checkpoints(self.loop, product_of_modes, modes)

    def _last_level(
        self, carry: Tensors, captures: Tensors, trips: Tensor, cts: Tensors
    ) -> Tensors:
        loop = replace(self.loop, more=None, length=self.slots, strategy=Stack)
        stack = Stack(loop, self.product, self.remaining_modes)
        _, stored = stack.forward(trips, carry, captures, ())
        count = len(self.product.moving(0))
        of_carry, of_captures, _ = stack.backward(stored, cts[:count], ())
        sums = (a + b for a, b in zip(cts[count:], of_captures, strict=True))
        return (*of_carry, *sums)


def _slots(levels: int, most: int) -> int:
    return max(math.ceil(most ** (1 / levels)), 2)


class Jacobian:
    """Propagate a tangent of every input number; store no trips."""

    def __init__(self, loop: Loop, product: Product, remaining_modes: Modes) -> None:
        self.loop, self.product, self.remaining_modes = loop, product, remaining_modes

    def forward(self, limit: Tensor, carry: Tensors, captures: Tensors, rows: Tensors) -> Any:
        parts, masks = (carry, captures), self.product.masks[:2]

        def differentiable(*differentiable_values: Tensors) -> Any:
            new_carry, new_captures = map(merged, differentiable_values, parts, masks)
            modes = (FORWARD, *self.remaining_modes)
            new, _, _ = run(self.loop, limit, new_carry, new_captures, rows, modes)
            return picked(new, masks[0])

        jacobian = jax.jacfwd(differentiable, argnums=(0, 1))(*map(picked, parts, masks))
        new, trips, results = run(self.loop, limit, carry, captures, rows, self.remaining_modes)
        return (new, trips, results), jacobian

    def backward(self, jacobian: Any, ct_carry: Tensors, ct_results: Tensors) -> Any:
        def pulled(place: int) -> Tensors:
            sums: list[Any] = []
            for i in range(len(self.product.moving(place))):
                terms = (
                    jnp.tensordot(ct, row[place][i], axes=ct.ndim)
                    for ct, row in zip(ct_carry, jacobian, strict=True)
                )
                sums.append(sum(terms))
            return tuple(sums)

        return pulled(0), pulled(1), ()


STRATEGIES: dict[str, Callable[[Loop, Product, Modes], Strategy]] = {
    "stack": Stack,
    "checkpoint": Checkpoints,
    "forward": Jacobian,
}
