"""Problems whose evidence and weights of modes are known.

This file needs NumPy and SciPy only, so that the environments of the peers can import it. All
coordinates of a problem have one prior, uniform or normal. `log_likelihood(x, xp)` takes the
coordinates along the last axis of x, and a module of array functions: NumPy, jax.numpy,
pytensor.tensor or kinetograph. The truth comes from closed forms, sums over all models or
allocations, and quadrature.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import integrate, special, stats

__all__ = ["PROBLEMS", "Problem", "Truth"]


@dataclass(frozen=True)
class Truth:
    """The log evidence, and the weights of the modes if any."""

    log_evidence: float
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """A likelihood, a prior and the truth.

    Attributes
    ----------
    size
        The number of coordinates.
    prior
        ("uniform", low, high) or ("normal", mean, sd), of each coordinate.
    log_likelihood
        Of (x, xp).
    truth
        Computes the truth.
    shares
        Of draws (n, size): the probability that a draw belongs to each mode, (n, modes).
    """

    size: int
    prior: tuple[str, float, float]
    log_likelihood: Callable[[Any, Any], Any]
    truth: Callable[[], Truth]
    shares: Callable[[np.ndarray], np.ndarray] | None = None

    def transform(self, u: np.ndarray) -> np.ndarray:
        """The coordinates at points of the unit cube."""
        kind, first, second = self.prior
        if kind == "uniform":
            return first + (second - first) * u
        return first + second * special.ndtri(u)

    def simulate(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the prior."""
        return self.transform(rng.uniform(size=(count, self.size)))


def one_hot(labels: np.ndarray, count: int) -> np.ndarray:
    """Probabilities of modes that are certain."""
    return (labels[:, None] == np.arange(count)).astype(float)


def log_normal(squares: Any, size: int, variance: float) -> Any:
    """The log density of a normal vector by its sum of squares."""
    return -0.5 * squares / variance - 0.5 * size * math.log(2 * math.pi * variance)


def sum_of_squares(x: np.ndarray, y: np.ndarray) -> Callable[[Any, Any], Any]:
    """The residual sum of squares, as a function of (coefficients, xp)."""
    square, cross, own = x.T @ x, x.T @ y, float(y @ y)

    def squares(b: Any, xp: Any) -> Any:
        fit = sum(b[..., i] * xp.sum(b * line, axis=-1) for i, line in enumerate(square))
        return own - 2.0 * xp.sum(b * cross, axis=-1) + fit

    return squares


# A regression with normal priors.


@cache
def regression_rows() -> tuple[np.ndarray, np.ndarray]:
    """50 rows of five predictors."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 5))
    return x, x @ [1.0, -0.5, 0.0, 2.0, 0.3] + rng.normal(size=50)


def regression() -> Problem:
    """A conjugate regression: five coefficients of sd 2, noise of sd 1."""
    x, y = regression_rows()
    squares = sum_of_squares(x, y)

    def log_likelihood(b: Any, xp: Any) -> Any:
        return log_normal(squares(b, xp), len(y), 1.0)

    def truth() -> Truth:
        covariance = np.eye(len(y)) + 4.0 * x @ x.T
        return Truth(stats.multivariate_normal(np.zeros(len(y)), covariance).logpdf(y))

    return Problem(5, ("normal", 0.0, 2.0), log_likelihood, truth)


# A standard deviation whose prior goes down to 0.


def scale() -> Problem:
    """Mean and standard deviation of 12 normal numbers.

    The log likelihood has no mean under the prior.
    """
    y = np.random.default_rng(2).normal(3.0, 1.5, size=12)
    n, center, squares = len(y), float(y.mean()), float(((y - y.mean()) ** 2).sum())

    def log_likelihood(x: Any, xp: Any) -> Any:
        mean, sd = x[..., 0], x[..., 1]
        sums = squares + n * (center - mean) ** 2
        return -0.5 * sums / sd**2 - n * xp.log(sd) - 0.5 * n * math.log(2 * math.pi)

    def truth() -> Truth:
        grid = (np.arange(4000) + 0.5) / 400
        sd = grid[:, None]
        # the integral over the mean, from 0 to 10, is that of a normal density
        widths = sd / math.sqrt(n)
        inside = special.ndtr((10 - center) / widths) - special.ndtr(-center / widths)
        of_sd = -0.5 * squares / sd**2 - n * np.log(sd) - 0.5 * n * math.log(2 * math.pi)
        terms = of_sd + np.log(inside * widths * math.sqrt(2 * math.pi))
        return Truth(float(special.logsumexp(terms) - math.log(400 * 100)))

    return Problem(2, ("uniform", 0.0, 10.0), log_likelihood, truth)


# The eggbox of the literature of nested sampling.


def eggbox() -> Problem:
    """18 peaks in a square, whose border cuts the outer peaks."""

    def log_likelihood(x: Any, xp: Any) -> Any:
        return (2.0 + xp.cos(x[..., 0] / 2) * xp.cos(x[..., 1] / 2)) ** 5

    def truth() -> Truth:
        nodes, weights = np.polynomial.legendre.leggauss(1000)
        cosine = np.cos(2.5 * np.pi * (nodes + 1))
        values = (2.0 + cosine[:, None] * cosine) ** 5 + np.log(weights[:, None] * weights / 4)
        steps = np.arange(6)
        parts = np.where((steps == 0) | (steps == 5), 0.5, 1.0)
        each = [parts[i] * parts[j] for i in steps for j in steps if (i + j) % 2 == 0]
        return Truth(float(special.logsumexp(values)), np.array(each) / np.sum(each))

    def shares(x: np.ndarray) -> np.ndarray:
        peaks = [(i, j) for i in range(6) for j in range(6) if (i + j) % 2 == 0]
        distance = ((x[:, None] / (2 * np.pi) - np.array(peaks)) ** 2).sum(-1)
        return one_hot(distance.argmin(1), len(peaks))

    return Problem(2, ("uniform", 0.0, 10 * math.pi), log_likelihood, truth, shares)


# Two shells.


def shells(size: int) -> Problem:
    """Two shells of radius 2 and width 0.1, 7 apart."""
    radius, width, centre = 2.0, 0.1, 3.5

    def log_likelihood(x: Any, xp: Any) -> Any:
        rest = xp.sum(x[..., 1:] ** 2, axis=-1)
        terms = [
            log_normal((xp.sqrt((x[..., 0] - c) ** 2 + rest) - radius) ** 2, 1, width**2)
            for c in (-centre, centre)
        ]
        return xp.logaddexp(*terms)

    def truth() -> Truth:
        def density(r: float) -> float:
            return (r / radius) ** (size - 1) * stats.norm.pdf(r, radius, width)

        line = integrate.quad(density, 0, 5, points=[1.5, 2.0, 3.0], epsabs=0, limit=500)[0]
        surface = math.log(2) + size / 2 * math.log(math.pi) - special.gammaln(size / 2)
        log_z = math.log(2 * line) + surface + (size - 1) * math.log(radius) - size * math.log(12)
        return Truth(float(log_z), np.array([0.5, 0.5]))

    def shares(x: np.ndarray) -> np.ndarray:
        return one_hot((x[:, 0] > 0).astype(int), 2)

    return Problem(size, ("uniform", -6.0, 6.0), log_likelihood, truth, shares)


# Rosenbrock's function.


def rosenbrock(size: int) -> Problem:
    """A chain of curved valleys in a box."""
    low, high = -5.0, 5.0

    def log_likelihood(x: Any, xp: Any) -> Any:
        bends = 100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2
        return -xp.sum(bends + (1.0 - x[..., :-1]) ** 2, axis=-1)

    def truth() -> Truth:
        sd = math.sqrt(1 / 200)
        x, step = np.linspace(low, high, 4001, retstep=True)
        slope = -((1 - x) ** 2)
        ends = stats.norm.cdf(high, x**2, sd) - stats.norm.cdf(low, x**2, sd)
        # message[i] is the integral over the later coordinates, as a function of coordinate i
        message = ends * sd * math.sqrt(2 * math.pi)
        for _ in range(size - 2):
            inner = np.exp(slope) * message
            message = np.exp(-100 * (x - x[:, None] ** 2) ** 2) @ inner * step
        total = (np.exp(slope) * message).sum() * step
        return Truth(math.log(total) - size * math.log(high - low))

    return Problem(size, ("uniform", low, high), log_likelihood, truth)


# A mixture of normals in ten dimensions.


def normals() -> Problem:
    """Three normals of unequal weights and widths in ten dimensions."""
    size, shares_of, sds = 10, np.array([0.6, 0.3, 0.1]), np.array([1.0, 0.6, 0.8])
    means = np.array([[-4.0] * 10, [4.0] * 10, [4.0, -4.0] * 5])

    def terms(x: Any, xp: Any) -> list[Any]:
        return [
            math.log(w) + log_normal(xp.sum((x - mean) ** 2, axis=-1), size, s**2)
            for w, mean, s in zip(shares_of, means, sds, strict=True)
        ]

    def log_likelihood(x: Any, xp: Any) -> Any:
        first, second, third = terms(x, xp)
        return xp.logaddexp(xp.logaddexp(first, second), third)

    def truth() -> Truth:
        sides = stats.norm.cdf(10, means, sds[:, None]) - stats.norm.cdf(-10, means, sds[:, None])
        inside = shares_of * sides.prod(1)
        return Truth(float(np.log(inside.sum()) - size * np.log(20)), inside / inside.sum())

    def shares(x: np.ndarray) -> np.ndarray:
        return special.softmax(np.stack(terms(x, np), -1), -1)

    return Problem(size, ("uniform", -10.0, 10.0), log_likelihood, truth, shares)


# Spike and slab.

INCLUSION = 0.3


@cache
def spike_rows() -> tuple[np.ndarray, np.ndarray]:
    """40 rows of six predictors, with two pairs of nearly equal ones."""
    rng = np.random.default_rng(2)
    x = 2.0 * rng.normal(size=(40, 6))
    x[:, 1] = 0.95 * x[:, 0] + 0.31 * x[:, 1]
    x[:, 3] = 0.95 * x[:, 2] + 0.31 * x[:, 3]
    return x, 0.8 * x[:, 0] - 0.6 * x[:, 3] + 0.15 * x[:, 4] + rng.normal(size=40)


@cache
def spike_models() -> tuple[np.ndarray, np.ndarray]:
    """All sets of predictors, and the logarithms of their prior probabilities."""
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=6)))
    count = sets.sum(1)
    return sets, count * math.log(INCLUSION) + (6 - count) * math.log(1 - INCLUSION)


def spike_and_slab() -> Problem:
    """A regression in which each predictor is used or not: 64 models."""
    (x, y), (sets, prior) = spike_rows(), spike_models()
    squares = sum_of_squares(x, y)

    def terms(b: Any, xp: Any) -> list[Any]:
        found = []
        for used, log_prior in zip(sets, prior, strict=True):
            found.append(log_prior + log_normal(squares(b * used, xp), len(y), 1.0))
        return found

    def log_likelihood(b: Any, xp: Any) -> Any:
        total, *rest = terms(b, xp)
        for term in rest:
            total = xp.logaddexp(total, term)
        return total

    def truth() -> Truth:
        def evidence(used: np.ndarray) -> float:
            covariance = np.eye(len(y)) + (x * used) @ x.T
            return float(stats.multivariate_normal(np.zeros(len(y)), covariance).logpdf(y))

        each = prior + np.array([evidence(used) for used in sets])
        return Truth(float(special.logsumexp(each)), special.softmax(each))

    def shares(b: np.ndarray) -> np.ndarray:
        return special.softmax(np.stack(terms(b, np), -1), -1)

    return Problem(6, ("normal", 0.0, 1.0), log_likelihood, truth, shares)


# A mixture whose labels can be exchanged.

MIXED = np.array([-6.2, -5.1, -4.4, -0.7, 0.3, 0.9, 3.8, 5.0, 6.1])


def labels() -> Problem:
    """Nine data of a mixture of three equal normals: six modes."""
    count, sd = 3, 5.0

    def log_likelihood(mu: Any, xp: Any) -> Any:
        total = 0.0
        for seen in MIXED:
            terms = [log_normal((seen - mu[..., k]) ** 2, 1, 1.0) for k in range(count)]
            total = total + xp.logaddexp(xp.logaddexp(terms[0], terms[1]), terms[2])
        return total - len(MIXED) * math.log(count)

    def truth() -> Truth:
        codes = np.array(list(itertools.product(range(count), repeat=len(MIXED))))
        total = -len(MIXED) * math.log(count) * np.ones(len(codes))
        for k in range(count):
            own = codes == k
            n, sums, squares = own.sum(1), own @ MIXED, own @ MIXED**2
            # y has covariance I + sd^2 1 1'
            shrink = sd**2 / (1 + n * sd**2)
            quadratic = squares - shrink * sums**2
            total += -0.5 * (n * math.log(2 * math.pi) + np.log(1 + n * sd**2) + quadratic)
        return Truth(float(special.logsumexp(total)), np.full(6, 1 / 6))

    def shares(mu: np.ndarray) -> np.ndarray:
        orders = list(itertools.permutations(range(count)))
        found = np.argsort(mu, axis=1)
        return np.stack([(found == order).all(1) for order in orders], -1).astype(float)

    return Problem(count, ("normal", 0.0, sd), log_likelihood, truth, shares)


# A phase transition.


def transition(size: int) -> Problem:
    """A narrow normal of weight 100 in a wide one.

    The annealed posterior jumps from the wide to the narrow one at a power below 1.
    Source: J. Skilling, Nested sampling for general Bayesian computation, Bayesian Analysis 1
    (2006), section 4.
    """
    shift, narrow, wide = 0.031, 0.01, 0.1

    def terms(x: Any, xp: Any) -> list[Any]:
        return [
            math.log(100) + log_normal(xp.sum((x - shift) ** 2, axis=-1), size, narrow**2),
            log_normal(xp.sum(x**2, axis=-1), size, wide**2),
        ]

    def log_likelihood(x: Any, xp: Any) -> Any:
        return xp.logaddexp(*terms(x, xp))

    def truth() -> Truth:
        def inside(mean: float, sd: float) -> float:
            return float(stats.norm.cdf(0.5, mean, sd) - stats.norm.cdf(-0.5, mean, sd)) ** size

        masses = np.array([100 * inside(shift, narrow), inside(0.0, wide)])
        return Truth(float(np.log(masses.sum())), masses / masses.sum())

    def shares(x: np.ndarray) -> np.ndarray:
        return special.softmax(np.stack(terms(x, np), -1), -1)

    return Problem(size, ("uniform", -0.5, 0.5), log_likelihood, truth, shares)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "regression": regression,
    "scale": scale,
    "eggbox": eggbox,
    "shells 2": lambda: shells(2),
    "shells 10": lambda: shells(10),
    "shells 30": lambda: shells(30),
    "rosenbrock 2": lambda: rosenbrock(2),
    "rosenbrock 4": lambda: rosenbrock(4),
    "normals 10": normals,
    "spike and slab": spike_and_slab,
    "labels": labels,
    "transition 5": lambda: transition(5),
    "transition 10": lambda: transition(10),
    "transition 20": lambda: transition(20),
}
