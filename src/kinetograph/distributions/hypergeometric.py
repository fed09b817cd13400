"""The hypergeometric distribution of draws without replacement."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.rejection import first_accepted
from ..bits.source import Source
from ..graph.node import Data, Node
from ..graph.numerics.deviance import log_binomial
from ..graph.numerics.special import log1mexp
from ..graph.source import place_text
from .count_numbers import SEARCH, counts, deviance, log_factorial_rest, search, uniforms
from .declaration import declared
from .family import Family
from .generator import WHOLE
from .inversion import whole_quantile
from .moments import Moments
from .parameter import whole
from .sums import log_sum_outward
from .support import NATURALS, Support, WholeNumbers
from .tails import Tails

__all__ = ["draw", "hypergeometric"]


def _support(m: Node, n: Node, k: Node) -> Support:
    if not all(isinstance(node, Data) for node in (m, n, k)):
        return NATURALS
    m_, n_, k_ = (node.value for node in (m, n, k))  # type: ignore[attr-defined]
    return WholeNumbers(np.maximum(0, k_ - n_), np.minimum(m_, k_))


def _check(m: Node, n: Node, k: Node) -> None:
    if not all(isinstance(node, Data) for node in (m, n, k)):
        return
    if np.any(k.value > m.value + n.value):  # type: ignore[attr-defined]
        raise ValueError(
            "hypergeometric: k must not be above m + n, as no more can be drawn than there are"
            f"{place_text()}"
        )


def _terms(x: Any, m: Any, n: Any, k: Any) -> tuple[Any, ...]:
    low, high = jnp.maximum(0.0, k - n), jnp.minimum(m, k)
    inside = (x >= low) & (x <= high)
    x = jnp.where(inside, x, low)
    total = m + n
    some = total > 0
    p = jnp.where(some, k / jnp.where(some, total, 1.0), 0.0)
    q = jnp.where(some, (total - k) / jnp.where(some, total, 1.0), 1.0)
    value = sum(log_binomial(x, m - x, p, q)) + sum(log_binomial(k - x, n - k + x, p, q))
    value = value - sum(log_binomial(k, total - k, p, q))
    return (jnp.where(inside, value, -jnp.inf),)


def draw(source: Source, m: Any, n: Any, k: Any) -> Any:
    """Draw by sequential search or by Stadlober's ratio of uniforms.

    Search is used if the mean is below 10. The rarer kind is counted, among the drawn objects or
    among the remaining ones, whichever are fewer. Source: E.
    Stadlober, The ratio of uniforms approach for generating discrete random variates, Journal of
    Computational and Applied Mathematics 31 (1990) 181-189.
    """
    m, n, k = (jnp.asarray(v).astype(np.int64) for v in (m, n, k))
    valid = (m >= 0) & (n >= 0) & (k >= 0) & (k <= m + n)
    m, n, k = (jnp.where(valid, v, 0) for v in (m, n, k))
    rare, sample_size = jnp.minimum(m, n), jnp.minimum(k, m + n - k)
    good, bad, size = (jnp.asarray(v, np.float64) for v in (rare, jnp.maximum(m, n), sample_size))
    total = jnp.maximum(good + bad, 1.0)
    p, q = size / total, (total - size) / total
    mean = good * p
    few = valid & (mean < SEARCH)
    some = jnp.where(few, mean, 0.0) > 0

    def up(i: Any) -> Any:
        return jnp.maximum((good - i) * (size - i), 0.0) / ((i + 1) * (bad - size + i + 1))

    none = jnp.exp(jnp.where(some, _terms(0.0, good, bad, size)[0], 0.0))
    searched = search(source, few, none, lambda i: jnp.where(some, up(i), 0.0), mean)

    many = valid & ~few

    def log_probability(z: Any, good: Any, bad: Any, size: Any, p: Any, q: Any) -> Any:
        # Up to a term that does not depend on z.
        pairs = [(z, good * p), (good - z, good * q), (size - z, bad * p)]
        pairs += [(bad - size + z, bad * q)]
        return -sum(deviance(i, mean) + log_factorial_rest(i) for i, mean in pairs)

    given = [jnp.where(many, v, w) for v, w in zip((good, bad, size), (40.0, 40.0, 40.0))]
    given += [jnp.where(many, v, 0.5) for v in (p, q)]
    top = log_probability(
        jnp.floor((given[2] + 1) * (given[0] + 1) / (given[0] + given[1] + 2)), *given
    )

    def propose(source: Source, attempt: Any, *parameters: Any) -> tuple[Any, Any]:
        *given, top = parameters
        good, bad, size, p, q = given
        u, v = uniforms(source, attempt)
        u = 1 - u
        centre = good * p + 0.5
        variance = size * q * good / (good + bad) * bad / jnp.maximum(good + bad - 1, 1.0)
        width = 1.7155277699214135 * jnp.sqrt(variance + 0.5) + 0.8989161620588988
        z = jnp.floor(centre + width * (v - 0.5) / u)
        inside = (z >= 0) & (z <= jnp.minimum(good, size))
        z = jnp.clip(z, 0, jnp.minimum(good, size))
        return z, inside & (2 * jnp.log(u) <= log_probability(z, *given) - top)

    large = first_accepted(source, propose, [*given, top], many, np.float64(0))
    count = jnp.where(few, searched, large).astype(np.int64)
    count = jnp.minimum(count, jnp.minimum(rare, sample_size))
    count = jnp.where(m > n, sample_size - count, count)  # objects of the first kind
    count = jnp.where(sample_size < k, m - count, count)
    return counts(valid, jnp.broadcast_to(count, source.shape))


def _ratio(x: Any, left: Any, m: Any, n: Any, k: Any) -> Any:
    down, over_down = x * (n - k + x), (m - x + 1) * (k - x + 1)
    up, over_up = (m - x) * (k - x), (x + 1) * (n - k + x + 1)
    top, over = jnp.where(left, down, up), jnp.where(left, over_down, over_up)
    return jnp.where(top > 0, top / jnp.where(over > 0, over, 1.0), 0.0)


def _tails(x: Any, m: Any, n: Any, k: Any) -> Tails:
    x, m, n, k = jnp.broadcast_arrays(x, m, n, k)
    low, high = jnp.maximum(0.0, k - n), jnp.minimum(m, k)
    none, all_ = x < low, x >= high
    x = jnp.where(none | all_, low, x)
    left = x * (m + n) < m * k
    start = jnp.minimum(jnp.where(left, x, x + 1.0), high)
    first = _terms(start, m, n, k)[0]
    smaller = log_sum_outward(
        start, left, first, lambda i, left: _ratio(i, left, m, n, k), jnp.bool_(True)
    )
    smaller = lax.stop_gradient(jnp.minimum(smaller, -1e-300))
    larger = log1mexp(-smaller)
    below, above = jnp.where(left, smaller, larger), jnp.where(left, larger, smaller)
    below = jnp.where(none, -jnp.inf, jnp.where(all_, 0.0, below))
    return below, jnp.where(none, 0.0, jnp.where(all_, -jnp.inf, above))


def _quantile(log_below: Any, log_above: Any, m: Any, n: Any, k: Any) -> Any:
    low, high = jnp.maximum(0.0, k - n), jnp.minimum(m, k)
    return whole_quantile(_tails, log_below, log_above, m, n, k, low=low, high=high)


def _moments(m: Any, n: Any, k: Any) -> Moments:
    total = jnp.maximum(m + n, 1.0)
    mean = k * (m / total)
    # With a single object the variance is 0: either it is drawn or not.
    return mean, mean * (n / total) * ((m + n - k) / jnp.maximum(total - 1.0, 1.0))


HYPERGEOMETRIC = Family(
    "hypergeometric",
    (whole("m"), whole("n"), whole("k")),
    _terms,
    _support,
    check=_check,
    dtype=WHOLE,
    draw=draw,
    tails=_tails,
    quantile=_quantile,
    moments=_moments,
)


@declared(
    HYPERGEOMETRIC,
    draws="Numbers of the `m` objects, not of the `n`, among `k` drawn without replacement.",
    scipy="hypergeom",
    advice={
        "N": "give m=k, n=N - k, k=n for N, k, n elsewhere",
        "M": "give m=n, n=M - n, k=N for M, n, N of SciPy",
    },
)
def hypergeometric(m: Any, n: Any, k: Any):
    """The number of objects of one kind, drawn without replacement.

    `k` objects are drawn from `m` of that kind and `n` of another.

        log p(x) = log C(m, x) + log C(n, k - x) - log C(m + n, k),  x = max(0, k - n) .. min(m, k)

    Parameters
    ----------
    m, n
        The numbers of objects of the first and of the second kind.
    k
        The number of drawn objects, at most m + n.

    Raises
    ------
    ValueError
        If a parameter is not a whole number, or `k` is known to be above m + n.

    Examples
    --------
    >>> import kinetograph as kg
    >>> density = kg.log_density(kg.hypergeometric(10, 20, 8), [3, 5, 2])
    """
