"""The JAX primitive that embeds kinetograph's programs in other JAX programs.

JAX differentiates and batches a program long after it was traced, in the precision that is set at
that time, and cannot reverse loops of unknown length. So a call of a kinetograph program is a
single operation for JAX. `jax.jit` keeps it as it is. Every derivative and batch of it is again a
single operation, made here in kinetograph's precision and with the derivatives of its loops.

    Whole       the program itself
    Pushed      tangents of the results from tangents of the inputs (forward mode)
    Reversed    cotangents of the inputs from cotangents of the results (reverse mode)
    Batched     the program for each row of its inputs

They nest: the Hessian of f is computed by Pushed(Reversed(f)). Two transformed programs that are
made in the same way are equal, so that a program compiled for one is used for both.
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

from ..control.differentiable_loop import FORWARD, REVERSE
from ..lower import Scope
from ..precision import x64
from ..trips import Capacity

__all__ = ["Whole", "call", "outer_dtype"]

Tensors = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Whole:
    """A program: a function from a scope and tensors to result tensors."""

    function: Callable[[Scope, Tensors], Sequence[Any]]
    cache: dict[Any, Any] = field(default_factory=dict)  # compiled programs, also of transforms

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """Compute the results inside derivatives, the innermost first; see `Scope`."""
        capacity = Capacity(final=True)
        recorded = REVERSE in modes
        scope = Scope(capacity=capacity, modes=modes, anchors=anchors, recorded=recorded)
        return tuple(self.function(scope, tensors))

    @property
    def root(self) -> "Whole":
        """The program itself."""
        return self


class _Transformed:
    """A program that is a transformation of another program, `of`."""

    of: Any

    @cached_property
    def root(self) -> Whole:
        """The original program, without transformations."""
        return self.of.root


@dataclass(frozen=True)
class Pushed(_Transformed):
    """The forward derivative of a program.

    Its arguments are the inputs, and the tangents of the inputs at `wrt`. It returns the tangents
    of the floating-point results.
    """

    of: Any
    inputs: int
    wrt: tuple[int, ...]

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """Compute the results inside derivatives; see `Whole.run`."""
        inputs, tangents = tensors[: self.inputs], tensors[self.inputs :]

        def function(anchor: Any, *xs: Any) -> Any:
            values = _replaced(inputs, self.wrt, xs)
            results = self.of.run((FORWARD, *modes), (anchor, *anchors), values)
            return tuple(r for r in results if _differentiable(r))

        xs = tuple(inputs[place] for place in self.wrt)
        zero = jnp.zeros(())
        return jax.jvp(function, (zero, *xs), (zero, *tangents))[1]


@dataclass(frozen=True)
class Reversed(_Transformed):
    """The reverse derivative of a program.

    Its arguments are the inputs, and the cotangents of the results at `given`. It returns the
    cotangents of the inputs at `wrt`.
    """

    of: Any
    inputs: int
    wrt: tuple[int, ...]
    given: tuple[int, ...]

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """Compute the results inside derivatives; see `Whole.run`."""
        given_inputs, cotangents = tensors[: self.inputs], tensors[self.inputs :]

        def function(anchor: Any, *xs: Any) -> Any:
            inputs = _replaced(given_inputs, self.wrt, xs)
            results = self.of.run((REVERSE, *modes), (anchor, *anchors), inputs)
            return tuple(results[place] for place in self.given)

        xs = tuple(given_inputs[place] for place in self.wrt)
        _, pull = jax.vjp(function, jnp.zeros(()), *xs)
        return pull(cotangents)[1:]


@dataclass(frozen=True)
class Batched(_Transformed):
    """A program for each row of the inputs along their `axes`.

    An input whose axis is None is the same for all rows.
    """

    of: Any
    axes: tuple[int | None, ...]
    size: int

    def run(self, modes: tuple[str, ...], anchors: Tensors, tensors: Tensors) -> Tensors:
        """Compute the results inside derivatives; see `Whole.run`."""

        def row(*values: Any) -> Tensors:
            return self.of.run(modes, anchors, values)

        return jax.vmap(row, self.axes, axis_size=self.size)(*tensors)


def _replaced(values: Tensors, places: Sequence[int], replacements: Sequence[Any]) -> Tensors:
    result = list(values)
    for place, replacement in zip(places, replacements, strict=True):
        result[place] = replacement
    return tuple(result)


def _differentiable(tensor: Any) -> bool:
    return jnp.issubdtype(tensor.dtype, jnp.inexact)


def outer_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the surrounding JAX program for a dtype of kinetograph."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def call(program: Whole, tensors: Sequence[Any]) -> list[Any]:
    """Call a program as a part of the surrounding JAX program."""
    return CALL.bind(*tensors, program=program, linear=0)


# The primitive. The program is linear in the last `linear` of its inputs.
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
    nonlinear = len(primals) - linear
    if all(place >= nonlinear for place in wrt):
        full = map(ad.instantiate_zeros, tangents[nonlinear:])
        return results, CALL.bind(*primals[:nonlinear], *full, program=program, linear=linear)
    pushed = Pushed(program, len(primals), wrt)
    nonzero = [tangents[place] for place in wrt]
    pushed_tangents = iter(CALL.bind(*primals, *nonzero, program=pushed, linear=len(nonzero)))
    kinds = map(jax.typeof, results)
    return results, [
        next(pushed_tangents) if _differentiable(kind) else ad.Zero(kind.to_tangent_aval())
        for kind in kinds
    ]


ad.primitive_jvps[CALL] = _push


def _transpose(cotangents: Any, *inputs: Any, program: Any, linear: int) -> Any:
    linear_places = [i for i, value in enumerate(inputs) if ad.is_undefined_primal(value)]
    nonzero = tuple(i for i, ct in enumerate(cotangents) if type(ct) is not ad.Zero)
    results: list[Any] = [None] * len(inputs)
    if not nonzero:
        for place in linear_places:
            results[place] = ad.Zero(inputs[place].aval.to_ct_aval())
        return results
    nonzero_cotangents = [cotangents[place] for place in nonzero]
    if isinstance(program, Pushed):
        # The transpose of the derivative, at the same point.
        kinds = _types(*map(jax.typeof, inputs[: program.inputs]), program=program.of, linear=0)
        floats = [i for i, kind in enumerate(kinds) if _differentiable(kind)]
        wrt = tuple(program.wrt[place - program.inputs] for place in linear_places)
        places = tuple(floats[place] for place in nonzero)
        back = Reversed(program.of, program.inputs, wrt, places)
        point = list(inputs[: program.inputs])
    else:
        back = Reversed(program, len(inputs), tuple(linear_places), nonzero)
        point = [
            jnp.zeros(v.aval.shape, v.aval.dtype) if ad.is_undefined_primal(v) else v
            for v in inputs
        ]
    input_cotangents = CALL.bind(
        *point, *nonzero_cotangents, program=back, linear=len(nonzero_cotangents)
    )
    for place, ct in zip(linear_places, input_cotangents, strict=True):
        results[place] = ct
    return results


ad.primitive_transposes[CALL] = _transpose


def _batch(inputs: Any, axes: Any, *, program: Any, linear: int) -> Any:
    places = tuple(a if isinstance(a, int) else None for a in axes)
    size = next(x.shape[a] for x, a in zip(inputs, places, strict=True) if a is not None)
    results = CALL.bind(*inputs, program=Batched(program, places, size), linear=linear)
    return results, [0] * len(results)


batching.primitive_batchers[CALL] = _batch
