"""Parameters of a network as one vector."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.public import public

__all__ = ["ParameterLayout"]


@public
@dataclass(frozen=True)
class ParameterLayout:
    """The order of a network's parameters in one vector.

    The leaves of the tree come one after the other, in the order of `jax.tree.leaves`, each in
    row-major order. For a multilayer perceptron these are all weight matrices and then all bias
    vectors.

    Attributes
    ----------
    like
        An example of the tree.
    fixed
        Values of numbers that stay as they are: an array of the size of the vector, NaN where a
        number is free.
    """

    like: Any
    fixed: np.ndarray | None = None

    @cached_property
    def _leaves(self) -> tuple[list[tuple[str, tuple[int, ...]]], Any]:
        leaves, structure = jax.tree_util.tree_flatten_with_path(self.like)
        return [(_name(path), np.shape(leaf)) for path, leaf in leaves], structure

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the leaves, by name."""
        return dict(self._leaves[0])

    @cached_property
    def size(self) -> int:
        """The number of all numbers."""
        return sum(int(np.prod(shape, dtype=int)) for shape in self.shapes.values())

    @cached_property
    def free(self) -> np.ndarray:
        """The places of the free numbers in the vector."""
        return np.arange(self.size) if self.fixed is None else np.flatnonzero(np.isnan(self.fixed))

    @cached_property
    def places(self) -> dict[str, slice]:
        """The places of the leaves in the vector, by name."""
        ends = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in self.shapes.values())])
        pairs = itertools.pairwise(ends)
        return dict(zip(self.shapes, (slice(int(a), int(b)) for a, b in pairs), strict=True))

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The number of the layer of each free number.

        A layer is the part of the tree that has weights and a bias; leaves without a common part
        are layers of their own.
        """
        parts = [name.rpartition("/")[0] or name for name in self.shapes]
        numbers = {part: i for i, part in enumerate(dict.fromkeys(parts))}
        layers = np.zeros(self.size, int)
        for part, place in zip(parts, self.places.values(), strict=True):
            layers[place] = numbers[part]
        return tuple(layers[self.free].tolist())

    @cached_property
    def columns(self) -> list[str]:
        """The names of all numbers, such as weight0 and bias0."""
        names: list[str] = []
        counts: dict[str, int] = {}
        for name, shape in self.shapes.items():
            kind = "weight" if name.endswith("weights") else "bias" if name.endswith("bias") else ""
            if not kind:
                names += [f"{name}[{i}]" for i in range(int(np.prod(shape, dtype=int)))]
                continue
            for _ in range(int(np.prod(shape, dtype=int))):
                names.append(f"{kind}{counts.get(kind, 0)}")
                counts[kind] = counts.get(kind, 0) + 1
        return names

    def vector(self, tree: Any) -> Any:
        """The vector of a tree."""
        leaves = jax.tree.leaves(tree)
        given = [np.shape(leaf) for leaf in leaves]
        if given != list(self.shapes.values()):
            raise ValueError(
                f"parameters: expected arrays of shapes {list(self.shapes.values())}, got {given}"
            )
        parts = [jnp.reshape(leaf, -1) for leaf in leaves]
        return jnp.concatenate(parts) if parts else jnp.zeros(0)

    def tree(self, vector: Any) -> Any:
        """The tree of a vector."""
        # The gradient of a split is one concatenation, that of slices a sum of padded parts. The
        # barriers keep XLA from computing its parts or itself again for each use.
        vector = lax.optimization_barrier(jnp.asarray(vector))
        parts = jnp.split(vector, [place.stop for place in self.places.values()])[:-1]
        parts = lax.optimization_barrier(parts)
        shapes = self.shapes.values()
        leaves = [jnp.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        return jax.tree.unflatten(self._leaves[1], leaves)

    def filled(self, free: Any) -> Any:
        """The vectors, with leading axes, whose free numbers are given."""
        if self.fixed is None:
            return free
        if not isinstance(free, jax.core.Tracer):
            free = np.asarray(free)
            kind = np.result_type(free, np.float32)
            whole = np.broadcast_to(self.fixed, (*free.shape[:-1], self.size)).astype(kind)
            whole[..., self.free] = free
            return whole
        return jnp.asarray(np.nan_to_num(self.fixed)).at[self.free.astype(np.int32)].set(free)

    def by_name(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """The arrays of vectors with leading axes, by name."""
        vectors = np.asarray(vectors)
        lead = vectors.shape[:-1]
        return {
            name: vectors[..., place].reshape((*lead, *self.shapes[name]))
            for name, place in self.places.items()
        }

    def fixing(self, values: Mapping[str, Any]) -> "ParameterLayout":
        """The layout in which some numbers are fixed.

        Parameters
        ----------
        values
            For names of leaves: a number or an array with the leaf's shape, NaN where a number
            stays free. For names of `columns`: a number.

        Raises
        ------
        ValueError
            If a name is unknown, a shape differs, a value is not a number or is infinite, or
            nothing stays free.
        """
        fixed = np.full(self.size, np.nan) if self.fixed is None else self.fixed.copy()
        for name, value in values.items():
            if name in self.places:
                place, shape = self.places[name], self.shapes[name]
            elif name in self.columns:
                number = self.columns.index(name)
                place, shape = slice(number, number + 1), ()
            else:
                raise ValueError(
                    f"fixed parameters: unknown name {name!r}; the names are "
                    f"{', '.join(self.places)}, and for one number {self.columns[0]} to "
                    f"{self.columns[-1]}"
                )
            try:
                array = np.asarray(value, float)
            except (TypeError, ValueError):
                array = np.asarray(np.inf)
            if np.isinf(array).any():
                raise ValueError(
                    f"fixed parameters: {name}: expected finite numbers, or NaN where a number "
                    f"stays free, got {value!r:.60}"
                )
            if array.shape not in ((), shape):
                raise ValueError(
                    f"fixed parameters: {name} has shape {shape}, got values of shape {array.shape}"
                )
            part = np.broadcast_to(array, shape).reshape(-1)
            fixed[place] = np.where(np.isnan(part), fixed[place], part)
        if not np.isnan(fixed).any():
            raise ValueError("fixed parameters: no number stays free")
        return ParameterLayout(self.like, fixed)

    def transferred(self, other: "ParameterLayout", vector: Any, start: Any = None) -> np.ndarray:
        """The vector of a network with the arrays of a smaller network.

        Arrays with the same name are copied to the leading corner. Weights from a new unit to an
        old unit are 0, so that added units of a layer do not change the function. Other new numbers
        come from `start`.

        Parameters
        ----------
        other
            The layout of the smaller network.
        vector
            Its parameters.
        start
            The vector of this layout from which new numbers are taken; zeros by default.

        Raises
        ------
        ValueError
            If no name is common, or an array has no place in its new shape.
        """
        common = [name for name in other.places if name in self.places]
        if not common:
            raise ValueError(
                f"transferred: expected names that {', '.join(other.places)} have in common with "
                f"{', '.join(self.places)}"
            )
        result = np.zeros(self.size) if start is None else np.array(start, float)
        for name in common:
            small, large = other.shapes[name], self.shapes[name]
            fits = len(small) == len(large) and all(
                a <= b for a, b in zip(small, large, strict=True)
            )
            if not fits:
                raise ValueError(f"transferred: {name} has shape {small}, which is not in {large}")
            values = result[self.places[name]].reshape(large)
            corner = tuple(map(slice, small))
            if len(small) > 1:
                values[(slice(None), *corner[1:])] = 0.0
            values[corner] = np.asarray(vector)[other.places[name]].reshape(small)
        return result


def _name(path: Sequence[Any]) -> str:
    """The name of a leaf, such as layer0/weights."""
    parts = [jax.tree_util.keystr((key,), simple=True) for key in path]
    if len(parts) == 2 and parts[0] in ("weights", "bias") and parts[1].isdigit():
        return f"layer{parts[1]}/{parts[0]}"
    return "/".join(parts) or "parameters"
