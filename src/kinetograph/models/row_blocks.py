"""A log density as a sum over blocks of rows.

Devices share the blocks.

The n rows are `BLOCKS` blocks of equal length and a remainder:

    log p(u) = log p(u) of the other terms + log p(remainder | u) + sum_b log p(block b | u)

A block takes its own rows of unknowns that have rows, and its gradient by them is not added up.

The sum over blocks is a binary tree of pairs of neighbours. A device adds up its consecutive
blocks, which are a subtree, and all devices add up the sums of the devices. So the rounding of
value and gradient does not depend on the number of devices, a power of two. An evaluation exchanges
one value and one gradient of each device. With `is_fast`, a device evaluates its blocks together,
and the runtime adds up in an order of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..distributions.variable import Variable
from ..graph.lower import Environment, Scope
from ..graph.memory_maps import is_in_a_file
from ..graph.node import Data, Node
from ..graph.precision import x64
from ..graph.trips import Capacity
from .density import Density
from .row_steps import RowSteps
from .row_terms import RowTerms

if TYPE_CHECKING:
    from .model import Model

__all__ = ["BLOCKS", "BoundBlocks", "RowBlocks"]

BLOCKS = 64
_AXIS = "rows"


class RowBlocks(RowTerms):
    """Blocks of rows, and the devices that evaluate the blocks.

    Attributes
    ----------
    arguments, values
        The arguments of programs, and their values: the model's, and literal arrays with rows.
    last
        The density of the terms of the remainder.
    replicated
        The placement of a value that every device has.
    """

    def __init__(
        self,
        model: "Model",
        rows: Sequence[Data],
        devices: Sequence[Any],
        is_fast: bool,
        members: Sequence[Variable] = (),
    ) -> None:
        super().__init__(model.density, rows, rows[0].shape[0] // BLOCKS, members)
        self.last = self.of_rows(self.count - BLOCKS * self.size) if members else self.each
        self.is_fast = is_fast
        self.of_model = len(model.arguments)
        literal = [node for node in self.rows if node not in model.arguments]
        self.arguments = (*model.arguments, *literal)
        self.values = (*model.argument_values, *(node.value for node in literal))
        mesh = self.mesh = Mesh(np.array(devices), (_AXIS,))
        self.replicated = NamedSharding(mesh, PartitionSpec())
        self._by_rows = NamedSharding(mesh, PartitionSpec(_AXIS))

    @property
    def devices(self) -> tuple[Any, ...]:
        """The devices that share the blocks."""
        return tuple(self.mesh.devices.flat)

    @property
    def text(self) -> str:
        """All that a program depends on, for its key."""
        devices = [device.id for device in self.devices]
        rows = [self.arguments.index(node) for node in self.rows]
        members = [self.unknowns.index(v) for v in self.row_unknowns.members]
        digests = [sha256(np.ascontiguousarray(n.value)).hexdigest() for n in self._derived]
        return (
            f"rows {rows} of data, {members} of unknowns on devices {devices}, "
            f"fast {self.is_fast}, stored {self._stores}, derived {digests}"
        )

    @property
    def _derived(self) -> tuple[Data, ...]:
        """The arrays computed from data that are a part of the program."""
        return tuple(node for node in self.rest.derived if node not in self.arguments)

    @property
    def _stores(self) -> bool:
        """Whether values computed from data alone are stored."""
        by_node = dict(zip(self.arguments, self.values, strict=True))
        return not any(is_in_a_file(by_node[node]) for node in self.rows)

    @cached_property
    def steps(self) -> RowSteps:
        """The value and gradient of a block."""

        def evaluate(free: Any, other_values: Sequence[Any], rows: Sequence[Any]) -> Any:
            data = dict(
                zip([*self.other_arguments, *self.rows], [*other_values, *rows], strict=True)
            )
            results = self.each.value_and_gradient(free, data, Capacity(), adjusted=False)
            return results[:2]

        dtype = np.result_type(*(v.dtype for v in self.unknowns))
        free = jax.ShapeDtypeStruct((self.each.free_size,), dtype)
        by_node = dict(zip(self.arguments, self.values, strict=True))
        values_without_rows = [by_node[node] for node in self.other_arguments]
        blocks = [self._divided(by_node[node])[0] for node in self.rows]
        with x64():
            return RowSteps(evaluate, free, values_without_rows, blocks, self._stores)

    @property
    def other_arguments(self) -> tuple[Node, ...]:
        """The arguments that have no rows."""
        return tuple(node for node in self.arguments if node not in self.rows)

    def placements(self) -> tuple[Any, ...]:
        """The placement of the values of each argument, as `parts` returns them."""
        return self._for_parts(self.replicated, self._by_rows)

    def _for_parts(self, everywhere: Any, by_rows: Any) -> tuple[Any, ...]:
        of_rows = (by_rows, everywhere, by_rows, everywhere)
        return tuple(of_rows if node in self.rows else everywhere for node in self.arguments)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The values of the arguments as programs take them.

        Data by rows are the blocks, the remainder, arrays computed from the blocks (for the first
        data), and the number 1.
        """
        stored = dict.fromkeys(self.rows, ()) | {self.rows[0]: self.steps.stored}
        return tuple(
            (*self._divided(value), stored[node], np.int32(1)) if node in self.rows else value
            for node, value in zip(self.arguments, self.values, strict=True)
        )

    def _divided(self, value: Any) -> tuple[Any, Any]:
        end = BLOCKS * self.size
        return value[:end].reshape(BLOCKS, self.size, *value.shape[1:]), value[end:]

    def on_devices(self, function: Any, before: int, after: int) -> Any:
        """A function that each device computes, with its part of the data.

        `before` and `after` are the numbers of parameters before and after the data. Results are
        the same on all devices.
        """
        everywhere = PartitionSpec()
        of_data = self._for_parts(everywhere, PartitionSpec(_AXIS))
        specs = (*before * (everywhere,), of_data, *after * (everywhere,))
        return jax.shard_map(
            function, mesh=self.mesh, in_specs=specs, out_specs=everywhere, check_vma=False
        )

    def whole(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the model's arguments, from the part of a device."""

        def joined(blocks: Any, remainder: Any, stored: Any, once: Any) -> Any:
            every = jax.lax.all_gather(blocks, _AXIS, tiled=True)
            return jnp.concatenate([every.reshape(-1, *every.shape[2:]), remainder])

        every = [*zip(self.arguments, parts, strict=True)][: self.of_model]
        return tuple(joined(*part) if node in self.rows else part for node, part in every)

    def bound(self, parts: Sequence[Any]) -> "BoundBlocks":
        """The log density with the part of a device."""
        by_node = dict(zip(self.arguments, parts, strict=True))
        blocks, remainder, stored, once = zip(*(by_node[n] for n in self.rows), strict=True)
        data: Environment = {node: node.value for node in self._derived}
        data |= {node: by_node[node] for node in self.other_arguments}
        return BoundBlocks(self, data, blocks, remainder, stored[0], once[0])


@dataclass(frozen=True)
class BoundBlocks:
    """A log density of data in blocks, with methods of `Density`."""

    of: RowBlocks
    data: Environment  # without rows
    blocks: Sequence[Any]
    remainder: Sequence[Any]
    stored: Sequence[Any]
    once: Any  # the number 1, as an argument of the program

    def log_density(self, free: Any, data: Environment, *, scope: Scope | None = None) -> Any:
        """The log density of the free state."""

        def of_rows(density: Density, free: Any, data: Environment) -> Any:
            return (density.log_density(free, data, adjusted=density is self.of.rest),)

        def of_block(free: Any, rows: Sequence[Any], stored: Sequence[Any]) -> Any:
            return of_rows(self.of.each, free, self._with(rows))

        return self._sum(free, of_rows, of_block)[0]

    def value_and_gradient(
        self, free: Any, data: Environment, capacity: Capacity, *, adjusted: bool = True
    ) -> tuple[Any, Any, tuple[Any, ...]]:
        """The log density and its gradient."""
        steps, other_values = self.of.steps, [self.data[node] for node in self.of.other_arguments]

        def of_rows(density: Density, free: Any, data: Environment) -> Any:
            adjusts = adjusted and density is self.of.rest
            return density.value_and_gradient(free, data, capacity, adjusted=adjusts)[:2]

        def of_block(free: Any, rows: Sequence[Any], stored: Sequence[Any]) -> Any:
            return steps(free, other_values, rows, stored)

        return (*self._sum(free, of_rows, of_block), ())

    def _with(self, rows: Sequence[Any]) -> Environment:
        return {**self.data, **dict(zip(self.of.rows, rows, strict=True))}

    def _sum(self, free: Any, evaluate: Any, of_block: Any) -> Any:
        """The sum of the other terms, the remainder and all blocks."""
        of, parts = self.of, self.of.row_unknowns
        shared, by_row = parts.parted(free, of.count)
        end = of.size * BLOCKS

        def parted(total: Any, count: int) -> Any:
            """The numbers that are added up, and gradients by rows."""
            value, *gradient = total
            pairs = [parts.parted(slope, count) for slope in gradient]
            return (value, [pair[0] for pair in pairs]), [pair[1] for pair in pairs]

        def of_one(block: Any) -> Any:
            rows, stored, by_block = block
            return parted(of_block(parts.joined(shared, by_block), rows, stored), of.size)

        def of_all(trip: Any = 0, before: Any = ()) -> Any:
            summed, slopes = jax.lax.map(of_one, blocks)
            total = _tree_sum(jax.lax.all_gather(_tree_sum(summed), _AXIS))
            return total, jax.lax.all_gather(slopes, _AXIS, tiled=True)

        count = len(self.blocks[0])  # of this device
        first = jax.lax.axis_index(_AXIS) * count if by_row else 0
        by_block = [x[:end].reshape(BLOCKS, of.size, -1) for x in by_row]
        by_block = [jax.lax.dynamic_slice_in_dim(x, first, count) for x in by_block]
        blocks = (self.blocks, self.stored, by_block)
        if of.is_fast:
            summed, slopes = jax.vmap(of_one)(blocks)
            total = jax.lax.psum(jax.tree.map(lambda x: jnp.sum(x, 0), summed), _AXIS)
            slopes = jax.lax.all_gather(slopes, _AXIS, tiled=True)
        else:
            # The compiler does not know that the loop makes one trip. So it compiles the program
            # around the loop in the same way for any number of devices.
            nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(of_all))
            total, slopes = jax.lax.fori_loop(0, self.once, of_all, nothing)
        slopes = jax.tree.map(lambda x: x.reshape(end, -1), slopes)
        if end < of.count:
            free_rest = parts.joined(shared, [x[end:] for x in by_row])
            remainder = evaluate(of.last, free_rest, self._with(self.remainder))
            summed, last = parted(remainder, of.count - end)
            total = _added(total, summed)
            slopes = jax.tree.map(lambda *x: jnp.concatenate(x), slopes, last)
        value, gradients = total
        whole = [parts.joined(*pair) for pair in zip(gradients, slopes, strict=True)]
        return _added((value, *whole), tuple(evaluate(of.rest, free, self.data)))


def _tree_sum(tree: Any) -> Any:
    """Sums over the first axis by pairs of neighbours.

    The length of the axis is a power of two.
    """

    def of_array(x: Any) -> Any:
        while x.shape[0] > 1:
            x = x[0::2] + x[1::2]
        return x[0]

    return jax.tree.map(of_array, tree)


def _added(a: Any, b: Any) -> Any:
    return jax.tree.map(jnp.add, a, b)
