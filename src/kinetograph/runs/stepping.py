"""`kg.chain`: a chain stepped by hand, with the program of a run."""

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from ..adaptation.host_warmup import warmup_length
from ..adaptation.schedule import NEVER
from ..bits.draws import chain_key
from ..graph.control.structure import LEAF, flatten
from ..graph.errors import ModelError, ShapeError
from ..graph.precision import x64
from ..graph.public import public
from ..kernels.moments import Moments
from ..models.model import Model, check_model
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..programs.averages import averaged_targets
from ..programs.engine import build
from ..programs.program import Program
from ..programs.state import ChainState, Plan, Where
from ..samplers.hyper import value_of
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .arguments import check_sampler, check_seed, check_whole
from .assembly import split_statistics
from .chain import RunningChain
from .chains import advance
from .control import beginnings
from .noisy_potentials import warn_of_noise
from .rows import TransitionRows, rows_of
from .starting_points import explain_failure, starting_points

__all__ = ["Chain", "StepResults", "chain"]


class StepResults(NamedTuple):
    """The results of some steps, with one row for each step.

    They are arrays by the names of targets, and by the names of statistics.
    """

    posterior: dict[str, np.ndarray]
    sample_stats: dict[str, np.ndarray]


class _Values(MutableMapping[str, Any]):
    """Named arrays or tuples of arrays in a chain's state."""

    def __init__(
        self, kind: str, get: Callable[[], dict[str, Any]], put: Callable[[dict[str, Any]], None]
    ) -> None:
        self._kind, self._get, self._put = kind, get, put

    def __getitem__(self, name: str) -> Any:
        def copied(value: Any) -> np.ndarray:
            array = np.array(value)
            array.setflags(write=False)  # a value written into the copy would be lost
            return array

        return jax.tree.map(copied, self._current(name))

    def _current(self, name: str) -> Any:
        values = self._get()
        if name not in values:
            raise KeyError(
                f"the sampler has no {self._kind} {name!r}; it has: {', '.join(values) or 'none'}"
            )
        return values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        leaves, paths, structure = flatten(self._current(name), name)
        values = [value_of(value, f"the {self._kind} {name}")]
        if structure != LEAF:
            values, _, given_structure = flatten(value)
            if given_structure != structure:
                raise TypeError(f"{self._kind} {name!r} is {structure}, got {given_structure}")
        new = map(self._fitted, paths, leaves, values)
        self._put({**self._get(), name: structure.fill(new)})

    def _fitted(self, name: str, old: Any, value: Any) -> np.ndarray:
        old, array = np.asarray(old), np.asarray(value)
        if not np.can_cast(array.dtype, old.dtype, "same_kind"):
            raise TypeError(f"{self._kind} {name!r} is {old.dtype}, got {array.dtype}")
        if array.shape not in (old.shape, ()):
            raise ShapeError(f"{self._kind} {name!r} has shape {old.shape}, got {array.shape}")
        return np.array(np.broadcast_to(array, old.shape).astype(old.dtype))

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"a {self._kind} cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())

    def __repr__(self) -> str:
        return repr({name: self[name] for name in self})


@public
class Chain:
    """One chain of a sampler, made by `kg.chain`.

    Attributes
    ----------
    state
        The complete state of the chain, a tree of arrays. If it is saved and set again later, the
        chain continues from it.
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
        jointly = RunningChain(key, tuner=program.tuner(warmup)).begins_jointly
        self._program, self._engine, self._key = program, build(program, jointly=jointly), key
        with x64():
            self._data = jax.device_put(program.model.argument_values)
        self._state: ChainState = self._start_at(start, climbing)
        if momenta is not None:
            self.slots["p"] = _momenta(program, self._state.slots, momenta)
        if warmup != 0:
            self._warm_up(warmup)

    def _start_at(self, free: Any, climbing: bool = False) -> ChainState:
        program = self._program
        running = RunningChain(self._key, free, climbing=climbing)
        (beginning,) = beginnings(program, [running])
        with x64():
            running.begin(self._engine.find(beginning, self._data))
        if running.failed:
            raise explain_failure(program.model, [running], free is not None)
        state: ChainState = jax.device_get(running.state)
        return state

    @property
    def state(self) -> ChainState:
        """The complete state of the chain."""
        return self._state

    @state.setter
    def state(self, value: Any) -> None:
        _check_state(value, self._state)
        self._state = value

    @property
    def slots(self) -> MutableMapping[str, Any]:
        """The slots of the sampler by name, which may be set."""
        return _Values("slot", lambda: self.state.slots, self._set_slots)

    @slots.setter
    def slots(self, values: Mapping[str, Any]) -> None:
        self.slots.update(values)

    @property
    def hyper(self) -> MutableMapping[str, Any]:
        """The hyper-parameters by name, which may be set."""
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
        """The log density at the position.

        It is a number, or an array with a number for each walker of an ensemble.
        """
        value = np.array(self.state.position.log_density)
        return value if value.ndim else float(value)

    @property
    def gradient(self) -> np.ndarray:
        """The gradient of the log density at the position."""
        return np.array(self.state.position.gradient)

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of the unknowns at the position."""
        by_name: dict[str, np.ndarray] = self._program.model.transform(self.q)
        return by_name

    @property
    def iteration(self) -> int:
        """The number of transitions made, warm-up included."""
        return int(self.state.transition)

    @property
    def averages(self) -> dict[str, Moments]:
        """The running averages, by name; each has `count`, `mean` and `variance`."""
        return {name: Moments(*moments) for name, moments in self.state.averages.items()}

    def reset_averages(self) -> None:
        """Restart the averages with the next step."""
        with x64():
            self.state = self.state._replace(averages=self._program.running.start())

    def move(self, to: Any) -> None:
        """Move the chain; slots and hyper-parameters stay as they are.

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
        self.state = self.state._replace(position=self._start_at(free).position)

    def step(self, n: int = 1, *, keep: bool = True, thin: int = 1) -> StepResults:
        """Make n transitions, and return their results.

        Parameters
        ----------
        n
            The number of transitions.
        keep
            False: no rows are kept, and any number of transitions takes the same memory.
        thin
            Keep the rows of every thin-th transition only, counted from the end of warm-up: for any
            division into steps these are the same rows.

        Returns
        -------
        StepResults
            `posterior`, the targets, and `sample_stats`, the records of the sampler: dictionaries
            of arrays with a row for each transition that is kept.
        """
        check_whole("chain.step", {"n": (n, 0), "thin": (thin, 1)})
        return self._results(self._run(int(n), keep, int(thin)))

    def _results(self, blocks: Sequence[TransitionRows]) -> StepResults:
        """The rows of blocks by the names of targets and statistics."""
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
        return StepResults(posterior, split_statistics(program.statistics, rows))

    def _warm_up(self, length: int | None) -> None:
        """Tune the sampler by a warm-up of this length."""
        running = RunningChain(self._key, None, self._state)
        running.tuner = self._program.tuner(length)
        pace = self._engine.pace
        while running.transition < running.tuner.end:
            begun = time.perf_counter()
            plan = Plan(np.int32(1), np.int64(pace.gradients))
            with x64():
                advance(self._engine, self._data, running, plan, 0)
            pace.adjust(running.spent, time.perf_counter() - begun)
        self._state = jax.device_get(running.state)

    def _run(self, n: int, keep: bool, thin: int) -> list[TransitionRows]:
        rows = []
        state, until, pace = self.state, self.iteration + n, self._engine.pace
        self._program.check_schedules(self.iteration, until)
        while int(state.transition) < until:
            begun = time.perf_counter()
            plan = Plan(np.int32(thin), np.int64(pace.gradients))
            phases = state.phases._replace(stop=np.int32(until), glance=NEVER)
            with x64():
                after, block = self._engine.advance(state._replace(phases=phases), self._data, plan)
                state, block = jax.device_get(after), self._engine.on_host(block)
            pace.adjust(Where(*block.progress).spent, time.perf_counter() - begun)
            if keep:
                rows.append(rows_of(block).copied())
        self._state = state  # an error or Ctrl-C before leaves the chain as it was
        return rows

    def __repr__(self) -> str:
        return f"<chain of {self._program.sampler!r} after {self.iteration} transitions>"


def _momenta(program: Program, slots: Mapping[str, Any], given: Any) -> Any:
    """Momenta of all coordinates, from one array or from arrays by unknowns.

    Raises
    ------
    ModelError
        If the sampler does not keep momenta.
    ValueError, ShapeError
        If the momenta of an unknown are missing, or have another shape.
    """
    if "p" not in slots:
        slots_text = (
            f"its slots are {', '.join(slots)}" if slots else "it keeps nothing between steps"
        )
        raise ModelError(
            f"chain: momenta: {type(program.sampler).__name__} has no slot p for momenta that are "
            f"kept from step to step; {slots_text}"
        )
    if not isinstance(given, Mapping):
        return given
    parts = program.space.parts
    if set(given) != set(parts):
        raise ValueError(
            f"chain: momenta: give the momenta of all unknowns, {', '.join(parts)}; got "
            f"{', '.join(map(str, given)) or 'none'}"
        )
    momenta = np.zeros(np.shape(slots["p"]), program.dtype)
    lead = momenta.shape[:-1]
    for name, (place, shape) in parts.items():
        value = np.asarray(value_of(given[name], f"chain: momenta of {name}"), program.dtype)
        if value.shape not in (shape, (*lead, *shape)):
            raise ShapeError(
                f"chain: momenta of {name} have shape {(*lead, *shape)} on the free scale, got "
                f"{value.shape}"
            )
        broadcast = np.broadcast_to(value, (*lead, *shape))
        momenta[..., place] = broadcast.reshape((*lead, place.stop - place.start))
    return momenta


def _check_state(value: Any, before: ChainState) -> None:
    """Refuse a value that is not a state of such a chain.

    Raises
    ------
    TypeError
        If its structure differs, or an array in it has another type.
    ShapeError
        If an array has another shape.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(before)
    given_structure: Any = jax.tree.structure(value)
    if given_structure != structure:
        raise TypeError(
            f"chain.state: expected a state of this chain, got {type(value).__name__}; give a "
            "value of chain.state, and change it by chain.slots, chain.hyper and chain.move"
        )
    for (path, old), new in zip(leaves, jax.tree.leaves(value), strict=True):
        name = jax.tree_util.keystr(path)
        if np.shape(new) != np.shape(old):
            raise ShapeError(f"chain.state{name} has shape {np.shape(old)}, got {np.shape(new)}")
        if np.asarray(new).dtype != np.asarray(old).dtype:
            dtypes = np.asarray(old).dtype, np.asarray(new).dtype
            raise TypeError(f"chain.state{name} is {dtypes[0]}, got {dtypes[1]}")


@public
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
    """One chain of a sampler, stepped by hand.

    Its draws equal the draws of chain number `index` of `kg.mcmc(model, sampler, seed=seed)` with
    the same `initial` and `warmup` to the last bit, for any division into steps. Between steps
    everything can be read and changed, slots and hyper-parameters included, without another
    compilation.

    Parameters
    ----------
    model, sampler, seed, initial, observables, averages
        As in `kg.mcmc`. The averages are in `chain.averages`.
    index
        The number of the chain in a run.
    momenta
        Initial momenta, for a sampler that keeps momenta from step to step: a dictionary with the
        names of all unknowns and arrays on their free scale, or one array of all momenta. They are
        momenta in coordinates with mass 1, like `chain.slots["p"]`. By default the sampler draws
        them.
    warmup
        The number of transitions that tune the sampler, made at once; None: as many as `kg.mcmc`
        makes.

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
    requested_averages = as_averages(averages)
    averaged_targets(model, requested_averages)
    program = Program(
        model, sampler, model.targets, as_observables(observables), requested_averages
    )
    warn_of_noise(program, "chain")
    length = warmup_length(program.host_tunes, warmup)
    return Chain(program, key, start, length, initial is None, momenta)
