"""`kg.Sampler`: a sampler written as a step in plain Python on arrays."""

import copy
import sys
import threading
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..autograph.lazily import convert_lazily
from ..calls.answers import no_parameter
from ..graph.array import Array
from ..graph.errors import ModelError, ShapeError
from ..graph.source import is_own
from ..kernels.contract import Kernel, Space
from .declarations import check_class, check_names, signature_of, takes_settings
from .hyper import POSITIVE, Hyper, Nested, declared
from .identity import identity_of
from .inner import Block
from .noise import NamedNoise
from .points import Point
from .scale import Scale
from .tuned import tuned_names

__all__ = ["Point", "Sampler"]

PACKAGE = __name__.split(".", maxsplit=1)[0]


class _Here(threading.local):
    session: Any = None  # the graph of a sampler's method that this thread makes


HERE = _Here()


class Sampler(Nested):
    """The base of samplers: hyper-parameters, `init` and `step` are all one writes.

    A subclass declares hyper-parameters by `kg.hyper` and defines `step`, in plain Python on
    arrays: `if`, `while` and `for` on values of the graph become part of it. One step is compiled
    once, for the whole vector of free coordinates, and run inside of a compiled loop.

        init(self, at)            the sampler's slots at the starting point, a dictionary of arrays
                                  (none, if it is not defined)
        step(self, at, **slots)   one transition: gives the new point, or, with slots, the point and
                                  a dictionary of their new values

    `at` has `at.q`, `at.potential` (the negative log density) and `at.gradient` (of the potential).
    In both methods there are

        self.evaluate(q)          the point at q: one gradient. A point that has been evaluated
                                  keeps what was found; a step need not evaluate it again. Where
                                  nothing is computed from gradients, none is taken
        self.evaluate_with_covariance(q)   the same and, of mini-batches, the gradient's covariance
        self.evaluate_full(q)     the point by all rows of the data, whatever a mini-batch shows
        self.potential(q)         the potential alone
        self.noise(name, like=q)  standard normal numbers; `self.noise.uniform(like=q, name="u")`
                                  and so on for all that `kg.RandomStreams` draws
        self.record(name, value)  has a value recorded, as it is there and then
        self.parts(q)             a dictionary of the pieces of q, one for each unknown, which
                                  may be changed; self.evaluate(parts) is the point they make
        self.iteration            the number of the step, from 0

    On a model of `kg.minibatch` all that a step evaluates is of one batch, but for `at`: its
    potential and gradient are of the batch of the step before. `self.evaluate(at.q)` has those of
    this one.

    The hyper-parameters are there, too, as arrays. One whose default is a sampler is a sampler
    within: `at = self.name.step(at)` is a step of it, with hyper-parameters, noise and records of
    its own, `self.name.block("a", "b").step(at)` a step in these unknowns, given the others; `init`
    gives its slots, which this one keeps and hands on.

    A sampler that records `"acceptance_rate"` and lists `tunes = ("step_size",)` has its
    `step_size` tuned in warm-up towards its `target_acceptance`; with `"scale"` in `tunes` the
    scales of the coordinates, too. A sampler within is tuned as if it were alone; with `tune=()` it
    stays as it is given.

    A class with `walkers = kg.hyper(40, lower=2, static=True)` moves an ensemble: `at.q` has shape
    (walkers, N), `at.potential` (walkers,), and a chain of a run is an ensemble of its own, each
    walker of which is a chain of the results. `self.evaluate` takes any number of walkers, so that
    one group may move after the other: `at.split(n)` gives the first n walkers and the rest,
    `first.join(rest)` all of them, `new.where(condition, old)` chooses walker by walker. A sampler
    within that has no walkers itself runs once for each walker: its slots and records get an axis
    of walkers in front, and the walkers draw noise of their own.

    Parameters
    ----------
    scale
        Standard deviations, one for each free coordinate or one for all: the step is then made in
        coordinates q / scale, which is a mass of 1 / scale**2. Or the lower Cholesky factor of a
        covariance C, a matrix: a mass matrix of C^-1. None: none, or within another sampler those
        of that one. In a block there is one for each coordinate of the block.
    tune
        What warm-up tunes, of what the class lists in `tunes`; `()` leaves all as it is.
    **settings
        The hyper-parameters.

    Raises
    ------
    TypeError, ValueError
        If there is no such hyper-parameter, or its value is out of its range.

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

    tunes: ClassVar[tuple[str, ...]] = ()
    walkers: Any = None
    scale: Any = Scale(None, False, POSITIVE, ())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.split(".")[0] == PACKAGE and "step" in vars(cls):
            # Only users' code is converted by itself; a subclass of theirs may call this one.
            cls.step = convert_lazily(cls.step)  # type: ignore[method-assign]
        check_class(cls, Sampler)
        # None: that of its `__init__`, in place of one inherited.
        cls.__signature__ = signature_of(cls) if takes_settings(cls) else None  # type: ignore[attr-defined]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """With the defaults, for an `__init__` that does not set the hyper-parameters."""
        made = super().__new__(cls)
        values = {name: h.check(h.default, cls.__name__) for name, h in declared(cls).items()}
        made.__dict__.update(_values=values, _tune=cls.tunes)
        return made

    def __init__(self, *values: Any, tune: Any = None, **settings: Any) -> None:
        names = declared(type(self))
        title = type(self).__name__
        ordered = [name for name in names if name != "scale"]
        if len(values) > len(ordered):
            raise TypeError(
                f"{title} takes at most {len(ordered)} settings by position ({', '.join(ordered)}),"
                f" got {len(values)}"
            )
        for name, value in zip(ordered, values, strict=False):
            if name in settings:
                raise TypeError(f"{title}: {name} is given twice")
            settings[name] = value
        for name in settings:
            if name not in names:
                raise TypeError(no_parameter(title, name, [*names, "tune"]))
        for name, value in settings.items():
            setattr(self, name, value)
        if tune is not None:
            self.tune = tune

    if not TYPE_CHECKING:  # to which every attribute would be one

        def __setattr__(self, name: str, value: Any) -> None:
            kind = type(self)
            if not hasattr(kind, name) and kind.__module__.split(".")[0] == PACKAGE:
                self._refuse_from_outside(name)
            super().__setattr__(name, value)

    def _refuse_from_outside(self, name: str) -> None:
        """Refuse an attribute that a program sets, and that none of our lines will read."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name == "__setattr__":
            frame = frame.f_back
        if frame is not None and not is_own(frame.f_code.co_filename):
            names = [*declared(type(self)), "tune"]
            raise AttributeError(no_parameter(type(self).__name__, name, names), name=name)

    _values: dict[str, Any]
    _tune: tuple[str, ...]

    @property
    def tune(self) -> tuple[str, ...]:
        """What warm-up tunes."""
        return self._tune

    @tune.setter
    def tune(self, value: Any) -> None:
        names = (value,) if isinstance(value, str) else value
        self._tune = check_names(names, self.tunes, f"{type(self).__name__}: tune")

    # What a subclass writes.
    def init(self, at: Point) -> Mapping[str, Any]:
        """The slots at the starting point: none."""
        return {}

    def step(self, *args: Any, **slots: Any) -> Any:
        """One transition: `step(self, at, **slots)`."""
        raise NotImplementedError(
            f"{type(self).__name__} has no step; write `def step(self, at): ...`"
        )

    # What it uses.
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
        """The point at q, or at the position of parts, with its potential and gradient."""
        point: Point = self._staging("evaluate").evaluate(q)
        return point

    def evaluate_full(self, q: Any) -> Point:
        """The point at q by all rows of the data, where a model of `kg.minibatch` shows a batch.

        With any other model it is `evaluate(q)`. It counts as one gradient.

        Examples
        --------
        A gradient by the batch, whose noise the exact gradient at a fixed place takes away where
        the chain is near to it:

        >>> import numpy as np, kinetograph as kg
        >>> class Controlled(kg.Sampler):
        ...     step_size = kg.hyper(0.001)
        ...     def init(self, at):
        ...         exact = self.evaluate_full(at.q)
        ...         return {"place": exact.q, "exact": exact.gradient}
        ...     def step(self, at, place, exact):
        ...         h, seen = self.step_size, self.evaluate(at.q).gradient
        ...         slope = seen - self.evaluate(place).gradient + exact
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
        """The point at q, and the covariance of its gradient over batches, estimated without bias.

        With a model of `kg.minibatch` that has n rows, B of them in a batch,

            n^2 / B (1 - B / n) sum_i (s_i - mean) (s_i - mean)' / (B - 1)

        of the gradients s_i of the batch's rows, without 1 - B / n where rows are drawn with
        replacement; with any other model, whose gradient is exact, 0. The diagonal, of the shape of
        q, or the full matrix. It counts as one gradient, as `evaluate` does.
        """
        found: tuple[Point, Array]
        found = self._staging("evaluate_with_covariance").evaluate_with_covariance(q, bool(full))
        return found

    def potential(self, q: Any) -> Array:
        """The potential at q; inf where the density is zero or not a number."""
        value: Array = self._staging("potential").potential(q)
        return value

    def record(self, name: str, value: Any, *, always: bool = True) -> None:
        """Have a value recorded under a name.

        Of several records of a name in a step the last one counts; where none was made there is
        NaN, or 0 among whole numbers and False among booleans. With `always=False` only those runs
        record it that ask for it, by `observables=[kg.observables.recorded(name)]`; in others it is
        not even computed.
        """
        self._staging("record").record(name, value, always)

    def parts(self, q: Any) -> dict[str, Array]:
        """The pieces of q that belong to each unknown, on its free scale, in a dictionary.

        They are copies: q stays as it is. `evaluate`, `potential` and `join` take such a dictionary
        in the place of a position.
        """
        found: dict[str, Array] = self._staging("parts").parts(q)
        return found

    def join(self, parts: Mapping[str, Any]) -> Array:
        """The position that is made of the pieces of all unknowns."""
        position: Array = self._staging("join").join(parts)
        return position

    def block(self, *names: str) -> Block:
        """A sampler within another one, as a move of some of the unknowns given the rest.

        Its `init` and `step` take and give points of all unknowns.

        Raises
        ------
        ModelError
            If there is no such unknown.

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
        return Block(self, self._staging("block"), names)

    def _staging(self, what: str) -> Any:
        session = self._session
        if session is None:
            title = type(self).__name__
            if HERE.session is not None:
                outer = type(HERE.session.sampler).__name__
                raise ModelError(
                    f"{title}.{what}: this {title} is no part of {outer}, whose step calls it; "
                    "declare it there, as in inner = kg.hyper(kg.samplers.HMC(0.3)), and write "
                    "self.inner.step(at)"
                )
            raise ModelError(
                f"{title}.{what} is of use only inside of `init` and `step`, while "
                "kg.mcmc or kg.chain makes their graph"
            )
        return session

    def _staged_hyper(self, name: str) -> Any:
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
        within = vars(self).get("_within")  # of a sampler within another one
        if within is not None:
            return within
        session = HERE.session
        return session if session is not None and session.sampler is self else None

    # What a run uses.
    @property
    def dense(self) -> bool:
        """Whether warm-up tunes all directions of a metric."""
        return False

    def declared(self) -> dict[str, Hyper]:
        """Its hyper-parameters, by name; those of samplers within it as `name.hyper`."""
        found = declared(type(self))
        for name, inner in self._inner().items():
            del found[name]
            found |= {f"{name}.{k}": h for k, h in inner.declared().items()}
        return found

    def values(self) -> dict[str, Any]:
        """The values of its hyper-parameters, by the same names."""
        found = {n: v for n, v in self._values.items() if not isinstance(v, Sampler)}
        for name, inner in self._inner().items():
            found |= {f"{name}.{k}": v for k, v in inner.values().items()}
        return found

    def _inner(self) -> dict[str, "Sampler"]:
        """The samplers within it."""
        return {name: v for name, v in self._values.items() if isinstance(v, Sampler)}

    def as_inner(self, what: str) -> Self:
        """A copy that is within another sampler, with values of its own.

        Raises
        ------
        TypeError
            If it has no step in Python.
        """
        title = type(self).__name__
        if type(self).step is Sampler.step:
            raise TypeError(
                f"{what}: {title} has no step that another sampler could call; use HMC, as in "
                "kg.hyper(kg.samplers.HMC(0.3, n_steps=10))"
            )
        made = copy.copy(self)
        made.__dict__["_values"] = {
            n: v.as_inner(what) if isinstance(v, Sampler) else v for n, v in self._values.items()
        }
        return made

    def settings(self) -> dict[str, Any]:
        """The settings, for the record: numbers, lists and texts."""
        found = {name: _plain(value) for name, value in self._values.items()}
        if self.scale is None:
            del found["scale"]
        return found

    def hypers(self, space: Space) -> dict[str, np.ndarray]:
        """The values that are arguments of the program, by name.

        Raises
        ------
        ShapeError
            If one has another shape than a number or the coordinates of the space.
        """
        names, size = self.declared(), space.shape[-1]
        self._check_tuned()
        scales = {"scale"} & {*self.tunes} | {*tuned_names(self)}
        found = {}
        for name, value in self.values().items():
            if value is None and name in scales:
                value = np.ones(size)
            if value is None or callable(value) or names[name].static:
                continue
            array = np.asarray(value, np.int64 if names[name].whole else space.dtype)
            if name == "scale" and "scale" in self.tunes:
                array = np.full(size, array) if array.ndim == 0 else array
            matrix = isinstance(names[name], Scale)
            if "." in name and array.ndim in (
                1,
                1 + matrix,
            ):  # of a block, whose size its step knows
                found[name] = array
                continue
            if array.shape not in ((), (size,)) and not (matrix and array.shape == (size, size)):
                raise ShapeError(
                    f"{type(self).__name__}: {name} has shape {array.shape}; one number, or one "
                    f"for each of the {size} free coordinates, ({size},), is expected"
                    f"{f', or a factor of a covariance, {(size, size)}' if matrix else ''}"
                )
            found[name] = array
        return found

    def _check_tuned(self) -> None:
        """Refuse to tune what is given as a schedule, or towards one; and a matrix."""
        if "scale" in self.tune and np.ndim(self._values["scale"]) == 2:
            rest = tuple(name for name in self.tune if name != "scale")
            raise ModelError(
                f"{type(self).__name__}: scale is a matrix, and warm-up tunes a number for each "
                f"coordinate; give tune={rest!r} to keep the matrix"
            )
        for name in (*self.tune, *(("target_acceptance",) if "step_size" in self.tune else ())):
            if callable(self._values[name]):
                raise ModelError(
                    f"{type(self).__name__}: {name} is a function of the step's number, and "
                    f"warm-up tunes {' and '.join(self.tune)}; give {name} as a number, or tune=()"
                )
        target = self._values["target_acceptance"] if "step_size" in self.tune else 0
        if np.ndim(target):
            raise ShapeError(
                f"{type(self).__name__}: target_acceptance is one number, got shape "
                f"{np.shape(target)}"
            )

    def check_start(self, q: np.ndarray) -> None:
        """Refuse a starting point that the user gave and from which it cannot go on."""

    def check_hypers(self, values: Mapping[str, Any]) -> None:
        """Refuse values of hyper-parameters that are out of their range."""
        names, title = self.declared(), type(self).__name__
        for name, value in values.items():
            inner = "".join(f".{part}" for part in name.split(".")[:-1])
            names[name].check(np.asarray(value), title + inner)

    def structure(self) -> tuple[Any, ...]:
        """What it is, but for the values that are arguments of a program."""
        names = self.declared()
        parts: list[Any] = [type(self), tuple(self.tune)]
        for name, value in self.values().items():
            if names[name].static or value is None or callable(value):
                parts.append((name, identity_of(value)))
            else:
                parts.append((name, np.shape(value)))
        parts += [(name, inner.structure()) for name, inner in self._inner().items()]
        own = {k: v for k, v in vars(self).items() if k not in ("_values", "_tune")}
        return (*parts, *((k, identity_of(v)) for k, v in own.items()))

    def kernel(self, space: Space) -> Kernel:
        """Its transition on a space."""
        from .staged import StagedKernel

        return StagedKernel(self, space)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Sampler)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (*self.structure(), *(identity_of(v) for v in self._values.values()))

    def __repr__(self) -> str:
        defaults = {name: d.default for name, d in declared(type(self)).items()}
        shown = [
            f"{name}={value!r}"
            for name, value in self._values.items()
            if identity_of(value) != identity_of(defaults[name])
        ]
        if self.tune != self.tunes:
            shown.append(f"tune={self.tune!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any) -> Any:
    if isinstance(value, Sampler):
        tune = {} if value.tune == value.tunes else {"tune": list(value.tune)}
        return {"sampler": type(value).__name__, **tune, **value.settings()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "__name__", None) or repr(value)
