"""Families of distributions: log density, parameters, support, tails, moments and draws."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.numerics.derivative_rules import by_log
from .generator import Generator
from .moments import Moments
from .support import REAL, Support
from .tails import Tails, by_density

__all__ = ["FAMILIES", "Family"]

FAMILIES: dict[str, "Family"] = {}
# Up to this s, sums of cancelling terms of size s log(s) have an error of at most 1e-10.
SMALL = 10_000


@dataclass(frozen=True, eq=False)
class Family(Generator):
    """A family of distributions with a density.

    `terms(x, *parameters)` returns the log density as a tuple of arrays that broadcast together;
    the log density is their sum. Terms that do not depend on x have a smaller shape, so that the
    total over many observations computes them once. `support(*parameters)` gets the parameters as
    nodes.

    `forms` lists which other forms of x and of parameters the terms can use: for each name, sets of
    kinds in order of preference. The first available set is passed by keywords, such as `log_x=` or
    `logit_prob=`. See `graph.forms.representations`.

    `terms` avoids cancellation of large counts or shapes, which costs time. `small_terms` is the
    plain sum. It is used if no argument named in `sizes` is known to exceed `SMALL`.

    `tails(x, *parameters)` returns log P(X <= x) and log P(X > x) for any real x, or for any whole
    x if the family is discrete. `quantile(log_below, log_above, *parameters)` is the inverse: the x
    with these tails, or the smallest whole x with log P(X <= x) at least log_below.

    `moments(*parameters)` returns the mean and the variance of each element. For vectors and
    matrices it gets their shape as `event=`. `truncated_moments(lower, upper, *parameters)` are the
    moments between two bounds; None means no bound.

    `atom` is the one number of a family of real numbers that has a positive probability: the lowest
    number of the support. The density there is that probability. Data can follow such a family, an
    unknown cannot.

    `key` is a unique name, under which saved models find the family. The key of a derived family
    contains the keys of its parts.
    """

    terms: Callable[..., tuple[Any, ...]]
    support: Callable[..., Support] = lambda *parameters: REAL
    total: Callable[..., Any] | None = None
    forms: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType({})
    small_terms: Callable[..., tuple[Any, ...]] | None = None
    sizes: tuple[str, ...] = ()
    tails: Callable[..., Tails] | None = None
    quantile: Callable[..., Any] | None = None
    moments: Callable[..., Moments] | None = None
    truncated_moments: Callable[..., Moments] | None = None
    atom: float | None = None
    key: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.name)
            FAMILIES[self.name] = self

    def expression(self, parameters: list[str]) -> str:
        """The distribution as users write it: `normal(mu, 1)`."""
        return f"{self.name}({', '.join(parameters)})"

    @property
    def stable_text(self) -> str:
        """A text that identifies the family when programs are compared."""
        return f"family {self.key}"

    @property
    def discrete(self) -> bool:
        """Whether the numbers are whole."""
        return self.dtype is not None

    def log_density(self, x: Any, *parameters: Any, small: bool = False, **forms: Any) -> Any:
        """The log density of each element (each vector, each matrix) of x."""
        if jnp.size(x) == 0:
            # Not computed: terms of the parameters alone may have infinite derivatives.
            ndims = (self.event_ndim, *(p.event_ndim for p in self.parameters))
            reals = _real(x, parameters)
            shapes = (t.shape[: t.ndim - n] for t, n in zip(reals, ndims, strict=True))
            return jnp.zeros(jnp.broadcast_shapes(*shapes), reals[0].dtype)
        terms_of = self.small_terms if small and self.small_terms is not None else self.terms
        terms = terms_of(*self._by_logs(_real(x, parameters), forms), **forms)
        return sum(terms[1:], start=jnp.asarray(terms[0]))

    def guarded_log_density(
        self, x: Any, *parameters: Any, small: bool = False, **forms: Any
    ) -> Any:
        """The log density, without a derivative where it is -inf.

        This is for sums of densities, in which such an element is 0. The chain rule would multiply
        its infinite derivative by 0.
        """

        def density(x: Any, *parameters: Any, **forms: Any) -> Any:
            return self.log_density(x, *parameters, small=small, **forms)

        impossible = jnp.isneginf(lax.stop_gradient(density(x, *parameters, **forms)))
        forms = self.still_forms(impossible, forms)
        return density(*self.still(impossible, x, *parameters), **forms)

    def still(self, where: Any, x: Any, *parameters: Any) -> tuple[Any, ...]:
        """x and the parameters, constant for the elements selected by `where`.

        A `jnp.where` between two functions of the results has correct derivatives even if the
        function that is not selected is infinite: its derivative has no path back.
        """
        ndims = (self.event_ndim, *(p.event_ndim for p in self.parameters))
        pairs = zip((x, *parameters), ndims, strict=True)
        return tuple(_still(tensor, where, ndim) for tensor, ndim in pairs)

    def still_forms(self, where: Any, forms: Mapping[str, Any]) -> dict[str, Any]:
        """The forms of arguments, constant for the elements selected by `where`."""
        ndims = {p.name: p.event_ndim for p in self.parameters} | {"x": self.event_ndim}
        return {k: _still(f, where, ndims[k.partition("_")[2]]) for k, f in forms.items()}

    def log_density_total(self, x: Any, *parameters: Any, small: bool = False, **forms: Any) -> Any:
        """The sum of the log densities of all elements of x.

        `small` allows `small_terms`.
        """
        x, *rest = self._by_logs(_real(x, parameters), forms)
        if self.total is not None:
            total = self.total(x, *rest, **forms)
            if total is not None:
                return total
        terms_of = self.small_terms if small and self.small_terms is not None else self.terms
        terms = [jnp.asarray(t) for t in terms_of(x, *rest, **forms)]
        size = np.prod(jnp.broadcast_shapes(*(t.shape for t in terms)), dtype=int)
        return sum(
            jnp.sum(t) * (size / max(t.size, 1)) if t.size != size else jnp.sum(t) for t in terms
        )

    def log_tails(self, x: Any, *parameters: Any) -> Tails:
        """log P(X <= x) and log P(X > x), for each element."""
        assert self.tails is not None
        x, *parameters = _real(x, parameters)  # type: ignore[assignment]
        if self.discrete:
            return self.tails(jnp.floor(x), *parameters)
        return self._smooth_tails(x, *parameters)  # type: ignore[no-any-return]

    @cached_property
    def _smooth_tails(self) -> Any:
        assert self.tails is not None
        return by_density(self.tails, self._smooth_density)

    def _smooth_density(self, x: Any, *parameters: Any) -> Any:
        """The log density above the atom, otherwise -inf."""
        if self.atom is None:
            return self.log_density(x, *parameters)
        smooth = x > self.atom
        density = self.log_density(jnp.where(smooth, x, self.atom), *parameters)
        return jnp.where(smooth, density, -jnp.inf)

    def mean_and_variance(self, event: tuple[int, ...], *parameters: Any) -> Moments:
        """The mean and the variance of each element.

        They have the type and the shape of the parameters, broadcast together.
        """
        assert self.moments is not None
        first, *rest = parameters
        reals = _real(first, tuple(rest))
        return self.moments(*reals, event=event) if self.event_ndim else self.moments(*reals)

    def _by_logs(self, arguments: tuple[Any, ...], forms: Mapping[str, Any]) -> tuple[Any, ...]:
        """Differentiate each argument through its logarithm, if that is known."""
        names = ("x", *(parameter.name for parameter in self.parameters))
        logs = (forms.get(f"log_{name}") for name in names)
        return tuple(
            t if log is None else by_log(t, log) for t, log in zip(arguments, logs, strict=True)
        )


def _still(tensor: Any, where: Any, ndim: int) -> Any:
    """A tensor of events of `ndim` axes, constant for the selected elements."""
    tensor = jnp.asarray(tensor)
    if tensor.dtype.kind != "f":
        return tensor
    mask = jnp.asarray(where)[(..., *(None for _ in range(ndim)))]
    return jnp.where(mask, lax.stop_gradient(tensor), tensor)


def _real(x: Any, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    """x and the parameters as real numbers of their widest type.

    Special functions of integers have no derivative in JAX.
    """
    tensors = [jnp.asarray(t) for t in (x, *parameters)]
    floating = [t.dtype for t in tensors if jnp.issubdtype(t.dtype, jnp.floating)]
    dtype = jnp.result_type(*floating) if floating else float
    return tuple(t if t.dtype == dtype else t.astype(dtype) for t in tensors)
