"""One chain as one compiled program, run in blocks.

A block advances a chain until the given number of transitions has been made or the given number of
gradients has been spent. The chain's whole state is an argument and a result, so the draws do not
depend on how a chain is divided into blocks. A separate small program (`search`) finds the starting
point.

    warm-up     transitions 0 .. end - 1, each followed by an update of the tuning
    sampling    transitions end .. end + draws thin - 1; each thin-th is kept

For one chain the kernel's step is called in a loop of transitions. In a batch all chains make each
transition together. But a kernel with turns runs a batch as one loop of turns, in which each chain
opens its next transition as soon as the last one is finished, without waiting for other chains.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.host_warmup import Tuner
from ..adaptation.schedule import NEVER, Phases, Warmup
from ..graph.compiling.packing import Packing
from ..graph.control.control_node import Looping, loops_in
from ..graph.errors import ModelError
from ..graph.node import Data, Node, ancestors
from ..graph.precision import x64
from ..kernels.contract import Moment, Space, Statistic, TransitionKernel
from ..kernels.noise import BEFORE, Noise
from ..models.bound_density import BoundDensity, Position
from ..models.centring import Centring
from ..models.model import Model
from ..models.row_blocks import RowBlocks
from ..observables.average import Average
from ..observables.graph import ObservableGraph
from ..observables.named import COUNTED, is_named, of_batch
from ..observables.observable import Observable, check_observables
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from ..samplers.staged import StagedKernel
from .averages import Averages
from .block_loops import in_step, in_turns, one_chain
from .schedules import Schedules
from .state import Block, ChainState, Plan, Start

__all__ = ["ROWS", "Program"]

ROWS = 4000  # the largest number of draws in a block: fast samplers lose 0.1 ms with each block,
ELEMENTS = 2**20  # the largest number of elements, which bounds the memory,
BATCH_ELEMENTS = 2**21  # and the bound for a batch of chains
FEW = 40  # draws whose targets are computed at once: a divisor of ROWS, a multiple of 8,
FEW_ELEMENTS = 2**16  # and the bound for the elements of their computation
MOST_CENTRED = 20_000  # elements whose form is chosen; each takes 500 bytes in warm-up
BATCH_LP = Statistic("batch_lp", float, "estimate of the log density from the batch of the step")
STEP_SIZE = Statistic("step_size", float, "the step size of the transition")


@dataclass(frozen=True)
class Program:
    """The program of a model, a sampler and the recorded quantities."""

    model: Model
    sampler: Sampler
    targets: Sequence[Node]
    observables: tuple[Observable, ...] = ()
    averages: tuple[Average, ...] = ()
    varied: tuple[Node, ...] = ()  # arguments that have other values in each chain
    most_rows: int = ROWS  # the largest number of draws in a block
    maps_jointly: bool = False  # whether the coordinates of the joint block may be in use
    row_blocks: RowBlocks | None = None  # if devices share the rows of the data

    def __post_init__(self) -> None:
        if self.model.batch is not None:  # estimates from a batch have names of their own
            observables, averages = of_batch(self.observables), of_batch(self.averages)
            object.__setattr__(self, "observables", observables)
            object.__setattr__(self, "averages", averages)

    @property
    def data_axes(self) -> tuple[int | None, ...]:
        """The axis of a batch's chains in each argument of the model."""
        return tuple(0 if node in self.varied else None for node in self.arguments)

    @property
    def dtype(self) -> np.dtype:
        """The type of the free state."""
        unknowns = self.model.component.unknowns
        return np.result_type(*(v.dtype for v in unknowns))

    @cached_property
    def space(self) -> Space:
        """The space in which the sampler moves."""
        density = self.model.density
        names = dict(zip(density.unknowns, self.model.names, strict=True))
        parts = {
            names[v]: (place, density.bijectors[v].free_shape)
            for v, place in density.slices.items()
        }
        shape = (*self.walkers, self.model.free_size)
        names_of_observables = frozenset(o.name for o in self._named)
        centring = None
        if self._may_centre:
            centring = Centring(self.model, self.maps_jointly, self.row_blocks is not None)
        if centring is not None and not 0 < centring.size <= MOST_CENTRED:
            centring = None
        loops = len(density.loops)
        return Space(shape, self.dtype, parts, loops, names_of_observables, centring)

    @property
    def _may_centre(self) -> bool:
        """Whether the form of unknowns may be chosen."""
        sampler = self.sampler
        chooses = isinstance(sampler, NUTS) and sampler.parametrisation == "auto"
        return chooses and self.model.batch is None and not self.walkers

    @cached_property
    def centring(self) -> Centring | None:
        """The forms of unknowns, if the sampler chooses them."""
        return self.space.centring if "centring" in self.hyper() else None

    @property
    def _named(self) -> tuple[Observable, ...]:
        """The observables with names that are recorded or averaged."""
        averaged = [a.quantity for a in self.averages if isinstance(a.quantity, Observable)]
        return tuple(o for o in (*self.observables, *averaged) if is_named(o))

    @cached_property
    def counted(self) -> tuple[Statistic, ...]:
        """The statistics that count evaluations."""
        names = [name for name in COUNTED if name in self.space.wanted]
        return tuple(Statistic(name, int, COUNTED[name].text) for name in names)

    @property
    def walkers(self) -> tuple[int, ...]:
        """The shape of a chain's walkers: empty, or their number."""
        count = self.sampler.walkers
        return () if count is None else (int(count),)

    @cached_property
    def kernel(self) -> TransitionKernel:
        """The sampler's transition.

        Raises
        ------
        ModelError, TypeError
            If a kernel in JAX does not record the log density, or if a setting of its sampler is a
            function of the step's number.
        """
        kernel = self.sampler.kernel(self.space)
        if not isinstance(kernel, StagedKernel):
            self._check_kernel(kernel)
        return kernel

    def _check_kernel(self, kernel: TransitionKernel) -> None:
        title = type(self.sampler).__name__
        for name, value in self.sampler._values.items():
            if callable(value):
                raise TypeError(
                    f"{title}: {name} must be a number, got a function: {title} does not take "
                    "schedules"
                )
        names = [statistic.name for statistic in kernel.statistics]
        if "lp" not in names:
            raise ModelError(
                f"{title}: the statistics of its kernel must have kg.kernels.Statistic('lp', "
                f"float, '...'), the log density, got {', '.join(names) or 'none'}"
            )

    @cached_property
    def schedules(self) -> Schedules | None:
        """The hyper-parameters that are functions of the step's number."""
        kernel = self.kernel
        return Schedules(self.sampler, kernel.session) if isinstance(kernel, StagedKernel) else None

    def check_noise(self, doing: str) -> bool:
        """Whether the sampler compares values of a potential that has noise.

        Raises
        ------
        ModelError
            If it does, and the model does not allow it.
        """
        batch = self.model.batch
        if batch is None or not self.kernel.moves_by_values:
            return False
        if batch.noise is not None:
            raise ModelError(
                f"{doing}: {type(self.sampler).__name__} compares values of the potential, as a "
                f"Metropolis test does, but {batch.noise} makes these values random. Take a "
                f"sampler that uses the gradient alone (SGLD, BAOAB, SGNHT), or {batch.noise}=None"
            )
        if not batch.allow_noisy:
            raise ModelError(
                f"{doing}: {type(self.sampler).__name__} compares values of the potential, as a "
                f"Metropolis test does, but by {batch.size} of {batch.count} rows they are only "
                "estimated, and what it samples would not be the posterior. Take a sampler that "
                "uses the gradient alone (SGLD, BAOAB, SGNHT, CCAdL), or the model without "
                "kg.minibatch; kg.minibatch(..., allow_noisy=True) lets it run all the same"
            )
        return True

    def check_schedules(self, first: int, until: int) -> None:
        """Refuse schedules that leave their range in these transitions."""
        if self.schedules is not None:
            self.schedules.check(first, until)

    @cached_property
    def warmup(self) -> Warmup:
        """The hyper-parameters that are tuned."""
        kernel = self.kernel
        within = kernel.tuned_within if isinstance(kernel, StagedKernel) else ()
        tune, centring = tuple(self.sampler.tune), self.centring
        if centring is None or not self.chooses_form:
            return Warmup(tune, within)
        parts, vectors = centring.parts, tuple(centring.vector_parts.values())
        tails = len(parts) - len(centring.shifts)
        places = centring.places, vectors, centring.vector_places
        if centring.joint is None:
            return Warmup(tune, within, parts, *places, tails=tails)
        joint = centring.joint.places
        index = np.full(self.model.free_size, -1)
        index[centring.places] = np.arange(len(centring.places))
        return Warmup(tune, within, parts, *places, joint, index[joint], tails)

    @property
    def chooses_form(self) -> bool:
        """Whether warm-up chooses the form of unknowns."""
        return self.centring is not None and "scale" in self.sampler.tune

    @cached_property
    def steps_within(self) -> tuple[str, ...]:
        """The recorded step sizes that are tuned in inner samplers."""
        names = (n for n in self.warmup.within if n not in self.warmup.scales)
        recorded = {statistic.name for statistic in self.records}
        return tuple(name for name in names if _recorded(name) not in recorded)

    @property
    def host_tunes(self) -> bool:
        """Whether the host examines the draws of warm-up."""
        return bool(self.warmup.tune) and not self.walkers

    def tuner(self, length: int | None) -> Tuner:
        """The host's part of the warm-up of a chain."""
        looks = self.host_tunes and (length is None or "directions" in self.hyper())
        return Tuner(length, looks, self.sampler.dense, self.warmup)

    @property
    def keeps_slopes(self) -> bool:
        """Whether the host examines the gradients of warm-up, too."""
        return self.host_tunes and "scale" in self.warmup.tune

    @cached_property
    def records(self) -> tuple[Statistic, ...]:
        """The sampler's statistics.

        The log density that is estimated from a batch of rows has its own name.
        """
        texts = {observable.name: observable.text for observable in self._named}
        statistics = tuple(
            s._replace(text=s.text or texts.get(s.name, "")) for s in self.kernel.statistics
        )
        if self.model.batch is None:
            return statistics
        return tuple(BATCH_LP._replace(shape=s.shape) if s.name == "lp" else s for s in statistics)

    @cached_property
    def observed(self) -> ObservableGraph | None:
        """The graph of the observables: recorded ones first, then averaged ones."""
        records = self.records
        recorded = {statistic.name for statistic in records}
        averaged = [a.quantity for a in self.averages if isinstance(a.quantity, Observable)]
        every = list(dict.fromkeys([*self.observables, *averaged]))
        check_observables(every, "averages")
        unrecorded = [
            o for o in every if o.name not in {*recorded, *(s.name for s in self.counted)}
        ]
        for observable in (o for o in every if o.name in recorded and not is_named(o)):
            raise ValueError(
                f"observables: {observable.name!r} is a record of {type(self.sampler).__name__} "
                "already; give the observable another name: "
                "kg.observables.observable(function, name)"
            )
        if not unrecorded:
            return None
        shapes, schedules = self.unaveraged_shapes, self.schedules
        scheduled = (schedules.nodes, schedules.event) if schedules else ()
        return ObservableGraph(
            unrecorded, self.space, shapes.slots, shapes.hyper, records, *scheduled
        )

    @cached_property
    def computed(self) -> tuple[Statistic, ...]:
        """The statistics computed for each draw.

        They are the statistics of the sampler, of the run, and of the observables. An observable
        with a name, such as `kinetic_energy`, is a statistic of the sampler.
        """
        tuned = (STEP_SIZE,) if "step_size" in self.sampler.tune else ()
        within = (STEP_SIZE._replace(name=_recorded(name)) for name in self.steps_within)
        statistics = (*self.records, *tuned, *within, *self.counted)
        return statistics if self.observed is None else (*statistics, *self.observed.statistics)

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """The recorded statistics: all but observables that are only averaged."""
        recorded = {o.name for o in self.observables}
        observed = self.observed.statistics if self.observed else ()
        unrecorded = sum(s.name not in recorded for s in observed)
        return self.computed[: len(self.computed) - unrecorded]

    @cached_property
    def running(self) -> Averages:
        """The running averages."""
        computed = self.computed if self.averages else ()
        return Averages(self.model, self.averages, self.targets, computed, self.walkers)

    @cached_property
    def packing(self) -> Packing:
        """The arrays of a block that hold the values of the targets.

        An array for each of hundreds of scalars would take a quarter of the time to compile.
        """
        return Packing(self.targets)

    @cached_property
    def takes_gradient(self) -> bool:
        """Whether a transition needs the gradient at its end.

        The next transition, the metric or an observable may need it. If none does, the gradient is
        computed only at the end of a block.
        """
        observed = self.observed is not None and self.observed.takes_gradient
        tuned = bool(self.warmup.scales)
        used = self.kernel.takes_gradient and not self.kernel.ends_with_value
        return used or observed or tuned

    @cached_property
    def observable_inputs(self) -> tuple[Any, ...]:
        """Shapes and types of the values that observables need of each draw."""
        observed = self.observed
        if observed is None:
            return ()
        shapes = self.unaveraged_shapes
        with x64():
            input_shapes: tuple[Any, ...] = jax.eval_shape(
                observed.keep, shapes.position, shapes.slots, shapes.hyper
            )
        return input_shapes

    @cached_property
    def loops(self) -> tuple[Looping, ...]:
        """The loops in the graphs of log density and targets."""
        nodes = ancestors([*self.model.density.nodes, *self.targets])
        return tuple(dict.fromkeys((*self.model.density.loops, *loops_in(nodes))))

    def rows(self, batch: int | None = None) -> int:
        """The largest number of draws in a block, for each chain."""
        rows = 1 + self.keeps_slopes * (1 if self.centring is None else 2)
        width = rows * self.model.free_size + sum(t.size for t in self.targets)
        width = width * math.prod(self.walkers) + sum(x.size for x in self.observable_inputs)
        most = min(ELEMENTS, BATCH_ELEMENTS // (batch or 1))
        count = int(np.clip(most // max(width, 1), 1, self.most_rows))
        few = self.few(batch)
        return count if count < few else count // few * few

    def few(self, batch: int | None = None) -> int:
        """The number of draws whose targets and observables are computed at once.

        In a batch they are computed for all chains at once, and more memory is allowed.
        """
        observed = self.observed.results if self.observed else []
        computed = [n for n in ancestors([*self.targets, *observed]) if not isinstance(n, Data)]
        width = sum(node.size for node in computed) * math.prod(self.walkers)
        most = FEW_ELEMENTS if batch is None else BATCH_ELEMENTS // batch
        return int(np.clip(most // max(width, 1), 1, FEW))

    def hyper(self) -> dict[str, np.ndarray]:
        """The hyper-parameters as set by the user."""
        return self.sampler.hypers(self.space)

    def begin(self, density: BoundDensity, key: Any, hyper: Any, start: Start) -> ChainState:
        """The state of a chain at its starting point."""
        chain = self.unaveraged(density, key, hyper, start)
        return chain._replace(averages=self.running.start())

    def unaveraged(self, density: BoundDensity, key: Any, hyper: Any, start: Start) -> ChainState:
        """The state of a chain at its starting point, without averages."""
        moment, position = Moment(hyper, Noise(key, BEFORE), density), start.position
        slots = self.kernel.init(moment, position)
        adaptation, hyper = self.warmup.start(position, hyper, start.scale)
        zero, spent = jnp.int32(0), jnp.sum(start.gradients, dtype=jnp.int64)
        counts = {statistic.name: jnp.int64(0) for statistic in self.counted}
        phases = Phases(zero, zero, zero, zero, jnp.int32(NEVER), jnp.int32(NEVER))
        counters = zero, spent, zero
        return ChainState(position, slots, hyper, adaptation, phases, key, *counters, {}, counts)

    def shapes(self) -> ChainState:
        """The shapes and types of a chain's state."""
        with x64():
            averages = jax.eval_shape(self.running.start)
        return self.unaveraged_shapes._replace(averages=averages)

    @cached_property
    def unaveraged_shapes(self) -> ChainState:
        """The shapes and types of a chain's state, without averages.

        Observables depend on these shapes, and the averages depend on the observables.
        """

        def begun(data: Any, key: Any, hyper: Any, q: Any) -> ChainState:
            position = Position(q, jnp.zeros(self.walkers, self.dtype), q)
            start = Start.at(position)
            return self.unaveraged(self.model.bind(data), key, hyper, start)

        key = np.zeros(4, np.uint32)
        q = np.zeros(self.space.shape, self.dtype)
        data = self.model.argument_values
        with x64():
            shapes: ChainState = jax.eval_shape(begun, data, key, self.hyper(), q)
        return shapes

    @property
    def arguments(self) -> tuple[Node, ...]:
        """The known nodes whose values are arguments of the program."""
        return self.model.arguments if self.row_blocks is None else self.row_blocks.arguments

    @property
    def argument_values(self) -> tuple[Any, ...]:
        """The values of the arguments as the program takes them."""
        return self.model.argument_values if self.row_blocks is None else self.row_blocks.parts

    def placed(self, device: Any) -> Sequence[Any]:
        """The values of the arguments, on the devices of the program."""
        if self.row_blocks is not None:
            device = self.row_blocks.placements()
        placed: Sequence[Any] = jax.device_put(self.argument_values, device)
        return placed

    def on_devices(self, function: Any, before: int, after: int) -> Any:
        """A function, as each device computes it.

        `before` and `after` are the numbers of parameters before and after the arguments.
        """
        blocks = self.row_blocks
        return function if blocks is None else blocks.on_devices(function, before, after)

    def bound(self, data: Sequence[Any]) -> BoundDensity:
        """The log density with values of the model's arguments."""
        blocks = self.row_blocks
        if blocks is None:
            return self.model.bind(data)
        return self.model.bind(blocks.whole(data))._replace(blocks=blocks.bound(data))

    def block(self, chain: ChainState, data: Sequence[Any], plan: Plan) -> tuple[ChainState, Block]:
        """Advance one chain: a loop of transitions."""
        return one_chain(self, chain, data, plan)

    def batch_block(
        self, chains: ChainState, data: Sequence[Any], plan: Plan
    ) -> tuple[ChainState, Block]:
        """Advance a batch of chains, whose states are stacked."""
        if self.kernel.turns is None:
            return in_step(self, chains, data, plan)
        return in_turns(self, chains, data, plan)


def _recorded(name: str) -> str:
    """The name under which an inner hyper-parameter is recorded."""
    return name.replace(".", "_")
