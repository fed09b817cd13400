"""`kg.chain`: one chain, stepped by hand, by the same program as a run's."""

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, NamedTuple

import jax
import numpy as np

from ..adaptation.schedule import NEVER
from ..bits.draws import chain_key
from ..graph.control.structure import LEAF, flatten
from ..graph.errors import ModelError, ShapeError
from ..graph.precision import x64
from ..kernels.moments import Moments
from ..models.model import Model
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..samplers.hyper import value_of
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .advice import warn_of_noise
from .arguments import check_model, check_sampler, check_seed, check_whole
from .averages import averaged_targets
from .chain import Chain as Running
from .chains import advance, beginnings
from .engine import build
from .program import Program
from .results import split_statistics
from .rows import Rows as Kept
from .rows import rows_of
from .start import explain_failure, starting_points
from .state import ChainState, Plan, Where
from .warming import warmup_length

__all__ = ["Chain", "Rows", "chain"]


class Rows(NamedTuple):
    """What some steps gave: arrays with a row a step, by the names of targets and of statistics."""

    posterior: dict[str, np.ndarray]
    sample_stats: dict[str, np.ndarray]


class _Values(MutableMapping[str, Any]):
    """Named arrays of a chain's state, or named tuples of arrays, which may be set."""

    def __init__(
        self, what: str, get: Callable[[], dict[str, Any]], put: Callable[[dict[str, Any]], None]
    ) -> None:
        self._what, self._get, self._put = what, get, put

    def __getitem__(self, name: str) -> Any:
        def copied(value: Any) -> np.ndarray:
            array = np.array(value)
            array.setflags(write=False)  # what is written into it would be lost
            return array

        return jax.tree.map(copied, self._known(name))

    def _known(self, name: str) -> Any:
        held = self._get()
        if name not in held:
            raise KeyError(
                f"the sampler has no {self._what} {name!r}; it has: {', '.join(held) or 'none'}"
            )
        return held[name]

    def __setitem__(self, name: str, value: Any) -> None:
        known, paths, structure = flatten(self._known(name), name)
        values = [value_of(value, f"the {self._what} {name}")]
        if structure != LEAF:
            values, _, given = flatten(value)
            if given != structure:
                raise TypeError(f"{self._what} {name!r} is {structure}, got {given}")
        new = map(self._fitted, paths, known, values)
        self._put({**self._get(), name: structure.fill(new)})

    def _fitted(self, name: str, old: Any, value: Any) -> np.ndarray:
        old, array = np.asarray(old), np.asarray(value)
        if not np.can_cast(array.dtype, old.dtype, "same_kind"):
            raise TypeError(f"{self._what} {name!r} is {old.dtype}, got {array.dtype}")
        if array.shape not in (old.shape, ()):
            raise ShapeError(f"{self._what} {name!r} has shape {old.shape}, got {array.shape}")
        return np.array(np.broadcast_to(array, old.shape).astype(old.dtype))

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"a {self._what} cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())

    def __repr__(self) -> str:
        return repr({name: self[name] for name in self})


class Chain:
    """One chain of a sampler, made by `kg.chain`.

    Attributes
    ----------
    state
        All that the chain is, a tree of arrays: kept and set again, it goes on from there.
    """

    def __init__(
        self,
        program: Program,
        key: np.ndarray,
        start: Any,
        warmup: int | None,
        climbing: bool,
        momenta: Any = None,
    ) -> None:
        self._program, self._engine, self._key = program, build(program), key
        with x64():
            self._data = jax.device_put(program.model.argument_values)
        self._state: ChainState = self._found(start, climbing)
        if momenta is not None:
            self.slots["p"] = _momenta(program, self._state.slots, momenta)
        if warmup != 0:
            self._warm_up(warmup)

    def _found(self, free: Any, climbing: bool = False) -> ChainState:
        program = self._program
        running = Running(self._key, free, climbing=climbing)
        (beginning,) = beginnings(program, [running])
        with x64():
            running.begin(self._engine.find(beginning, self._data))
        if running.failed:
            raise explain_failure(program.model, [running], free is not None)
        state: ChainState = jax.device_get(running.state)
        return state

    @property
    def state(self) -> ChainState:
        """All that the chain is."""
        return self._state

    @state.setter
    def state(self, value: Any) -> None:
        _check_state(value, self._state)
        self._state = value

    @property
    def slots(self) -> MutableMapping[str, Any]:
        """The sampler's slots, by name; each may be set, and so may several at once."""
        return _Values("slot", lambda: self.state.slots, self._set_slots)

    @slots.setter
    def slots(self, values: Mapping[str, Any]) -> None:
        self.slots.update(values)

    @property
    def hyper(self) -> MutableMapping[str, Any]:
        """The values of the hyper-parameters, by name; each may be set, or several at once."""
        return _Values("hyper-parameter", lambda: self.state.hyper, self._set_hyper)

    @hyper.setter
    def hyper(self, values: Mapping[str, Any]) -> None:
        self.hyper.update(values)

    def _set_slots(self, slots: dict[str, Any]) -> None:
        self.state = self.state._replace(slots=slots)

    def _set_hyper(self, hyper: dict[str, Any]) -> None:
        self._program.sampler.check_hypers(hyper)
        self.state = self.state._replace(hyper=hyper)

    @property
    def q(self) -> np.ndarray:
        """The position, on the free scale."""
        return np.array(self.state.position.q)

    @property
    def log_density(self) -> Any:
        """The log density there: a number, or one for each walker of an ensemble."""
        value = np.array(self.state.position.log_density)
        return value if value.ndim else float(value)

    @property
    def gradient(self) -> np.ndarray:
        """The gradient of the log density there."""
        return np.array(self.state.position.gradient)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of the unknowns there."""
        found: dict[str, np.ndarray] = self._program.model.transform(self.q)
        return found

    @property
    def iteration(self) -> int:
        """How many transitions have been made, those of warm-up included."""
        return int(self.state.transition)

    @property
    def averages(self) -> dict[str, Moments]:
        """The running averages, by name; each has `count`, `mean` and `variance`."""
        return {name: Moments(*moments) for name, moments in self.state.averages.items()}

    def reset_averages(self) -> None:
        """Begin the averages anew with the next step."""
        with x64():
            self.state = self.state._replace(averages=self._program.running.start())

    def move(self, to: Any) -> None:
        """Put the chain elsewhere; slots and hyper-parameters stay as they are.

        Parameters
        ----------
        to
            Values of the unknowns by name, or a free state.

        Raises
        ------
        StartError
            If log density or gradient are not finite there.
        """
        program = self._program
        keys = [self._key]
        (free,) = starting_points(program.model, program.sampler, to, keys, "chain.move")
        self.state = self.state._replace(position=self._found(free).position)

    def step(self, n: int = 1, *, keep: bool = True) -> Rows:
        """Make n transitions; gives what they gave.

        Parameters
        ----------
        n
            How many.
        keep
            False: no rows are kept, and any number of transitions takes the same memory.

        Returns
        -------
        Rows
            `posterior`, the targets, and `sample_stats`, what the sampler recorded: dictionaries of
            arrays with n rows, or none.
        """
        check_whole("chain.step", {"n": (n, 0)})
        blocks = self._run(int(n), keep)
        program = self._program
        names, nodes = program.model.target_names, program.targets
        posterior = {
            name: np.concatenate(
                [np.empty((0, *program.walkers, *node.shape), node.dtype)]
                + [b.targets[i] for b in blocks]
            )
            for i, (name, node) in enumerate(zip(names, nodes, strict=True))
        }
        width = sum(s.size for s in program.statistics)
        rows = np.concatenate(
            [np.empty((0, width), program.dtype), *(b.statistics for b in blocks)]
        )
        return Rows(posterior, split_statistics(program.statistics, rows))

    def _warm_up(self, length: int | None) -> None:
        """Tune the sampler."""
        running = Running(self._key, None, self._state)
        running.tuner = self._program.tuner(length)
        pace = self._engine.pace
        while running.transition < running.tuner.end:
            begun = time.perf_counter()
            plan = Plan(np.int32(1), np.int64(pace.gradients))
            with x64():
                advance(self._engine, self._data, running, plan, 0)
            pace.adjust(running.spent, time.perf_counter() - begun)
        self._state = jax.device_get(running.state)

    def _run(self, n: int, keep: bool = False) -> list[Kept]:
        found = []
        until, pace = self.iteration + n, self._engine.pace
        self._program.check_schedules(self.iteration, until)
        while self.iteration < until:
            begun = time.perf_counter()
            plan = Plan(np.int32(1), np.int64(pace.gradients))
            phases = self.state.phases._replace(stop=np.int32(until), glance=NEVER)
            state = self.state._replace(phases=phases)
            with x64():
                state, block = jax.device_get(self._engine.advance(state, self._data, plan))
            self._state = state
            pace.adjust(Where(*block.progress).spent, time.perf_counter() - begun)
            if keep:
                found.append(rows_of(block).copied())
        return found

    def __repr__(self) -> str:
        return f"<chain of {self._program.sampler!r} after {self.iteration} transitions>"


def _momenta(program: Program, slots: Mapping[str, Any], given: Any) -> Any:
    """Momenta of all coordinates, from an array of them or arrays by unknowns.

    Raises
    ------
    ModelError
        If the sampler keeps none.
    ValueError, ShapeError
        If one is missing, or has another shape.
    """
    if "p" not in slots:
        held = f"its slots are {', '.join(slots)}" if slots else "it keeps nothing between steps"
        raise ModelError(
            f"chain: momenta: {type(program.sampler).__name__} has no slot p of momenta that last "
            f"from step to step; {held}"
        )
    if not isinstance(given, Mapping):
        return given
    parts = program.space.parts
    if set(given) != set(parts):
        raise ValueError(
            f"chain: momenta: give those of all unknowns, {', '.join(parts)}; got "
            f"{', '.join(map(str, given)) or 'none'}"
        )
    found = np.zeros(np.shape(slots["p"]), program.dtype)
    lead = found.shape[:-1]
    for name, (place, shape) in parts.items():
        value = np.asarray(value_of(given[name], f"chain: momenta of {name}"), program.dtype)
        if value.shape not in (shape, (*lead, *shape)):
            raise ShapeError(
                f"chain: momenta of {name} have shape {(*lead, *shape)} on the free scale, got "
                f"{value.shape}"
            )
        whole = np.broadcast_to(value, (*lead, *shape))
        found[..., place] = whole.reshape((*lead, place.stop - place.start))
    return found


def _check_state(value: Any, before: ChainState) -> None:
    """Refuse what is no state of such a chain.

    Raises
    ------
    TypeError
        If it is none, or a value in it has another type.
    ShapeError
        If a value has another shape.
    """
    own, structure = jax.tree_util.tree_flatten_with_path(before)
    given: Any = jax.tree.structure(value)
    if given != structure:
        raise TypeError(
            f"chain.state: no state of this chain, but {type(value).__name__}; give what "
            "chain.state was, with other values by chain.slots, chain.hyper and chain.move"
        )
    for (path, old), new in zip(own, jax.tree.leaves(value), strict=True):
        name = jax.tree_util.keystr(path)
        if np.shape(new) != np.shape(old):
            raise ShapeError(f"chain.state{name} has shape {np.shape(old)}, got {np.shape(new)}")
        if np.asarray(new).dtype != np.asarray(old).dtype:
            kinds = np.asarray(old).dtype, np.asarray(new).dtype
            raise TypeError(f"chain.state{name} is {kinds[0]}, got {kinds[1]}")


def chain(
    model: Model,
    sampler: Sampler | None = None,
    *,
    seed: int | np.integer | None = None,
    index: int = 0,
    initial: Any = None,
    momenta: Any = None,
    warmup: int | None = 0,
    observables: Any = (),
    averages: Any = (),
) -> Chain:
    """One chain of a sampler, to be stepped by hand.

    Its draws are those of chain number `index` of `kg.mcmc(model, sampler, seed=seed)` with the
    same `initial` and `warmup`, to the last bit, in steps of any number. Between steps all may be
    looked at and changed, slots and hyper-parameters, without another compilation.

    Parameters
    ----------
    model, sampler, seed, initial, observables, averages
        As in `kg.mcmc`. The averages are `chain.averages`.
    index
        Which chain of a run it is.
    momenta
        Where momenta begin, of a sampler that keeps them from step to step: a dictionary of arrays
        by the names of all unknowns, on their free scale, or an array of all. They are momenta in
        coordinates in which the mass is 1, as `chain.slots["p"]`. By default the sampler draws
        them.
    warmup
        Transitions that tune the sampler, made at once; None: as many as `kg.mcmc` makes.

    Returns
    -------
    Chain

    Raises
    ------
    TypeError, ValueError, StartError
        As `kg.mcmc`.

    Examples
    --------
    Cooling down:

    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, name="x")
    >>> class Langevin(kg.Sampler):
    ...     step_size = kg.hyper(0.1, positive=True)
    ...     inverse_temperature = kg.hyper(1.0, positive=True)
    ...     def step(self, at):
    ...         noise = kg.sqrt(2 * self.step_size / self.inverse_temperature)
    ...         q = at.q - self.step_size * at.gradient + noise * self.noise("step", like=at.q)
    ...         return self.evaluate(q)
    >>> chain = kg.chain(kg.model(x), Langevin(), seed=1)
    >>> hot = chain.step(1000).posterior["x"]
    >>> chain.hyper["inverse_temperature"] = 100.0
    >>> cold = chain.step(1000).posterior["x"][100:]
    >>> bool(hot.std() > 5 * cold.std())
    True

    Averages, after a burn-in:

    >>> chain = kg.chain(kg.model(x), Langevin(), seed=1, averages=[x, kg.observables.virial])
    >>> rows = chain.step(1000)
    >>> chain.reset_averages()
    >>> rows = chain.step(50_000, keep=False)
    >>> bool(abs(chain.averages["virial"].mean - 0.5 / (1 - 0.1 / 2)) < 0.1)
    True
    """
    check_model(model, "chain")
    sampler = check_sampler(NUTS() if sampler is None else sampler, "chain")
    check_whole(
        "chain", {"index": (index, 0)} | ({} if warmup is None else {"warmup": (warmup, 0)})
    )
    key = chain_key(check_seed(seed, "chain"), int(index))
    (start,) = starting_points(model, sampler, initial, [key], "chain")
    wanted = as_averages(averages)
    averaged_targets(model, wanted)
    program = Program(model, sampler, model.targets, as_observables(observables), wanted)
    warn_of_noise(program, "chain")
    length = warmup_length(program.host_tunes, warmup)
    return Chain(program, key, start, length, initial is None, momenta)
