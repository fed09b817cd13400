"""All tests of draws against a law at once: moments, products of coordinates, and the distribution.

The distribution function alone is a weak test: it needs independent draws, so most are left out,
and its statistic hardly sees tails. Means use all draws. What a fault changes differs, so each of
these is needed: the mean and the square find wrong forces and noise, the fourth power finds wrong
tails, products find coordinates that do not move independently, though each is right by itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr

from .estimates import as_draws, ks_test, mean_test
from .linear import LinearLaw
from .one_dimensional import Law1D
from .outcomes import LEVEL, PTest, StatisticalTest

__all__ = ["LawTest", "law_test"]

ALL_PAIRS = 20  # coordinates whose products are all tested; of more, those of neighbours


@dataclass(frozen=True, eq=False)
class LawTest(StatisticalTest):
    """Several tests of the same draws, by name: `tests["square"]` and so on.

    It passes if each of them passes at the level divided by their number.
    """

    tests: dict[str, StatisticalTest]

    @property
    def z(self) -> np.ndarray:
        """The scores of all tests, one after the other."""
        return np.concatenate([np.ravel(test.z) for test in self.tests.values()])

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of tests."""
        smallest = float(np.min([test.p_value for test in self.tests.values()]))
        return min(1.0, len(self.tests) * smallest) if smallest == smallest else smallest

    def passed(self, level: float = LEVEL) -> bool:
        """Whether each test passes at `level` divided by their number."""
        return not self.failed(level)

    def failed(self, level: float = LEVEL) -> tuple[str, ...]:
        """The names of the tests that do not pass."""
        share = level / len(self.tests)
        return tuple(name for name, test in self.tests.items() if not test.passed(share))

    def __repr__(self) -> str:
        rows = (f"{name}: {test!r}" for name, test in self.tests.items())
        return f"LawTest(p = {self.p_value:.3g}; " + "; ".join(rows) + ")"


Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class _Expected:
    """What a law says: moments of its coordinates, and their distributions."""

    mean: np.ndarray
    sd: np.ndarray
    exact: dict[str, Any]  # of independent coordinates, the mean of each tested quantity
    draws: np.ndarray | None  # or standardised draws from the law
    distributions: Sequence[Any]

    def average(self, name: str, function: Function) -> tuple[Any, Any]:
        """The mean of a quantity, with its standard error."""
        if self.draws is None:
            return self.exact[name], 0.0
        values = function(self.draws)
        return values.mean(0), values.std(0, ddof=1) / math.sqrt(len(values))


def law_test(draws: Any, law: Any) -> LawTest:
    """All tests at once: do the draws follow a law?

    With z = (q - mean) / sd of each coordinate q, by the law's mean and sd, the means of z, z^2 and
    z^4 are compared with the exact ones, and of several coordinates those of z_i z_j and
    z_i^2 z_j^2; Kolmogorov and Smirnov's test compares the distributions. A right sampler fails
    with the probability `level` of `passed`, over all of them.

    Parameters
    ----------
    draws
        Shape (chain, draw, ...), each remaining element is a coordinate.
    law
        The law of each coordinate, where they are independent: that of `canonical_law`, or, at the
        step size of the scheme, of `stationary_law`, or of the position of `oscillator`; or a list
        with one for each coordinate. Or independent draws from the exact law: an array whose first
        axis counts them.

    Raises
    ------
    TypeError
        If it is not a law.
    ValueError
        If the draws have another shape than the law, or are not finite.

    Examples
    --------
    >>> from kinetograph import laws
    >>> law = laws.oscillator("SGLD", 0.5)
    >>> x = laws.autoregression(0.5, chains=4, draws=20_000, seed=1)
    >>> laws.law_test(law.q2**0.5 * x, law).passed(), laws.law_test(x, law).passed()
    (True, False)

    Two coordinates that are equal, though each of them follows the law:

    >>> import numpy as np
    >>> exact = laws.canonical_law(laws.harmonic())
    >>> laws.law_test(np.stack([x, x], -1), exact).failed()
    ('products', 'products of squares')
    """
    x = as_draws(draws, "law_test")
    shape = x.shape[2:]
    x = x.reshape(*x.shape[:2], -1)
    expected = _expected(law, shape)
    z = (x - expected.mean) / expected.sd
    size = z.shape[2]

    quantities: dict[str, Function] = {
        "mean": lambda z: z,
        "square": lambda z: z**2,
        "fourth power": lambda z: z**4,
    }
    if size > 1:
        pairs = combinations(range(size), 2) if size <= ALL_PAIRS else pairwise(range(size))
        first, second = np.array(list(pairs)).T
        quantities["products"] = lambda z: z[..., first] * z[..., second]
        quantities["products of squares"] = lambda z: (z[..., first] * z[..., second]) ** 2
    tests: dict[str, StatisticalTest] = {}
    for name, function in quantities.items():
        wanted, error = expected.average(name, function)
        tests[name] = mean_test(function(z), wanted, expected_error=error)
    ps, distances, rows = {}, {}, 0
    for index, one, distribution in zip(
        np.ndindex(shape), np.moveaxis(x, 2, 0), expected.distributions, strict=True
    ):
        found = ks_test(one, distribution)
        name = "".join(f"[{i}]" for i in index) or "draws"
        ps[name], distances[name] = found.p_value, found.statistics["draws"]
        rows = found.size
    tests["distribution"] = PTest(ps, distances, rows, "KSTest")
    return LawTest(tests)


def _expected(law: Any, shape: tuple[int, ...]) -> _Expected:
    size = math.prod(shape)
    if isinstance(law, (Law1D, LinearLaw)):
        return _of_laws([law] * size)
    if isinstance(law, (list, tuple)) and all(isinstance(x, (Law1D, LinearLaw)) for x in law):
        if len(law) != size:
            raise ValueError(
                f"kg.laws.law_test: each draw has {size} coordinates, and {len(law)} laws are given"
            )
        return _of_laws(law)
    try:
        exact = np.asarray(law, float)
    except (TypeError, ValueError):
        raise TypeError(
            "kg.laws.law_test: a law is what canonical_law, stationary_law or oscillator give, a "
            "list of these, or an array of independent draws; got "
            f"{type(law).__name__}"
        ) from None
    if exact.shape[1:] != shape or len(exact) < 2:
        raise ValueError(
            f"kg.laws.law_test: each draw has the shape {shape}, and the draws of the law have "
            f"the shape {exact.shape}, whose first axis counts them"
        )
    return _of_draws(exact.reshape(len(exact), -1))


def _of_laws(laws: Sequence[Any]) -> _Expected:
    """Independent coordinates, each of a law of its own."""
    mean, sd, fourth = np.array([_moments(law) for law in laws]).reshape(-1, 3).T
    exact = {"mean": 0.0, "square": 1.0, "fourth power": fourth}
    exact |= {"products": 0.0, "products of squares": 1.0}
    return _Expected(mean, sd, exact, None, [_distribution(law) for law in laws])


def _moments(law: Any) -> tuple[float, float, float]:
    """The mean, the standard deviation, and the fourth power in units of it."""
    if isinstance(law, LinearLaw):
        return 0.0, math.sqrt(law.q2), 3.0
    mean = law.expectation(lambda q: q)
    variance = law.expectation(lambda q: (q - mean) ** 2)
    return mean, math.sqrt(variance), law.expectation(lambda q: (q - mean) ** 4) / variance**2


def _distribution(law: Any) -> Callable[[Any], Any]:
    if isinstance(law, LinearLaw):
        return lambda x: ndtr(x / math.sqrt(law.q2))
    cdf: Callable[[Any], Any] = law.cdf
    return cdf


def _of_draws(exact: np.ndarray) -> _Expected:
    """Independent draws from the law."""
    mean, sd = exact.mean(0), exact.std(0, ddof=1)
    return _Expected(mean, sd, {}, (exact - mean) / sd, list(exact.T))
