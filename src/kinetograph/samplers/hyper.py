"""`kg.hyper`: the hyper-parameters of a sampler, arguments of its compiled program."""

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
from ..graph.public import public
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown

__all__ = ["POSITIVE", "Hyper", "hyper"]

POSITIVE = {"positive": (0, np.greater)}


@public
class Nested:
    """The base class of `Sampler`, for values that are inner samplers."""

    def as_inner(self, owner: str) -> "Nested":
        """A copy for use inside of another sampler."""
        raise NotImplementedError


class Hyper:
    """A hyper-parameter of a `kg.Sampler`, declared by `kg.hyper`."""

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
        """Check a value; return it as a number, array, function or choice.

        Raises
        ------
        TypeError
            If it is not a number, an array or a function of the step's number.
        ValueError
            If it is out of its range.
        ShapeError
            If it is an array, but must be one number.
        """
        title = f"{owner}: {self.name}"
        value = value_of(value, title)
        if self.nested:
            if not isinstance(value, Nested):
                raise TypeError(f"{title} must be a sampler, got {shown(value)}")
            return value.as_inner(title)
        if self.choices:
            if value not in self.choices:
                choices = " or ".join(map(repr, self.choices))
                hint = did_you_mean(value, self.choices)
                raise ValueError(f"{title} must be {choices}, got {shown(value)}{hint}")
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
            array = np.asarray(None)  # not a number, so that the next check fails
        allowed = "iu" if self.whole else "iuf"
        if array.dtype.kind not in allowed:
            kind = "whole number" if self.whole else "number"
            hint = ""
            if type(value).__name__ == "Model":
                hint = "; a model is given to the run: kg.mcmc(model, sampler)"
            raise TypeError(f"{title} must be a {kind}, got {shown(value)}{hint}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{title} must be finite, got {shown(value)}")
        for text, (bound, holds) in self.bounds.items():
            if bound is not None and not np.all(holds(array, bound)):
                raise ValueError(f"{title} must be {text.format(bound)}, got {shown(value)}")
        self.check_shape(title, array.shape)
        if array.ndim == 0:
            return array.item()
        array = array.copy()
        array.setflags(write=False)
        return array

    @property
    def interval(self) -> tuple[int, int] | None:
        """The smallest and largest allowed whole number; None for other numbers."""
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

    def check_shape(self, title: str, shape: tuple[int, ...]) -> None:
        """Refuse an array in the place of one number."""
        if self.scalar and shape:
            raise ShapeError(
                f"{title} must be one number, got shape {shape}; for coordinates of different "
                "scales give scale=, an array with a number for each coordinate"
            )


def value_of(value: Any, title: str) -> Any:
    """The value of an array that is computed from numbers and data.

    Values that are not arrays are returned unchanged.

    Raises
    ------
    TypeError
        If the array depends on an unknown, a placeholder or another array without a value.
    """
    if not isinstance(value, Array):
        return value
    for node in ancestors([value.node]):
        if node.kind != "data" and not node.parents:
            raise TypeError(
                f"{title} may be an expression of numbers and data; {describe(value.node)} depends "
                f"on {describe(node)}{site_text(node)}, which has no value; for a value that "
                "changes from step to step give a function of the step's number"
            )
    with x64():
        environment: Environment = {}
        evaluate([value.node], environment, scope=Scope())
        return np.asarray(environment[value.node])


@public
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
    """Declare a hyper-parameter of a sampler, in the body of a `kg.Sampler`.

    In `init` and `step` it is an array of the graph; elsewhere it is the value that was set. Its
    value is an argument of the compiled program: another value of the same shape does not compile
    the program again.

    A user may give a number, or an array with a number for each free coordinate, or an expression
    of `kg.data` and numbers, whose present value is taken, or a schedule. A schedule is a function
    of the number of the step, which is an array, from 0 at the first transition including warm-up.
    It is part of the program, and its values are checked before a run.

    Parameters
    ----------
    default
        The default value. If it is a whole number, values must be whole numbers. If it is None, the
        value is optional, and None in `step`, too. If it is a sampler, values are inner samplers:
        in `step`, `self.name.step(at)` makes a step of the inner sampler, which has its own
        hyper-parameters ("name.step_size" and so on), its own noise and its own records.
    positive
        Whether the value must be above 0.
    lower, upper
        The smallest and the largest value allowed.
    above, below
        Bounds that are not allowed themselves.
    static
        Whether the value determines the structure of the program (a choice, a number of nested
        parts). In `step` it is then the value itself, and another value compiles the program again.
    choices
        The values that a static hyper-parameter may have.
    scalar
        Whether the value must be one number, not an array with a number for each coordinate.

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
    """The hyper-parameters of a class, before the hyper-parameters of base classes."""
    hypers: dict[str, Hyper] = {}
    for kind in owner.__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, Hyper) and name not in hypers:
                hypers[name] = value
    return hypers
