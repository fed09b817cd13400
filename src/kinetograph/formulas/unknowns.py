"""The unknowns of a formula model, with default or given priors."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..distributions.support import CorrelationMatrix, Interval, Ordered, ZeroSum
from ..distributions.variable import Variable, distribute
from ..graph.array import Array
from ..graph.dims import Dim, dim
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import in_words
from ..models.variables import unknown_on
from .names import DIMENSIONS, name_fault
from .priors import RULES, Scales, Unknown, ordered_as

__all__ = ["FormulaUnknowns"]


_KINDS = ("b", "Intercept", "sd", "sds")  # of the first parameter, for each class if there are


class FormulaUnknowns:
    """Makes the unknowns of one model, and keeps them by name.

    Attributes
    ----------
    arrays
        All arrays of the model by name: unknowns, and arrays that are computed from them.
    targets
        The names of the arrays that a run records.
    """

    def __init__(
        self,
        rules: str,
        given: Mapping[str, Any],
        scales: Scales,
        frame: pd.DataFrame,
        parameters: Iterable[str],
    ) -> None:
        if rules not in RULES:
            raise ValueError(
                f"formula: unknown default priors {rules!r}{place_text()}; the rules are "
                f"{', '.join(RULES)}{did_you_mean(rules, RULES)}"
            )
        self.rules, self.given, self.scales = RULES[rules], dict(given), scales
        self.arrays: dict[str, Array] = {}
        self.targets: list[str] = []
        self.names: list[str] = []
        self._keys: set[str] = set()
        self._frame = frame
        self._taken = {*DIMENSIONS, *parameters, "Intercept", "threshold", "thresholds"}
        self._taken |= {"X_column", *(f"X_{parameter}_column" for parameter in parameters)}

    def make(
        self, kind: str, name: str, keys: tuple[str, ...] = (), record: bool = True, **facts: Any
    ) -> Array:
        """Make an unknown.

        `keys` are the names under which `prior=` can replace its prior, in addition to its own.
        """
        unknown = Unknown(kind, name, self.scales, **facts)
        whole = (kind,) if kind in _KINDS and unknown.main else ()
        names = [*dict.fromkeys([name, *keys, *whole])]
        self._keys.update(names)
        key = next((key for key in names if key in self.given), None)
        if key is None:
            array = self.rules[kind](unknown)
        else:
            array = _replaced(self.given[key], key, unknown)
        if record:
            self.targets.append(name)
        self.names.append(name)
        return self.add(name, array, record=False)

    def add(self, name: str, array: Array, record: bool = True) -> Array:
        """Keep an array under a name.

        Raises
        ------
        DataError
            If another array has the name.
        """
        if name in self.arrays:
            raise name_fault(self._frame, name)
        self.arrays[name] = array
        if record:
            self.targets.append(name)
        return array

    def levels(self, name: str, labels: Iterable[str]) -> Dim:
        """The dimension of the levels of a column.

        It has the name of the column, with `_level` if the model has this name already.
        """
        return dim(f"{name}_level" if name in self._taken else name, labels)

    def check_used(self) -> None:
        """Raise ValueError if a prior belongs to no unknown."""
        for key in self.given:
            if key not in self._keys:
                raise ValueError(
                    f"formula: prior= has {key!r}, which is not an unknown of the model"
                    f"{place_text()}; they are {', '.join(sorted(self._keys))}"
                    f"{_meant_prior(key, self._keys)}"
                )


def _meant_prior(key: Any, keys: set[str]) -> str:
    """A hint at the unknown with another name in brms or bambi."""
    whole = str(key).partition("[")[0]
    if str(key).endswith("]") and whole in keys:
        return f"; give all of its coefficients: {{{whole!r}: kg.normal(0, [1, 2, ...])}}"
    match = re.fullmatch(r"sd_(.+?)__.+|[^|]+\|(.+?)(?:_sigma)?", str(key))
    here = f"sd_{match[1] or match[2]}" if match else ""
    return f"; here it is {here!r}" if here in keys else did_you_mean(key, keys)


_POSITIVE = ("sd", "sdgp", "sds", "lscale", "sigma", "nu", "shape", "phi", "kappa")
_SHARES = ("zi", "hu")


def _replaced(prior: Any, key: str, unknown: Unknown) -> Array:
    """An unknown with the user's prior."""
    place = unknown.place
    if isinstance(prior, Array) and isinstance(prior.node, Variable):
        if prior.shape not in ((), unknown.shape):
            raise _wrong_shape(prior.shape, key, unknown)
        array = _copy(prior.node, key, unknown)
    elif isinstance(prior, Callable) and not isinstance(prior, (Array, type)):  # type: ignore[arg-type]
        array = prior(**place)
    else:
        example = "kg.half_normal(1)" if unknown.kind in _POSITIVE else "kg.normal(0, 1)"
        example = "kg.beta(1, 1)" if unknown.kind in _SHARES else example
        if unknown.kind == "cor":
            example = f"kg.lkj_correlation(2, {unknown.shape[-1]})"
        raise TypeError(
            f"formula: the prior of {key!r} is {in_words(prior)}{place_text()}; give a "
            f"distribution, such as prior={{{key!r}: {example}}}"
        )
    node = getattr(array, "node", None)
    if not isinstance(node, Variable) or node.shape != unknown.shape:
        raise _wrong_shape(getattr(array, "shape", None), key, unknown)
    support = node.support
    low = getattr(support, "lower", None) if isinstance(support, Interval) else 0.0
    if isinstance(support, (Ordered, ZeroSum)) and not getattr(support, "positive", False):
        low = -np.inf
    high = getattr(support, "upper", None) if isinstance(support, Interval) else 1.0
    positive = unknown.kind in (*_POSITIVE, *_SHARES)
    below = isinstance(low, (int, float)) or getattr(low, "shape", None) is not None
    if positive and below and not _at_least(low, 0.0):
        raise ValueError(
            f"formula: the prior of {key!r} allows negative numbers, but {unknown.name} must be "
            f"positive{place_text()}; use kg.half_normal(...), or truncation=(0, None)"
        )
    if unknown.kind in _SHARES and not _at_least(1.0, high):
        raise ValueError(
            f"formula: the prior of {key!r} allows numbers above 1, but {unknown.name} is a "
            f"probability{place_text()}; use kg.beta(...)"
        )
    if unknown.kind == "cor" and not isinstance(support, CorrelationMatrix):
        raise ValueError(
            f"formula: the prior of {key!r} is not one of correlation matrices, as "
            f"{unknown.name} is{place_text()}; use kg.lkj_correlation(eta, size)"
        )
    if unknown.kind == "thresholds":
        return ordered_as(array, unknown, f"formula: the prior of {key!r}")
    return array


def _wrong_shape(shape: Any, key: str, unknown: Unknown) -> ValueError:
    dims = unknown.place.get("dims")
    first = dims[0] if isinstance(dims, tuple) and dims else dims
    labels = [] if (values := getattr(first, "labels", None)) is None else list(values)
    elements = f", of {', '.join(map(str, labels))}" if labels else ""
    return ValueError(
        f"formula: the prior of {key!r} has shape {shape}, but {unknown.name} has shape "
        f"{unknown.shape}{elements}{place_text()}"
    )


def _at_least(high: Any, low: Any) -> bool:
    """Whether a bound is known and not below another."""
    try:
        return bool((high >= low) if not hasattr(high >= low, "all") else (high >= low).all())
    except TypeError:
        return True


def _copy(node: Variable, key: str, unknown: Unknown) -> Array:
    """A new unknown with the distribution of a given one."""
    if node.distribution is None:
        if not isinstance(node.support, Interval) and node.shape != unknown.shape:
            raise _wrong_shape(node.shape, key, unknown)
        return unknown_on(node.support, unknown.shape, unknown.name, unknown.dims)
    parameters = tuple(Array(parent) for parent in node.distribution.parents)
    event = node.distribution.event_shape
    return distribute(node.distribution.family, parameters, event=event or None, **unknown.place)
