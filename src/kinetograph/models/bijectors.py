"""Bijectors from free numbers to constrained values, one for each support.

A bijector maps a vector of free real numbers to a value inside its support, and gives the logarithm
of the Jacobian determinant of that map. If several expressions share an exponential, one call
computes them together.

Sources: Stan Reference Manual, chapter Constraint Transforms; D. Lewandowski, D. Kurowicka, H. Joe
(2009) for correlation matrices by canonical partial correlations.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions import support as sp
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Node
from .custom_bijectors import CustomBijectorSupport

__all__ = ["SupportBijector", "bijector"]

Lookup = Callable[[Any], Any]


class Image(NamedTuple):
    """The image of free numbers under a bijector.

    `forms` are other forms of the value, by kind, such as its logarithm.
    """

    value: Any
    log_jacobian: Any
    forms: Mapping[str, Any]


class SupportBijector:
    """The base class of bijectors.

    `shape` is the shape of the constrained value, `free_shape` the shape of the free numbers.
    """

    def __init__(self, shape: tuple[int, ...], free_shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.free_shape = free_shape

    @property
    def free_size(self) -> int:
        """The total number of free numbers."""
        return math.prod(self.free_shape)

    def forward(self, free: Any, lookup: Lookup) -> Image:
        """The value and log Jacobian; `lookup` gives the tensor of a bound."""
        raise NotImplementedError(type(self).__name__)

    def image(self, free: Any, lookup: Lookup, scope: Scope | None) -> Image:
        """The same as `forward`, in a region that is lowered with `scope`."""
        return self.forward(free, lookup)

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        """The free numbers of a value."""
        raise NotImplementedError(type(self).__name__)


class CustomBijector(SupportBijector):
    """The expressions of a user's `kg.Bijector`."""

    def __init__(self, shape: tuple[int, ...], support: CustomBijectorSupport) -> None:
        super().__init__(shape, support.free.shape)
        self.support = support

    def forward(self, free: Any, lookup: Lookup) -> Image:
        return self.image(free, lookup, None)

    def image(self, free: Any, lookup: Lookup, scope: Scope | None) -> Image:
        bijection = self.support
        image, log_det = self._evaluate(
            bijection.free, free, (bijection.image, bijection.log_det), lookup, scope
        )
        return Image(image, jnp.sum(log_det), {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        bijection = self.support
        return self._evaluate(bijection.value, value, (bijection.preimage,), lookup, None)[0]

    def _evaluate(
        self, given: Node, value: Any, nodes: tuple[Node, ...], lookup: Lookup, scope: Scope | None
    ) -> list[Any]:
        environment: Environment = {node: lookup(node) for node in self.support.outer}
        environment[given] = jnp.asarray(value, given.dtype)
        evaluate(nodes, environment, scope=scope)
        return [environment[node] for node in nodes]


class Identity(SupportBijector):
    """x = u."""

    def forward(self, free: Any, lookup: Lookup) -> Image:
        return Image(free, 0.0, {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        return value


class Bounded(SupportBijector):
    """Bounds below, above or both, element by element.

    lower:  x = a + exp(u)              log J = u
    upper:  x = b - exp(u)              log J = u
    both:   x = a + (b - a) sigma(u)    log J = log(b - a) - |u| - 2 log(1 + exp(-|u|))
    """

    def __init__(self, shape: tuple[int, ...], support: sp.Interval) -> None:
        super().__init__(shape, shape)
        lower, upper = self.lower, self.upper = support.lower, support.upper
        self._form = support.form  # the form of the value that the free numbers are, if any
        # A bound that is a node is finite. The elements of a constant bound may be infinite.
        self.has_lower = self._finite(lower)
        self.has_upper = self._finite(upper)

    def _finite(self, bound: Any) -> np.ndarray:
        finite = np.True_ if isinstance(bound, Node) else np.isfinite(bound)
        return np.broadcast_to(finite, self.shape)

    def _bounds(self, lookup: Lookup) -> tuple[Any, Any]:
        def finite(has: np.ndarray, bound: Any) -> Any:
            return lookup(bound) if has.all() else jnp.where(has, lookup(bound), 0.0)

        return finite(self.has_lower, self.lower), finite(self.has_upper, self.upper)

    def forward(self, free: Any, lookup: Lookup) -> Image:
        a, b = self._bounds(lookup)
        both, low, high = self._kinds()
        parts: list[tuple[np.ndarray, Any, Any]] = []
        if both.any():
            # Written out, because the derivative at 0 must be one-sided; the derivative of abs is
            # not.
            size = jnp.where(free >= 0, free, -free)
            e = jnp.exp(-size)
            sigma = jnp.where(free >= 0, 1.0, e) / (1.0 + e)
            width = jnp.where(both, b - a, 1.0) if not both.all() else b - a
            log_jacobian = jnp.log(width) - size - 2.0 * jnp.log1p(e)
            parts.append((both, a + width * sigma, log_jacobian))
        if low.any() or high.any():
            # An exponential that overflows in an unused element would make the gradient NaN.
            one_sided = low | high
            guarded = free if one_sided.all() else jnp.where(one_sided, free, 0.0)
            e = jnp.exp(guarded)
            if low.any():
                parts.append((low, a + e, free))
            if high.any():
                parts.append((high, b - e, free))
        value, log_jacobian = free, jnp.zeros_like(free)
        for kind, x, j in parts:
            value = x if kind.all() else jnp.where(kind, x, value)
            log_jacobian = j if kind.all() else jnp.where(kind, j, log_jacobian)
        forms = {} if self._form is None else {self._form: free}
        return Image(value, jnp.sum(log_jacobian), forms)

    def _kinds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        both = self.has_lower & self.has_upper
        return both, self.has_lower & ~both, self.has_upper & ~both

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        a, b = self._bounds(lookup)
        both, low, high = self._kinds()
        result = value
        if both.any():
            # Computed from both distances, so that no digits are lost near either bound.
            below, above = jnp.where(both, value - a, 1.0), jnp.where(both, b - value, 1.0)
            result = jnp.where(both, jnp.log(below) - jnp.log(above), result)
        if low.any():
            result = jnp.where(low, jnp.log(jnp.where(low, value - a, 1.0)), result)
        if high.any():
            result = jnp.where(high, jnp.log(jnp.where(high, b - value, 1.0)), result)
        return result


class StickBreaking(SupportBijector):
    """Simplex by stick breaking.

    z_k = sigma(u_k - log(K - k)), x_k = z_k (1 - x_1 - ... - x_{k-1}),
    log J = sum_k log z_k + log(1 - z_k) + log(remainder before k), k = 1 .. K - 1.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape, (*shape[:-1], shape[-1] - 1))
        self._offset = np.log(np.arange(shape[-1] - 1, 0, -1.0))

    def forward(self, free: Any, lookup: Lookup) -> Image:
        t = free - self._offset
        log_z, log_rest = jax.nn.log_sigmoid(t), jax.nn.log_sigmoid(-t)
        log_remainder = jnp.cumsum(log_rest, -1)
        before = jnp.concatenate([jnp.zeros_like(t[..., :1]), log_remainder[..., :-1]], -1)
        log_value = jnp.concatenate([log_z + before, log_remainder[..., -1:]], -1)
        return Image(jnp.exp(log_value), jnp.sum(log_z + log_rest + before), {"log": log_value})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        # The rest of the stick is summed from its end, which avoids cancellation.
        after = jnp.cumsum(value[..., ::-1], -1)[..., ::-1][..., 1:]
        return jnp.log(value[..., :-1]) - jnp.log(after) + self._offset


class Increments(SupportBijector):
    """Ordered vector from its increments.

    x_1 = u_1, x_i = x_{i-1} + exp(u_i); log J = sum of u_i, i >= 2.
    """

    def forward(self, free: Any, lookup: Lookup) -> Image:
        steps = jnp.concatenate([free[..., :1], jnp.exp(free[..., 1:])], -1)
        return Image(jnp.cumsum(steps, -1), jnp.sum(free[..., 1:]), {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        return jnp.concatenate([value[..., :1], jnp.log(jnp.diff(value, axis=-1))], -1)


class PositiveIncrements(SupportBijector):
    """Positive ordered vector from its increments.

    x_i = x_{i-1} + exp(u_i) with x_0 = 0; log J = sum of u.
    """

    def forward(self, free: Any, lookup: Lookup) -> Image:
        return Image(jnp.cumsum(jnp.exp(free), -1), jnp.sum(free), {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        return jnp.log(jnp.diff(value, axis=-1, prepend=0.0))


class Helmert(SupportBijector):
    """Vector with sum zero, by a Helmert matrix.

    x_i = w_i + ... + w_(n-1) - (i - 1) w_(i-1), w_k = u_k / sqrt(k (k + 1)); log J = 0.

    The columns of the matrix have length 1, and are orthogonal to each other and to a vector of
    ones.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape, (*shape[:-1], shape[-1] - 1))
        self._number = np.arange(1.0, shape[-1])
        self._length = np.sqrt(self._number * (self._number + 1.0))

    def forward(self, free: Any, lookup: Lookup) -> Image:
        w = free / self._length
        zero = jnp.zeros_like(free[..., :1])
        after = jnp.concatenate([jnp.cumsum(w[..., ::-1], -1)[..., ::-1], zero], -1)
        return Image(after - jnp.concatenate([zero, self._number * w], -1), 0.0, {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        before = jnp.cumsum(value[..., :-1], -1)
        return (before - self._number * value[..., 1:]) / self._length


class PartialCorrelations(SupportBijector):
    """Cholesky factor of a correlation matrix, from partial correlations z = tanh(u).

        L_ij = z_ij sqrt(rest_ij), rest_ij = 1 - sum_{j' < j} L_ij'**2, L_ii = sqrt(rest_ii);
        log J = sum_{i > j} log(1 - z_ij**2) + log(rest_ij) / 2.

    rest_ij is the product of 1 - z_ij'**2 = 1 / cosh(u_ij')**2 over j' < j. In this form nothing
    cancels if z rounds to 1, and log J is a weighted sum of log cosh(u).
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        n = shape[-1]
        super().__init__(shape, (*shape[:-2], n * (n - 1) // 2))
        rows, columns = np.tril_indices(n, -1)
        # 1 / cosh(u_ij) is squared in 1 - z_ij**2 and enters rest_ij' for the i - j - 1 later j'.
        self._weights = rows - columns + 1.0

    def _factor(self, free: Any) -> tuple[Any, Any]:
        n = self.shape[-1]
        z, shrink = jnp.tanh(free), 1.0 / jnp.cosh(free)
        zero, one = jnp.zeros(free.shape[:-1], free.dtype), jnp.ones(free.shape[:-1], free.dtype)
        rows, place = [], 0
        for i in range(n):
            row, rest = [], one
            for _ in range(i):
                row.append(z[..., place] * rest)
                rest = rest * shrink[..., place]
                place += 1
            row.append(rest)
            rows.append(jnp.stack(row + [zero] * (n - i - 1), -1))
        log_shrink = math.log(2.0) - free - jax.nn.softplus(-2.0 * free)
        return jnp.stack(rows, -2), jnp.sum(self._weights * log_shrink)

    def forward(self, free: Any, lookup: Lookup) -> Image:
        return Image(*self._factor(free), {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        n = self.shape[-1]
        columns = []
        # sinh(u_ij) = L_ij / sqrt(rest after j); the rest is summed from its end.
        rest = jnp.cumsum(value[..., ::-1] ** 2, -1)[..., ::-1]
        for i in range(n):
            for j in range(i):
                columns.append(jnp.arcsinh(value[..., i, j] / jnp.sqrt(rest[..., i, j + 1])))
        return jnp.stack(columns, -1)


class Correlation(PartialCorrelations):
    """Correlation matrix R = L L'.

    The map from L to R has log J = sum_i (n - i) log L_ii, i = 1 .. n.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape)
        n = shape[-1]
        # log L_ii is the sum of -log cosh(u_ij) over j < i.
        self._weights = self._weights + (n - 1.0 - np.tril_indices(n, -1)[0])

    def forward(self, free: Any, lookup: Lookup) -> Image:
        factor, log_jacobian = self._factor(free)
        # The diagonal is exactly 1; without this line rounding would change it.
        product = jnp.einsum("...ij,...kj->...ik", factor, factor)
        value = jnp.where(np.eye(self.shape[-1], dtype=bool), 1.0, product)
        return Image(value, log_jacobian, {"cholesky": factor})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        return super().inverse(jnp.linalg.cholesky(value), lookup)


class CholeskyBijector(SupportBijector):
    """Cholesky factor L of a covariance matrix.

    L_ij = u_ij below the diagonal, L_ii = exp(u_ii); log J = sum_i u_ii.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        n = shape[-1]
        super().__init__(shape, (*shape[:-2], n * (n + 1) // 2))
        self._rows, self._columns = np.tril_indices(n)
        self._diagonal = np.flatnonzero(self._rows == self._columns)

    def _factor(self, free: Any) -> Any:
        n = self.shape[-1]
        on_diagonal = self._rows == self._columns
        # An exponential that overflows in an unused element would make the gradient NaN.
        elements = jnp.where(on_diagonal, jnp.exp(jnp.where(on_diagonal, free, 0.0)), free)
        places = np.zeros((n, n), int)
        places[self._rows, self._columns] = np.arange(len(self._rows))
        return jnp.where(np.tri(n, dtype=bool), elements[..., places], 0.0)

    def forward(self, free: Any, lookup: Lookup) -> Image:
        return Image(self._factor(free), jnp.sum(free[..., self._diagonal]), {})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        elements = value[..., self._rows, self._columns]
        on_diagonal = self._rows == self._columns
        return jnp.where(on_diagonal, jnp.log(jnp.where(on_diagonal, elements, 1.0)), elements)


class Covariance(CholeskyBijector):
    """Covariance matrix X = L L'.

    log J = n log 2 + sum_i (n - i + 2) u_ii, i = 1 .. n. It is the Jacobian of the exponentials,
    and of the map from L to the elements of X on and below the diagonal.
    """

    def forward(self, free: Any, lookup: Lookup) -> Image:
        n = self.shape[-1]
        factor = self._factor(free)
        value = jnp.einsum("...ij,...kj->...ik", factor, factor)
        weights = np.arange(n + 1.0, 1.0, -1.0)
        matrices = math.prod(self.shape[:-2])
        log_jacobian = jnp.sum(weights * free[..., self._diagonal])
        log_jacobian = log_jacobian + matrices * n * math.log(2.0)
        return Image(value, log_jacobian, {"cholesky": factor})

    def inverse(self, value: Any, lookup: Lookup) -> Any:
        return super().inverse(jnp.linalg.cholesky(value), lookup)


def bijector(support: sp.Support, shape: tuple[int, ...]) -> SupportBijector:
    """The bijector whose values lie in `support`."""
    if isinstance(support, sp.Interval):
        if support is sp.REAL:
            return Identity(shape, shape)
        bounded = Bounded(shape, support)
        if not (bounded.has_lower.any() or bounded.has_upper.any()):
            return Identity(shape, shape)
        return bounded
    if isinstance(support, CustomBijectorSupport):
        return CustomBijector(shape, support)
    simple: dict[type[sp.Support], Callable[[], SupportBijector]] = {
        sp.Simplex: lambda: StickBreaking(shape),
        sp.ZeroSum: lambda: Helmert(shape),
        sp.Ordered: lambda: _increments(support, shape),
        sp.CholeskyCovariance: lambda: CholeskyBijector(shape),
        sp.CholeskyCorrelation: lambda: PartialCorrelations(shape),
        sp.CorrelationMatrix: lambda: Correlation(shape),
        sp.CovarianceMatrix: lambda: Covariance(shape),
    }
    return simple[type(support)]()


def _increments(support: Any, shape: tuple[int, ...]) -> SupportBijector:
    """The bijector of ordered vectors."""
    return (PositiveIncrements if support.positive else Increments)(shape, shape)
