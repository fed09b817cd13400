"""NumPy's functions that arrange elements: shapes, joins, splits, grids."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..messages import describe
from ..node import Node
from ..operations import arranging, assembling, indexing, reductions, shaping
from ..operations.elementwise import power
from ..operations.operands import as_node
from ..operations.shaping import as_sizes

__all__ = ["SHAPES"]


def _atleast(ndim: int) -> Callable[..., Any]:
    def handler(*arrays: Any) -> Any:
        results = []
        for a in arrays:
            node = as_node(a)
            missing_axes = max(0, ndim - len(node.shape))
            results.append(shaping.reshape(node, (1,) * missing_axes + node.shape))
        return results[0] if len(results) == 1 else tuple(results)

    return handler


def _like(value: float) -> Callable[..., np.ndarray]:
    def handler(a: Any, shape: Any = None) -> np.ndarray:
        return np.full(a.shape if shape is None else shape, value, a.dtype)

    return handler


def _join(axis: int, ndim: int) -> Callable[..., Node]:
    def handler(tup: Any) -> Node:
        rows = _atleast(ndim)(*tup)
        return shaping.concatenate(rows if isinstance(rows, tuple) else (rows,), axis)

    return handler


def _column_stack(tup: Any) -> Node:
    columns = [as_node(a) for a in tup]
    return shaping.concatenate(
        [shaping.reshape(c, (c.size, 1)) if len(c.shape) < 2 else c for c in columns], 1
    )


def _split(split: Callable[..., Any]) -> Callable[..., list[Node]]:
    def handler(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
        node = as_node(ary)
        (a,) = reductions.normalise_axes(node, axis, "split")
        try:
            pieces = split(np.arange(node.shape[a]), indices_or_sections)
        except ValueError as error:
            raise ShapeError(f"split of {describe(node)}, shape {node.shape}: {error}") from None
        before = (slice(None),) * a
        return [
            indexing.index(node, (*before, slice(p[0], p[-1] + 1) if p.size else slice(0, 0)))
            for p in pieces
        ]

    return handler


def _hstack(tup: Any) -> Node:
    arrays = [as_node(a) for a in tup]
    return _join(0 if arrays and len(arrays[0].shape) < 2 else 1, 1)(arrays)


def _full_like(a: Any, fill_value: Any, shape: Any = None) -> Node:
    sizes = a.shape if shape is None else shape
    return assembling.filled(as_sizes(sizes, "full_like"), fill_value, a.dtype)


def _indices_from(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda arr, k=0: function(np.empty(arr.shape, bool), k)


def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0
) -> Node:
    return power(base, arranging.linspace(start, stop, num, endpoint))


SHAPES: dict[Callable[..., Any], Callable[..., Any]] = {
    np.reshape: lambda a, shape: shaping.reshape(a, shape),
    np.ravel: lambda a: indexing.ravel(a),
    np.transpose: lambda a, axes=None: shaping.transpose(a, axes),
    np.swapaxes: lambda a, axis1, axis2: shaping.swapaxes(a, axis1, axis2),
    np.moveaxis: lambda a, source, destination: shaping.moveaxis(a, source, destination),
    np.expand_dims: lambda a, axis: shaping.expand_dims(a, axis),
    np.squeeze: lambda a, axis=None: shaping.squeeze(a, axis),
    np.broadcast_to: lambda array, shape: shaping.broadcast_to(array, shape),
    np.concatenate: lambda arrays, axis=0: shaping.concatenate(arrays, axis),
    np.stack: lambda arrays, axis=0: shaping.stack(arrays, axis),
    np.vstack: _join(0, 2),
    np.hstack: _hstack,
    np.column_stack: _column_stack,
    np.split: _split(np.split),
    np.array_split: _split(np.array_split),
    np.repeat: lambda a, repeats, axis=None: shaping.repeat(a, repeats, axis),
    np.tile: lambda A, reps: shaping.tile(A, reps),
    np.flip: lambda m, axis=None: shaping.flip(m, axis),
    np.roll: lambda a, shift, axis=None: shaping.roll(a, shift, axis),
    np.diag: lambda v, k=0: shaping.diag(v, k),
    np.tril: lambda m, k=0: shaping.triangle("tril", m, k),
    np.triu: lambda m, k=0: shaping.triangle("triu", m, k),
    np.take: lambda a, indices, axis=None, mode="raise": indexing.take(a, indices, axis, mode),
    np.atleast_1d: _atleast(1),
    np.atleast_2d: _atleast(2),
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.atleast_3d: lambda *arrays: (
        arranging.atleast_3d(*arrays)
        if len(arrays) == 1
        else tuple(map(arranging.atleast_3d, arrays))
    ),
    np.dstack: lambda tup: shaping.concatenate([arranging.atleast_3d(a) for a in tup], 2),
    np.hsplit: lambda ary, indices_or_sections: _split(np.split)(
        ary, indices_or_sections, 0 if ary.ndim == 1 else 1
    ),
    np.vsplit: lambda ary, indices_or_sections: _split(np.split)(ary, indices_or_sections, 0),
    np.dsplit: lambda ary, indices_or_sections: _split(np.split)(ary, indices_or_sections, 2),
    np.append: lambda arr, values, axis=None: assembling.append(arr, values, axis),
    np.pad: lambda array, pad_width, mode="constant", constant_values=0: assembling.pad(
        array, pad_width, mode, constant_values
    ),
    np.block: lambda arrays: assembling.block(arrays),
    np.rot90: lambda m, k=1, axes=(0, 1): assembling.rot90(m, k, axes),
    np.full_like: _full_like,
    np.empty_like: lambda prototype, shape=None: np.zeros(
        prototype.shape if shape is None else shape, prototype.dtype
    ),
    np.fliplr: lambda m: shaping.flip(m, 1),
    np.flipud: lambda m: shaping.flip(m, 0),
    np.broadcast_arrays: arranging.broadcast_arrays,
    np.meshgrid: lambda *xi, copy=True, sparse=False, indexing="xy": arranging.meshgrid(
        *xi, indexing=indexing, sparse=sparse
    ),
    np.unstack: lambda x, axis=0: arranging.unstack(x, axis),
    np.rollaxis: lambda a, axis, start=0: arranging.rollaxis(a, axis, start),
    np.resize: lambda a, new_shape: arranging.resize(a, new_shape),
    np.diagflat: lambda v, k=0: arranging.diagflat(v, k),
    np.delete: lambda arr, obj, axis=None: arranging.delete(arr, obj, axis),
    np.linspace: lambda start, stop, num=50, endpoint=True, axis=0: arranging.linspace(
        start, stop, num, endpoint, axis
    ),
    np.logspace: _logspace,
    np.tril_indices_from: _indices_from(np.tril_indices_from),
    np.triu_indices_from: _indices_from(np.triu_indices_from),
    np.diag_indices_from: lambda arr: np.diag_indices_from(np.empty(arr.shape, bool)),
    np.fft.fftshift: lambda x, axes=None: arranging.fftshift(x, axes),
    np.fft.ifftshift: lambda x, axes=None: arranging.fftshift(x, axes, back=True),
}
