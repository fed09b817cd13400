"""`kg.hyper`: the hyper-parameters of a sampler, values of its compiled program."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import ancestors
from ..graph.precision import x64
from ..graph.suggestions import meant

__all__ = ["POSITIVE", "Hyper", "hyper"]

POSITIVE = {"positive": (0, np.greater)}


class Nested:
    """The base of what may be within a sampler, as a hyper-parameter: of samplers."""

    def as_inner(self, what: str) -> "Nested":
        """A copy; refuses what cannot be there."""
        raise NotImplementedError


class Hyper:
    """A hyper-parameter of a `kg.Sampler`, declared by `kg.hyper` in the body of the class."""

    def __init__(
        self,
        default: Any,
        static: bool,
        bounds: Mapping[str, tuple[float | None, Any]],
        choices: tuple[Any, ...],
        scalar: bool = False,
    ) -> None:
        self.nested = isinstance(default, Nested)
        self.default, self.static = default, static or bool(choices) or self.nested
        self.bounds, self.choices, self.scalar = bounds, choices, scalar
        self.whole = isinstance(default, (int, np.integer)) and not isinstance(default, bool)
        self.owner, self.name = "a sampler", "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner.__name__, name
        if self.default is not None:
            self.check(self.default, owner.__name__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        staged = instance._staged_hyper(self.name)
        return instance._values[self.name] if staged is None else staged

    def __set__(self, instance: Any, value: Any) -> None:
        instance._values[self.name] = self.check(value, type(instance).__name__)

    def check(self, value: Any, owner: str) -> Any:
        """The value, a number or an array; refuses what it must not be.

        Raises
        ------
        TypeError
            If it is no number, array or function of the step's number.
        ValueError
            If it is out of its range.
        ShapeError
            If it has a shape, and one number is meant.
        """
        what = f"{owner}: {self.name}"
        value = value_of(value, what)
        if self.nested:
            if not isinstance(value, Nested):
                raise TypeError(f"{what} must be a sampler, got {value!r}")
            return value.as_inner(what)
        if self.choices:
            if value not in self.choices:
                known = " or ".join(map(repr, self.choices))
                hint = meant(value, self.choices)
                raise ValueError(f"{what} must be {known}, got {value!r}{hint}")
            return value
        if self.static and not self.whole and not isinstance(self.default, float):
            return value
        if value is None and self.default is None:
            return None
        if callable(value) and not self.static:
            return value
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            array = np.asarray(None)  # no number, as is said next
        allowed = "iu" if self.whole else "iuf"
        if array.dtype.kind not in allowed:
            kind = "whole number" if self.whole else "number"
            raise TypeError(f"{what} must be a {kind}, got {value!r}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{what} must be finite, got {value!r}")
        for text, (bound, holds) in self.bounds.items():
            if bound is not None and not np.all(holds(array, bound)):
                raise ValueError(f"{what} must be {text.format(bound)}, got {value!r}")
        self.check_shape(what, array.shape)
        if array.ndim == 0:
            return array.item()
        array = array.copy()
        array.setflags(write=False)
        return array

    @property
    def interval(self) -> tuple[int, int] | None:
        """The least and the largest whole number allowed; None where it is no whole number."""
        if not self.whole:
            return None
        info = np.iinfo(np.int64)
        low, high = int(info.min), int(info.max)
        for bound, holds in self.bounds.values():
            if bound is None:
                continue
            if holds is np.greater:
                low = max(low, math.floor(bound) + 1)
            elif holds is np.greater_equal:
                low = max(low, math.ceil(bound))
            elif holds is np.less:
                high = min(high, math.ceil(bound) - 1)
            else:
                high = min(high, math.floor(bound))
        return low, high

    def check_shape(self, what: str, shape: tuple[int, ...]) -> None:
        """Refuse an array in the place of one number."""
        if self.scalar and shape:
            raise ShapeError(
                f"{what} is one number, got shape {shape}; coordinates of different scales have "
                "scale=, an array with a number for each"
            )


def value_of(value: Any, what: str) -> Any:
    """The value of an expression of numbers and data; anything else as it is.

    Raises
    ------
    TypeError
        If it depends on what has no value yet.
    """
    if not isinstance(value, Array):
        return value
    for node in ancestors([value.node]):
        if node.kind != "data" and not node.parents:
            raise TypeError(
                f"{what} may be an expression of numbers and data, whose value is known; "
                f"{describe(value.node)} depends on {describe(node)}{site_text(node)}, which has "
                "none; a value that changes from step to step is a function of the step's number"
            )
    with x64():
        environment: Environment = {}
        evaluate([value.node], environment, scope=Scope())
        return np.asarray(environment[value.node])


def hyper(
    default: Any,
    *,
    positive: bool = False,
    lower: float | None = None,
    upper: float | None = None,
    above: float | None = None,
    below: float | None = None,
    static: bool = False,
    choices: Iterable[Any] = (),
    scalar: bool = False,
) -> Any:
    """A hyper-parameter of a sampler, declared in the body of a `kg.Sampler`.

    In `init` and `step` it is an array of the graph, anywhere else what it was set to. Its value is
    an argument of the compiled program: another one, of the same shape, compiles nothing.

    It may be given as a number, as an array with a number for each free coordinate, as an
    expression of `kg.data` and numbers, of which it takes the value that it has then, or as a
    function of the number of the step (an array, from 0 at the first transition, those of warm-up
    included), which is a schedule and part of the program; its values are looked at before a run.

    Parameters
    ----------
    default
        The value where none is given. A whole number asks for whole numbers, None for an optional
        value, which is None in `step`, too. A sampler asks for a sampler, one within this one:
        in `step`, `self.name.step(at)` is a step of it. Its hyper-parameters are its own, called
        "name.step_size" and so on, and so are the noise it draws and what it records.
    positive
        Whether it must be above 0.
    lower, upper
        The least and the largest value allowed.
    above, below
        Bounds that are not allowed themselves.
    static
        Whether it shapes the program (a choice, a number of nested parts): then it stays what it is
        in `step`, and another value compiles anew.
    choices
        What a static one may be.
    scalar
        Whether it is one number: an array, which is else a number for each free coordinate, is
        refused.

    Examples
    --------
    >>> import kinetograph as kg
    >>> class Walk(kg.Sampler):
    ...     width = kg.hyper(1.0, positive=True)
    ...     def step(self, at):
    ...         new = self.evaluate(at.q + self.width * self.noise("walk", like=at.q))
    ...         if kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential:
    ...             at = new
    ...         return at
    >>> Walk(width=0.5).width
    0.5
    >>> Walk(width=-1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Walk: width must be positive, got -1.0 (...)
    """
    bounds = {
        "positive": (0 if positive else None, np.greater),
        "at least {:g}": (lower, np.greater_equal),
        "at most {:g}": (upper, np.less_equal),
        "above {:g}": (above, np.greater),
        "below {:g}": (below, np.less),
    }
    return Hyper(default, static, bounds, tuple(choices), scalar)


def declared(owner: type) -> dict[str, Hyper]:
    """The hyper-parameters of a class, its own before those of its bases."""
    found: dict[str, Hyper] = {}
    for kind in owner.__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, Hyper) and name not in found:
                found[name] = value
    return found
