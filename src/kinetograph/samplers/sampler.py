"""`kg.Sampler`: a sampler written as a step in plain Python on arrays."""

import threading
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..autograph.lazily import convert_lazily
from ..graph.array import Array
from ..graph.errors import ModelError, ShapeError
from ..graph.public import public
from ..kernels.contract import Space, TransitionKernel
from .declarations import check_class, signature_of, takes_settings
from .hyper import POSITIVE
from .inner import InnerBlock
from .noise import NamedNoise
from .points import Point
from .scale import Scale
from .settings import PACKAGE, Settings

__all__ = ["Point", "Sampler"]


class _Here(threading.local):
    session: Any = None  # the session of the sampler's method whose graph this thread builds


HERE = _Here()


@public
class Sampler(Settings):
    """The base class of samplers: write its hyper-parameters, `init` and `step`.

    A subclass declares hyper-parameters with `kg.hyper` and defines `step` in plain Python on
    arrays. `if`, `while` and `for` on values of the graph become part of the graph. A step is
    compiled once, for the vector of all free coordinates, and runs inside of a compiled loop.

        init(self, at)            returns the sampler's slots at the starting point, a dictionary
                                  of arrays; without `init` there are no slots
        step(self, at, **slots)   makes one transition; returns the new point, or, with slots, the
                                  point and a dictionary of their new values

    `at` has `at.q`, `at.potential` (the negative log density) and `at.gradient` (of the potential).
    Both methods can use

        self.evaluate(q)          the point at q, which costs one gradient. A point keeps its
                                  potential and gradient, so a step need not evaluate it again. If
                                  nothing is computed from gradients, none is computed
        self.evaluate_with_covariance(q)   the same, and the covariance of a mini-batch's gradient
        self.evaluate_full(q)     the point with all rows of the data, instead of a mini-batch
        self.potential(q)         the potential alone
        self.noise(name, like=q)  standard normal numbers; `self.noise.uniform(like=q, name="u")`
                                  and all other distributions of `kg.RandomStreams`
        self.record(name, value)  record a value of this step in the results
        self.parts(q)             a dictionary with a copy of each unknown's part of q, which may
                                  be changed; self.evaluate(parts) is the point of these parts
        self.iteration            the number of the step, from 0

    On a model of `kg.minibatch` a step evaluates one batch. The potential and gradient of `at` are
    the exception: they belong to the batch of the previous step. `self.evaluate(at.q)` has the
    potential and gradient of the present batch.

    The hyper-parameters are attributes in both methods, as arrays. A hyper-parameter whose default
    is a sampler is an inner sampler: `at = self.name.step(at)` makes a step of it, with its own
    hyper-parameters, noise and records. `self.name.block("a", "b").step(at)` makes a step in these
    unknowns given all other ones. `self.name.init(at)` returns the inner sampler's slots, which the
    outer one keeps and passes to `self.name.step`.

    A sampler that records `"acceptance_rate"` and lists `tunes = ("step_size",)` has its
    `step_size` tuned in warm-up towards its `target_acceptance`; with `"scale"` in `tunes` also the
    scales of the coordinates. An inner sampler is tuned as if it were alone; with `tune=()` it
    keeps the given values.

    A class with `walkers = kg.hyper(40, lower=2, static=True)` moves an ensemble: `at.q` has shape
    (walkers, N), `at.potential` (walkers,). Each chain of a run is then an ensemble, and each
    walker is a chain of the results. `self.evaluate` takes any number of walkers, so that one group
    can move after the other: `at.split(n)` gives the first n walkers and the remaining ones,
    `first.join(second)` joins two groups, `new.where(condition, old)` selects for each walker. An
    inner sampler without walkers runs once for each walker: its slots and records get a leading
    axis of walkers, and each walker draws different noise.

    Parameters
    ----------
    scale
        Standard deviations, one for each free coordinate or one for all: the step is made in the
        coordinates q / scale, which is a mass of 1 / scale**2. Or a matrix, the lower Cholesky
        factor of a covariance C, which is a mass matrix of C^-1. By default there is no scale; an
        inner sampler by default has the scale of the outer one. A sampler in a block takes one
        element for each coordinate of the block.
    tune
        The hyper-parameters that warm-up tunes, a subset of the class's `tunes`; `()` tunes none.
    **settings
        The hyper-parameters.

    Raises
    ------
    TypeError, ValueError
        If there is no such hyper-parameter, or a value is out of its range.

    Examples
    --------
    Random-walk Metropolis:

    >>> import kinetograph as kg
    >>> class Walk(kg.Sampler):
    ...     step_size = kg.hyper(1.0, positive=True)
    ...     def step(self, at):
    ...         new = self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))
    ...         accepted = kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential
    ...         if accepted:
    ...             at = new
    ...         self.record("accepted", accepted)
    ...         return at
    >>> x = kg.normal(1.0, 2.0)
    >>> tree = kg.mcmc(kg.model(x), Walk(step_size=4.0), seed=1, draws=5000, progress=False)
    >>> bool(abs(tree["posterior"]["x"].mean() - 1.0) < 0.2)
    True
    """

    optimizes = False  # whether steps lower the potential, instead of sampling
    walkers: Any = None
    scale: Any = Scale(None, False, POSITIVE, ())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.split(".")[0] == PACKAGE and "step" in vars(cls):
            # kg.mcmc converts users' methods only, and a user's subclass may call this step.
            cls.step = convert_lazily(cls.step)  # type: ignore[method-assign]
        check_class(cls, Sampler)
        # None: Python then takes the signature of `__init__`, not an inherited one.
        cls.__signature__ = signature_of(cls) if takes_settings(cls) else None  # type: ignore[attr-defined]

    # Methods that a subclass defines.
    def init(self, at: Point) -> Mapping[str, Any]:
        """The slots at the starting point; by default there are none."""
        return {}

    def step(self, *args: Any, **slots: Any) -> Any:
        """Make one transition: `step(self, at, **slots)`."""
        raise NotImplementedError(
            f"{type(self).__name__} has no step; write `def step(self, at): ...`"
        )

    # Methods that `init` and `step` use.
    @property
    def noise(self) -> NamedNoise:
        """Random arrays by name."""
        noise: NamedNoise = self._staging("noise").noise
        return noise

    @property
    def iteration(self) -> Array:
        """The number of the transition, from 0; -1 in `init`."""
        number: Array = self._staging("iteration").iteration
        return number

    def evaluate(self, q: Any) -> Point:
        """The point at q, an array or a dictionary of parts."""
        point: Point = self._staging("evaluate").evaluate(q)
        return point

    def evaluate_full(self, q: Any) -> Point:
        """The point at q, evaluated with all rows of the data.

        A model of `kg.minibatch` otherwise evaluates a batch. With any other model this is
        `evaluate(q)`. It counts as one gradient.

        Examples
        --------
        A control variate: near a fixed place, where the exact gradient is known, the noise of the
        batch's gradient cancels:

        >>> import numpy as np, kinetograph as kg
        >>> class Controlled(kg.Sampler):
        ...     step_size = kg.hyper(0.001)
        ...     def init(self, at):
        ...         exact = self.evaluate_full(at.q)
        ...         return {"place": exact.q, "exact": exact.gradient}
        ...     def step(self, at, place, exact):
        ...         h, gradient = self.step_size, self.evaluate(at.q).gradient
        ...         slope = gradient - self.evaluate(place).gradient + exact
        ...         q = at.q - h * slope + kg.sqrt(2 * h) * self.noise("R", like=at.q)
        ...         return self.evaluate(q), {"place": place, "exact": exact}
        >>> y = kg.data(np.random.default_rng(1).normal(size=100), "y")
        >>> mu = kg.normal(0.0, 1.0, name="mu")
        >>> likelihood = kg.observe(y, kg.normal(mu, 1.0))
        >>> chain = kg.chain(kg.minibatch(kg.model(mu), 10), Controlled(0.001), seed=1)
        >>> chain.step(5).posterior["mu"].shape
        (5,)
        """
        point: Point = self._staging("evaluate_full").evaluate_full(q)
        return point

    def evaluate_with_covariance(self, q: Any, *, full: bool = False) -> tuple[Point, Array]:
        """The point at q, and the covariance of its gradient over batches.

        The estimate of the covariance is unbiased. With a model of `kg.minibatch` that has n rows,
        B of them in a batch, and with the gradients s_i of the batch's rows the estimate is

            n^2 / B (1 - B / n) sum_i (s_i - mean) (s_i - mean)' / (B - 1)

        without the factor 1 - B / n if rows are drawn with replacement. With any other model, whose
        gradient is exact, it is 0. Returns the diagonal, in the shape of q, or with `full=True` the
        matrix. It counts as one gradient, like `evaluate`.
        """
        result: tuple[Point, Array]
        result = self._staging("evaluate_with_covariance").evaluate_with_covariance(q, bool(full))
        return result

    def potential(self, q: Any) -> Array:
        """The potential at q; infinite where the density is 0 or NaN."""
        value: Array = self._staging("potential").potential(q)
        return value

    def record(self, name: str, value: Any, *, always: bool = True) -> None:
        """Record a value under a name.

        If a step records a name several times, the last value counts. A step that does not record
        it has NaN (0 for whole numbers, False for booleans). With `always=False` a run records the
        value only if it has `observables=[kg.observables.recorded(name)]`; otherwise the value is
        not even computed.
        """
        self._staging("record").record(name, value, always)

    def parts(self, q: Any) -> dict[str, Array]:
        """A dictionary with each unknown's part of q, on its free scale.

        The parts are copies: changing them does not change q. `evaluate`, `potential` and `join`
        accept such a dictionary as a position.
        """
        parts: dict[str, Array] = self._staging("parts").parts(q)
        return parts

    def join(self, parts: Mapping[str, Any]) -> Array:
        """The position that consists of the given parts of all unknowns."""
        position: Array = self._staging("join").join(parts)
        return position

    def block(self, *names: str) -> InnerBlock:
        """An inner sampler as a move of only the named unknowns.

        Its `init` and `step` take and return points of all unknowns.

        Raises
        ------
        ModelError
            If the model has no such unknown.

        Examples
        --------
        >>> import kinetograph as kg
        >>> class Gibbs(kg.Sampler):
        ...     of_a = kg.hyper(kg.samplers.HMC(0.5, n_steps=4))
        ...     of_b = kg.hyper(kg.samplers.RandomWalk(2.0))
        ...     def step(self, at):
        ...         at = self.of_a.block("a").step(at)
        ...         return self.of_b.block("b").step(at)
        >>> a = kg.normal(0.0, 1.0, name="a")
        >>> b = kg.normal(a, 1.0, name="b")
        >>> tree = kg.mcmc(kg.model(a, b), Gibbs(), draws=4000, seed=1, progress=False)
        >>> bool(abs(tree["posterior"]["b"].var() - 2.0) < 0.4)
        True
        """
        return InnerBlock(self, self._staging("block"), names)

    def _staging(self, method: str) -> Any:
        """The present session, which the named method needs."""
        session = self._session
        if session is None:
            title = type(self).__name__
            if HERE.session is not None:
                outer = type(HERE.session.sampler).__name__
                raise ModelError(
                    f"{title}.{method}: this {title} is not a hyper-parameter of {outer}, whose "
                    "step calls it; declare it there, as in inner = "
                    "kg.hyper(kg.samplers.HMC(0.3)), and write self.inner.step(at)"
                )
            raise ModelError(
                f"{title}.{method} can be used only inside of `init` and `step`, while "
                "kg.mcmc or kg.chain builds their graph"
            )
        return session

    def _staged_hyper(self, name: str) -> Any:
        """The array of a hyper-parameter; None outside of `init` and `step`."""
        session = self._session
        if session is None:
            return None
        value = session.hyper.get(name)
        size = session.space.shape[-1]
        if isinstance(value, Array) and value.shape not in ((), (size,)) and name != "scale":
            within = session.prefix.removesuffix("_")
            raise ShapeError(
                f"{within or type(self).__name__}: {name} has shape {value.shape}; one number, or "
                f"one for each of the {size} coordinates that it moves, ({size},), is expected"
            )
        return value

    @property
    def _session(self) -> Any:
        """The session of this sampler, while a graph of it is built."""
        within = vars(self).get("_within")  # set for an inner sampler
        if within is not None:
            return within
        session = HERE.session
        return session if session is not None and session.sampler is self else None

    # Methods that a run uses.
    @property
    def dense(self) -> bool:
        """Whether warm-up tunes a dense metric."""
        return False

    def as_inner(self, owner: str) -> Self:
        """A copy with separate values, as an inner sampler of another sampler.

        `owner` names the hyper-parameter in messages.

        Raises
        ------
        TypeError
            If the sampler has no step in Python.
        """
        title = type(self).__name__
        if type(self).step is Sampler.step:
            raise TypeError(
                f"{owner}: {title} has no step that another sampler could call; use HMC, as in "
                "kg.hyper(kg.samplers.HMC(0.3, n_steps=10))"
            )
        return super().as_inner(owner)

    def check_start(self, q: np.ndarray) -> None:
        """Refuse a user's starting point from which the sampler cannot move."""

    def kernel(self, space: Space) -> TransitionKernel:
        """The kernel of this sampler on a space."""
        from .staged import StagedKernel

        return StagedKernel(self, space)
