"""All tests of draws against a law: moments, products, and the distribution.

The distribution function alone is a weak test: it needs independent draws, so most draws are
thinned out, and its statistic is insensitive to tails. Means use all draws. Different faults change
different quantities: the mean and the square find wrong forces and noise, the fourth power finds
wrong tails, and products find coordinates that each follow their law but do not move independently.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..graph.public import public
from .estimates import as_draws, ks_test, mean_test
from .linear import LinearLaw
from .one_dimensional import Law1D
from .outcomes import LEVEL, PTest, StatisticalTest

__all__ = ["LawTest", "law_test"]

ALL_PAIRS = 20  # coordinates up to which all products are tested; with more, only neighbours


@public
@dataclass(frozen=True, eq=False)
class LawTest(StatisticalTest):
    """Several tests of the same draws, by name: `tests["square"]` and so on.

    It passes if each test passes at the level divided by the number of tests.
    """

    tests: dict[str, StatisticalTest]

    @property
    def z(self) -> np.ndarray:
        """The scores of all tests in one array."""
        return np.concatenate([np.ravel(test.z) for test in self.tests.values()])

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of tests."""
        smallest = float(np.min([test.p_value for test in self.tests.values()]))
        return min(1.0, len(self.tests) * smallest) if smallest == smallest else smallest

    def passed(self, level: float = LEVEL) -> bool:
        """Whether each test passes at `level` divided by the number of tests."""
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
    """The moments and distributions of a law's coordinates."""

    mean: np.ndarray
    sd: np.ndarray
    exact: dict[str, Any]  # for independent coordinates, the mean of each tested quantity
    draws: np.ndarray | None  # otherwise standardised draws from the law
    distributions: Sequence[Any]

    def average(self, name: str, function: Function) -> tuple[Any, Any]:
        """The mean of a quantity, with its standard error."""
        if self.draws is None:
            return self.exact[name], 0.0
        values = function(self.draws)
        return values.mean(0), values.std(0, ddof=1) / math.sqrt(len(values))


@public
def law_test(draws: Any, law: Any) -> LawTest:
    """Test whether draws follow a law, by all tests at once.

    With z = (q - mean) / sd for each coordinate q, by the law's mean and sd, the means of z, z^2
    and z^4 are compared with the exact ones. For several coordinates the means of z_i z_j and z_i^2
    z_j^2 are compared, too. A Kolmogorov-Smirnov test compares the distributions. A right sampler
    fails one of these tests with the probability `level` of `passed`.

    Parameters
    ----------
    draws
        The draws, of shape (chain, draw, ...); each remaining element is a coordinate.
    law
        The law of each coordinate, if they are independent: a result of `canonical_law`, or, for
        the step size of a scheme, of `stationary_law` or `oscillator` (its position); or a list
        with a law for each coordinate. Or independent draws from the exact law, an array whose
        first axis counts the draws.

    Raises
    ------
    TypeError
        If `law` is not a law.
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
        expectation, error = expected.average(name, function)
        tests[name] = mean_test(function(z), expectation, expected_error=error)
    ps, distances, rows = {}, {}, 0
    for index, coordinate, distribution in zip(
        np.ndindex(shape), np.moveaxis(x, 2, 0), expected.distributions, strict=True
    ):
        result = ks_test(coordinate, distribution)
        name = "".join(f"[{i}]" for i in index) or "draws"
        ps[name], distances[name] = result.p_value, result.statistics["draws"]
        rows = result.size
    tests["distribution"] = PTest(ps, distances, rows, "KSTest")
    return LawTest(tests)


def _expected(law: Any, shape: tuple[int, ...]) -> _Expected:
    """Read a law of draws that have a shape."""
    size = math.prod(shape)
    if isinstance(law, (Law1D, LinearLaw)):
        return _of_laws([law] * size)
    if isinstance(law, (list, tuple)) and all(isinstance(x, (Law1D, LinearLaw)) for x in law):
        if len(law) != size:
            raise ValueError(
                f"kg.laws.law_test: each draw has {size} coordinates, but {len(law)} laws are given"
            )
        return _of_laws(law)
    try:
        exact = np.asarray(law, float)
    except (TypeError, ValueError):
        raise TypeError(
            "kg.laws.law_test: expected a law from canonical_law, stationary_law or oscillator, a "
            "list of laws, or an array of independent draws; got "
            f"{type(law).__name__}"
        ) from None
    if exact.shape[1:] != shape or len(exact) < 2:
        raise ValueError(
            f"kg.laws.law_test: each draw has the shape {shape}, but the draws of the law have "
            f"the shape {exact.shape}, whose first axis counts the draws"
        )
    return _of_draws(exact.reshape(len(exact), -1))


def _of_laws(laws: Sequence[Any]) -> _Expected:
    """The expectations of independent coordinates, each with its law."""
    mean, sd, fourth = np.array([_moments(law) for law in laws]).reshape(-1, 3).T
    exact = {"mean": 0.0, "square": 1.0, "fourth power": fourth}
    exact |= {"products": 0.0, "products of squares": 1.0}
    return _Expected(mean, sd, exact, None, [_distribution(law) for law in laws])


def _moments(law: Any) -> tuple[float, float, float]:
    """The mean, the standard deviation, and the standardised fourth moment."""
    if isinstance(law, LinearLaw):
        return 0.0, math.sqrt(law.q2), 3.0
    mean = law.expectation(lambda q: q)
    variance = law.expectation(lambda q: (q - mean) ** 2)
    return mean, math.sqrt(variance), law.expectation(lambda q: (q - mean) ** 4) / variance**2


def _distribution(law: Any) -> Callable[[Any], Any]:
    """The distribution function of a law."""
    if isinstance(law, LinearLaw):
        return lambda x: ndtr(x / math.sqrt(law.q2))
    cdf: Callable[[Any], Any] = law.cdf
    return cdf


def _of_draws(exact: np.ndarray) -> _Expected:
    """The expectations of independent draws from a law."""
    mean, sd = exact.mean(0), exact.std(0, ddof=1)
    return _Expected(mean, sd, {}, (exact - mean) / sd, list(exact.T))
