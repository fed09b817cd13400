"""One JAX primitive, through which programs of kinetograph are parts of other JAX programs.

JAX takes derivatives of a program and makes batches of it long after it was traced, in the
precision that is then in force, and cannot reverse loops whose length it does not know. So a call
of ours is one operation to it: `jax.jit` keeps it as it is, and every derivative and batch of it is
such an operation again, one that is made here, in our precision and with our loops' derivatives.

    Whole       the program itself
    Pushed      the tangents of its results, given those of its inputs (forward mode)
    Reversed    the cotangents of its inputs, given those of its results (reverse mode)
    Batched     the program for each row of its inputs

They nest: the Hessian of f is made of Pushed(Reversed(f)). Two that are made alike are equal, so
that what is compiled for one serves the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ..control.derivable import FORWARD, REVERSE
from ..lower import Scope
from ..precision import x64
from ..trips import Capacity

__all__ = ["Whole", "call", "outer_dtype"]

Tensors = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Whole:
    """A program: a function of a scope and of tensors, which gives the tensors of its results."""

    function: Callable[[Scope, Tensors], Sequence[Any]]
    cache: dict[Any, Any] = field(default_factory=dict)  # what was compiled, of this and made of it

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """The results, within derivatives, the innermost first; see `Scope`."""
        capacity = Capacity(final=True)
        recorded = REVERSE in modes
        scope = Scope(capacity=capacity, modes=modes, anchors=anchors, recorded=recorded)
        return tuple(self.function(scope, tensors))

    @property
    def root(self) -> "Whole":
        """The program itself."""
        return self


class _Made:
    """What is made of another program, `of`."""

    of: Any

    @cached_property
    def root(self) -> Whole:
        """The program that everything is made of."""
        return self.of.root


@dataclass(frozen=True)
class Pushed(_Made):
    """From inputs, and tangents of those at `wrt`, to the tangents of floating-point results."""

    of: Any
    inputs: int
    wrt: tuple[int, ...]

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """As that of `Whole`."""
        given, tangents = tensors[: self.inputs], tensors[self.inputs :]

        def function(anchor: Any, *xs: Any) -> Any:
            values = _replaced(given, self.wrt, xs)
            results = self.of.run((FORWARD, *modes), (anchor, *anchors), values)
            return tuple(r for r in results if _differentiable(r))

        xs = tuple(given[place] for place in self.wrt)
        zero = jnp.zeros(())
        return jax.jvp(function, (zero, *xs), (zero, *tangents))[1]


@dataclass(frozen=True)
class Reversed(_Made):
    """From inputs, and cotangents of the results at `given`, to cotangents of inputs at `wrt`."""

    of: Any
    inputs: int
    wrt: tuple[int, ...]
    given: tuple[int, ...]

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """As that of `Whole`."""
        values, cotangents = tensors[: self.inputs], tensors[self.inputs :]

        def function(anchor: Any, *xs: Any) -> Any:
            inputs = _replaced(values, self.wrt, xs)
            results = self.of.run((REVERSE, *modes), (anchor, *anchors), inputs)
            return tuple(results[place] for place in self.given)

        xs = tuple(values[place] for place in self.wrt)
        _, pull = jax.vjp(function, jnp.zeros(()), *xs)
        return pull(cotangents)[1:]


@dataclass(frozen=True)
class Batched(_Made):
    """A program for each row of inputs along their `axes`, of which some are None."""

    of: Any
    axes: tuple[int | None, ...]
    size: int

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """As that of `Whole`."""

        def row(*values: Any) -> Tensors:
            return self.of.run(modes, anchors, values)

        return jax.vmap(row, self.axes, axis_size=self.size)(*tensors)


def _replaced(values: Tensors, places: Sequence[int], others: Sequence[Any]) -> Tensors:
    result = list(values)
    for place, other in zip(places, others, strict=True):
        result[place] = other
    return tuple(result)


def _differentiable(tensor: Any) -> bool:
    return jnp.issubdtype(tensor.dtype, jnp.inexact)


def outer_dtype(dtype: np.dtype) -> np.dtype:
    """The type that the JAX program around us has for ours."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def call(program: Whole, tensors: Sequence[Any]) -> list[Any]:
    """The results of a program as part of a JAX program."""
    return CALL.bind(*tensors, program=program, linear=0)


# The primitive. In the last `linear` of its inputs the program is linear.
CALL = Primitive("kinetograph")
CALL.multiple_results = True


def _flat(program: Any) -> Callable[..., Tensors]:
    return lambda *tensors: program.run((), (), tensors)


@CALL.def_impl
def _evaluate(*tensors: Any, program: Any, linear: int) -> Any:
    cache = program.root.cache
    with x64():
        if program not in cache:
            cache[program] = jax.jit(_flat(program))
        return cache[program](*tensors)


@CALL.def_abstract_eval
def _types(*inputs: Any, program: Any, linear: int) -> Any:
    kinds = tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in inputs)
    cache, key = program.root.cache, (program, kinds)
    if key not in cache:
        with x64():
            results = jax.eval_shape(_flat(program), *kinds)
        cache[key] = [jax.core.ShapedArray(r.shape, r.dtype) for r in results]
    return cache[key]


def _lower(context: Any, *tensors: Any, program: Any, linear: int) -> Any:
    with x64():
        return mlir.lower_fun(_flat(program), multiple_results=True)(context, *tensors)


mlir.register_lowering(CALL, _lower)


def _push(primals: Any, tangents: Any, *, program: Any, linear: int) -> Any:
    results = CALL.bind(*primals, program=program, linear=linear)
    wrt = tuple(i for i, t in enumerate(tangents) if type(t) is not ad.Zero)
    given = len(primals) - linear
    if all(place >= given for place in wrt):
        full = map(ad.instantiate_zeros, tangents[given:])
        return results, CALL.bind(*primals[:given], *full, program=program, linear=linear)
    pushed = Pushed(program, len(primals), wrt)
    parts = [tangents[place] for place in wrt]
    found = iter(CALL.bind(*primals, *parts, program=pushed, linear=len(parts)))
    kinds = map(jax.typeof, results)
    return results, [
        next(found) if _differentiable(kind) else ad.Zero(kind.to_tangent_aval()) for kind in kinds
    ]


ad.primitive_jvps[CALL] = _push


def _transpose(cotangents: Any, *inputs: Any, program: Any, linear: int) -> Any:
    wanted = [i for i, value in enumerate(inputs) if ad.is_undefined_primal(value)]
    given = tuple(i for i, ct in enumerate(cotangents) if type(ct) is not ad.Zero)
    results: list[Any] = [None] * len(inputs)
    if not given:
        for place in wanted:
            results[place] = ad.Zero(inputs[place].aval.to_ct_aval())
        return results
    parts = [cotangents[place] for place in given]
    if isinstance(program, Pushed):
        # The transposed of the derivative, at the same point.
        kinds = _types(*map(jax.typeof, inputs[: program.inputs]), program=program.of, linear=0)
        floats = [i for i, kind in enumerate(kinds) if _differentiable(kind)]
        wrt = tuple(program.wrt[place - program.inputs] for place in wanted)
        places = tuple(floats[place] for place in given)
        back = Reversed(program.of, program.inputs, wrt, places)
        point = list(inputs[: program.inputs])
    else:
        back = Reversed(program, len(inputs), tuple(wanted), given)
        point = [
            jnp.zeros(v.aval.shape, v.aval.dtype) if ad.is_undefined_primal(v) else v
            for v in inputs
        ]
    found = CALL.bind(*point, *parts, program=back, linear=len(parts))
    for place, ct in zip(wanted, found, strict=True):
        results[place] = ct
    return results


ad.primitive_transposes[CALL] = _transpose


def _batch(inputs: Any, axes: Any, *, program: Any, linear: int) -> Any:
    places = tuple(a if isinstance(a, int) else None for a in axes)
    size = next(x.shape[a] for x, a in zip(inputs, places, strict=True) if a is not None)
    results = CALL.bind(*inputs, program=Batched(program, places, size), linear=linear)
    return results, [0] * len(results)


batching.primitive_batchers[CALL] = _batch
