"""What the tests know of a family, in one place."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kinetograph as kg

__all__ = ["Case", "Random"]


@dataclass(frozen=True)
class Random:
    """Parameters and points at random, where the density is compared with SciPy's.

    `kinds` has a letter for x and for each parameter: r(eal), p(ositive), u(nit), n (without a
    derivative). `log_density` is SciPy's, by default that of the case's `law`.
    """

    kinds: str
    parameters: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    points: Callable[..., np.ndarray]
    log_density: Callable[..., np.ndarray] | None = None


@dataclass(frozen=True)
class Case:
    """A family and all that is compared with it.

    law             SciPy's distribution of the parameters
    exact_law       one with better tails than SciPy's
    sets            parameters for which tails and quantiles are compared with it
    make            the unknown of the parameters, by default `kg.NAME(*parameters)`
    random          parameters and points at random
    density         the log density in mpmath's numbers
    points          which of x and the parameters have a derivative (`f`), and points
    moment_sets     parameters for which mean and variance are compared
    moments         mean and variance, by default those of `law`
    counts          parameters, and the probabilities of 0, 1, ... of numbers that may be complex
    draws           parameters whose draws are compared with `law`
    parameters      of the stream method: a possible value of each, and impossible ones
    """

    law: Callable[..., Any] | None = None
    exact_law: Callable[..., Any] | None = None
    sets: list[tuple[Any, ...]] = field(default_factory=list)
    make: Callable[..., kg.Array] | None = None
    random: Random | None = None
    density: Callable[..., Any] | None = None
    points: tuple[str, list[tuple[float, ...]]] | None = None
    moment_sets: list[tuple[Any, ...]] = field(default_factory=list)
    moments: Callable[..., Any] | None = None
    counts: tuple[tuple[Any, ...], Callable[..., np.ndarray]] | None = None
    draws: list[tuple[Any, ...]] = field(default_factory=list)
    parameters: dict[str, tuple[Any, list[Any]]] | None = None

    def tail_law(self, *parameters: Any) -> Any:
        """SciPy's distribution, or one with better tails."""
        law = self.exact_law or self.law
        assert law is not None
        return law(*parameters)

    def mean_and_variance(self, *parameters: Any) -> Any:
        """What the moments are compared with."""
        if self.moments is not None:
            return self.moments(*parameters)
        assert self.law is not None
        law = self.law(*parameters)
        return law.mean(), law.var()
