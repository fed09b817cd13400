"""The distributions one can draw from: what draws, what the parameters may be, what comes out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import ShapeError
from ..graph.node import Data, Node
from ..graph.source import place_text
from . import continuous, discrete, multivariate

__all__ = ["SAMPLERS", "Kind", "Sampler"]


@dataclass(frozen=True)
class Kind:
    """What a parameter may be: `allows` says so of every element, `text` in words."""

    text: str
    allows: Callable[[Any], Any]
    whole: bool = False  # a whole number, not a real one
    event: int = 0  # how many of its last axes belong to one draw


@dataclass(frozen=True)
class Rule:
    """What parameters must be together."""

    names: tuple[str, ...]
    text: str
    allows: Callable[..., Any]


@dataclass(frozen=True)
class Sampler:
    """A distribution: `function(source, *parameters)` draws from it."""

    function: Callable[..., Any]
    parameters: Mapping[str, Kind]
    event: int = 0  # how many last axes of the result belong to one draw
    output: np.dtype | None = None  # None: that of the real parameters
    rules: tuple[Rule, ...] = ()

    def dtype(self, floating: np.dtype) -> np.dtype:
        """The type of the numbers drawn, where real numbers are of type `floating`."""
        return floating if self.output is None else self.output

    def shapes(
        self, which: str, shapes: Sequence[tuple[int, ...]], wanted: tuple[int, ...] | None
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shape of the result and of the source, from those of the parameters.

        Raises
        ------
        ShapeError
            If the parameters do not fit one another or the wanted shape.
        """
        leading: list[tuple[int, ...]] = []
        lengths: list[int] = []
        for (name, kind), shape in zip(self.parameters.items(), shapes, strict=True):
            if len(shape) < kind.event:
                raise ShapeError(
                    f"{which}: {name} must have at least {_axes(kind.event)}, got shape {shape}"
                    f"{place_text()}"
                )
            cut = len(shape) - kind.event
            leading.append(shape[:cut])
            lengths += shape[cut:]
        if len(set(lengths)) > 1 or 0 in lengths:
            raise ShapeError(
                f"{which}: the last axes of {self._shapes_text(shapes)} must be of one length, "
                f"not 0{place_text()}"
            )
        try:
            full = np.broadcast_shapes(*leading)
        except ValueError:
            raise ShapeError(
                f"{which}: {self._shapes_text(shapes)} do not broadcast{place_text()}"
            ) from None
        full += tuple(lengths[: self.event])
        if wanted is not None:
            if not _fits(full, wanted, self.event if lengths else 0):
                raise ShapeError(
                    f"{which}: the parameters give draws of shape {full}, which does not broadcast "
                    f"to shape {wanted}{place_text()}"
                )
            full = wanted
        if len(full) < self.event:
            raise ShapeError(
                f"{which}: needs a shape of at least {_axes(self.event)}{place_text()}"
            )
        return full, full

    def _shapes_text(self, shapes: Sequence[tuple[int, ...]]) -> str:
        return ", ".join(f"{name} {shape}" for name, shape in zip(self.parameters, shapes))

    def check_together(self, which: str, nodes: Mapping[str, Node]) -> None:
        """Refuse known parameters that are impossible together (ValueError)."""
        for rule in self.rules:
            known = [n.value if isinstance(n := nodes[name], Data) else None for name in rule.names]
            if any(value is None for value in known):
                continue
            try:
                allowed = np.all(rule.allows(*known))
            except ValueError:  # shapes that do not fit are another error
                continue
            if not allowed:
                values = ", ".join(f"{name} = {v}" for name, v in zip(rule.names, known))
                raise ValueError(f"{which}: {rule.text}, got {values}{place_text()}")


def _axes(number: int) -> str:
    return "one axis" if number == 1 else f"{number} axes"


def _fits(full: tuple[int, ...], wanted: tuple[int, ...], event: int) -> bool:
    if event and wanted[len(wanted) - event :] != full[len(full) - event :]:
        return False
    try:
        return np.broadcast_shapes(full, wanted) == wanted
    except ValueError:
        return False


def _finite_range(low: Any, high: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.isfinite(np.subtract(high, low, dtype=np.float64))


def _positive_definite(covariance: Any) -> bool:
    if np.ndim(covariance) < 2:
        return True  # the shape is another error
    try:
        np.linalg.cholesky(np.asarray(covariance, np.float64))
    except np.linalg.LinAlgError:
        return False
    return True


def _symmetric(a: Any) -> Any:
    finite = np.isfinite(a)
    if np.ndim(a) < 2 or np.shape(a)[-1] != np.shape(a)[-2] or not np.all(finite):
        return finite  # a wrong shape is another error
    return multivariate.symmetric(np.asarray(a, np.float64), np)


_REAL = Kind("finite", np.isfinite)
_LOWER = Kind("a number below infinity", lambda x: x < np.inf)
_UPPER = Kind("a number above -infinity", lambda x: x > -np.inf)
_POSITIVE = Kind("positive and finite", lambda x: (x > 0) & np.isfinite(x))
_SCALE = Kind("non-negative and finite", lambda x: (x >= 0) & np.isfinite(x))
_RATE = Kind(
    f"non-negative and at most {discrete.LARGEST_RATE:g}",
    lambda x: (x >= 0) & (x <= discrete.LARGEST_RATE),
)
_PROBABILITY = Kind("between 0 and 1", lambda x: (x >= 0) & (x <= 1))
_VECTOR_REAL = Kind("finite", np.isfinite, event=1)
_VECTOR_POSITIVE = Kind(_POSITIVE.text, _POSITIVE.allows, event=1)
_WEIGHTS = Kind(_SCALE.text, _SCALE.allows, event=1)
_COVARIANCE = Kind("finite and symmetric", _symmetric, event=2)
_LARGEST = np.iinfo(np.int64).max
_WHOLE = Kind("a whole number of 64 bits", lambda x: np.asarray(x) <= _LARGEST, whole=True)
_COUNT = Kind(
    "a non-negative whole number of 64 bits",
    lambda x: (np.asarray(x) >= 0) & (np.asarray(x) <= _LARGEST),
    whole=True,
)

_SOME_WEIGHT = Rule(
    ("probabilities",),
    "some class must have a positive probability",
    lambda p: np.any(p > 0, axis=-1) if np.ndim(p) else True,
)
_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_LOC_SCALE = {"loc": _REAL, "scale": _SCALE}

SAMPLERS: Mapping[str, Sampler] = {
    "uniform": Sampler(
        continuous.uniform,
        {"low": _REAL, "high": _REAL},
        rules=(
            Rule(("low", "high"), "low must not be above high", np.less_equal),
            Rule(("low", "high"), "high - low must be finite", _finite_range),
        ),
    ),
    "normal": Sampler(continuous.normal, _LOC_SCALE),
    "lognormal": Sampler(continuous.lognormal, _LOC_SCALE),
    "half_normal": Sampler(continuous.half_normal, {"scale": _SCALE}),
    "truncated_normal": Sampler(
        continuous.truncated_normal,
        {"loc": _REAL, "scale": _POSITIVE, "lower": _LOWER, "upper": _UPPER},
        rules=(Rule(("lower", "upper"), "lower must not be above upper", np.less_equal),),
    ),
    "exponential": Sampler(continuous.exponential, {"rate": _POSITIVE}),
    "laplace": Sampler(continuous.laplace, _LOC_SCALE),
    "logistic": Sampler(continuous.logistic, _LOC_SCALE),
    "cauchy": Sampler(continuous.cauchy, _LOC_SCALE),
    "gamma": Sampler(continuous.gamma, {"concentration": _POSITIVE, "rate": _POSITIVE}),
    "beta": Sampler(continuous.beta, {"a": _POSITIVE, "b": _POSITIVE}),
    "student": Sampler(continuous.student, {"df": _POSITIVE, **_LOC_SCALE}),
    "dirichlet": Sampler(continuous.dirichlet, {"concentration": _VECTOR_POSITIVE}, event=1),
    "multivariate_normal": Sampler(
        multivariate.multivariate_normal,
        {"mean": _VECTOR_REAL, "covariance": _COVARIANCE},
        event=1,
        rules=(
            Rule(("covariance",), "the covariance must be positive definite", _positive_definite),
        ),
    ),
    "bernoulli": Sampler(discrete.bernoulli, {"p": _PROBABILITY}, output=_BOOL),
    "integers": Sampler(
        discrete.integers,
        {"low": _WHOLE, "high": _WHOLE},
        output=_INT64,
        rules=(Rule(("low", "high"), "low must be below high", np.less),),
    ),
    "poisson": Sampler(discrete.poisson, {"rate": _RATE}, output=_INT64),
    "binomial": Sampler(discrete.binomial, {"n": _COUNT, "p": _PROBABILITY}, output=_INT64),
    "categorical": Sampler(
        discrete.categorical, {"probabilities": _WEIGHTS}, output=_INT64, rules=(_SOME_WEIGHT,)
    ),
    "permutation": Sampler(discrete.permutation, {}, event=1, output=_INT64),
    "weighted_permutation": Sampler(
        discrete.weighted_permutation,
        {"probabilities": _WEIGHTS},
        event=1,
        output=_INT64,
        rules=(_SOME_WEIGHT,),
    ),
}
