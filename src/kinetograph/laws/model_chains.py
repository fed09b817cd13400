"""Geweke's joint test of a sampler on a model.

Each replica is a separate chain. It begins with unknowns from the prior. Then, alternately, data
are drawn given the unknowns, and the sampler moves the unknowns given the data. Data are arguments
of the compiled program, so each replica has different data without another compilation.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.draws import chain_key
from ..bits.keys import SIMULATION, make_key
from ..graph.errors import ModelError
from ..graph.precision import x64
from ..graph.public import public
from ..kernels.contract import KernelState, Moment
from ..kernels.noise import BEFORE, Noise
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import in_rows, run_rows
from ..models.model import Model, check_model
from ..models.starting_points import free_states
from ..prediction.observed_distributions import followed
from ..programs.program import Program
from ..runs.arguments import check_sampler, check_seed, check_whole
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .joint import geweke_test
from .outcomes import PTest

__all__ = ["geweke_chain"]


@public
def geweke_chain(
    model: Model,
    sampler: Sampler | None = None,
    *,
    replicas: int = 1000,
    steps: int = 5,
    transitions: int = 3,
    seed: int | np.integer,
) -> PTest:
    """Geweke's joint test: whether a sampler preserves a model's joint law.

        x ~ p(x);  alternately  y ~ p(y | x)  and  x by transitions of the sampler given y

    After any number of steps the unknowns of a right sampler are draws from the prior.
    `geweke_test` compares them with new draws, on their free scale. No posterior has to be known.
    The test finds wrong densities of the model as well as wrong samplers.

    Parameters
    ----------
    model
        Made by `kg.model`, with observed data, whose values do not matter, and with distributions
        of all unknowns. Its data are the same after the test.
    sampler
        A sampler, as for `kg.mcmc`. It uses the given hyper-parameters: nothing is tuned. Its slots
        are initialised in each step. A sampler without a Metropolis test does not preserve the law,
        and fails because of its bias.
    replicas, steps, transitions
        The number of chains, the number of steps of each, and the number of transitions of the
        sampler in a step.
    seed
        A whole number.

    Returns
    -------
    PTest
        It has a p-value for each free coordinate, such as `mu` or `theta[0]`, and for its distance
        from the median.

    Raises
    ------
    ModelError
        If nothing is observed, an unknown has no distribution, or the model has factors or was made
        by `kg.minibatch`.
    ValueError
        If the sampler moves an ensemble.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0.0, 1.0, name="mu")
    >>> y = kg.observe([0.0, 0.0], kg.normal(mu, 1.0), name="y")
    >>> kg.laws.geweke_chain(kg.model(mu), kg.samplers.HMC(0.5, n_steps=3), seed=1).passed()
    True
    """
    check_model(model, "laws.geweke_chain")
    used_sampler = check_sampler(NUTS() if sampler is None else sampler, "laws.geweke_chain")
    counts = {"replicas": (replicas, 20), "steps": (steps, 1), "transitions": (transitions, 1)}
    check_whole("laws.geweke_chain", counts)
    _check(model, used_sampler)
    chains = _Chains(model, used_sampler, int(transitions))
    observed_data = {model.name(node): np.array(model.value_of(node)) for node in model.observed}
    try:
        test = geweke_test(
            chains.prior,
            chains.simulate,
            chains.transition,
            replicas=int(replicas),
            steps=int(steps),
            seed=check_seed(seed, "laws.geweke_chain"),
        )
    finally:
        model.set_data(observed_data)
    names = _coordinates(model)
    return PTest(_named(test.p_values, names), _named(test.statistics, names), test.size, test.kind)


def _check(model: Model, sampler: Sampler) -> None:
    """Refuse models whose data cannot be drawn, and samplers of ensembles."""
    doing = "laws.geweke_chain"
    if not model.observed:
        raise ModelError(f"{doing}: the model observes nothing, so there are no data to draw")
    if model.factors:
        raise ModelError(f"{doing}: the model has factors, and factors cannot be drawn from")
    if model.batch is not None:
        raise ModelError(f"{doing}: give the model without kg.minibatch")
    if sampler.walkers is not None:
        raise ValueError(
            f"{doing}: {type(sampler).__name__} moves an ensemble; give a sampler of single points"
        )


class _Chains:
    """The functions of Geweke's test, for free states and data.

    Each replica is a row of the free states and of the data.
    """

    def __init__(self, model: Model, sampler: Sampler, transitions: int) -> None:
        self.model, self.transitions, self.turn = model, transitions, 0
        self.program = Program(model, sampler, ())
        self.unknowns, self.fixed = model.component.unknowns, model.fixed_values
        names = {v: model.name(v) for v in (*self.unknowns, *model.observed)}
        doing, simulated = "laws.geweke_chain", followed("laws.geweke_chain", model)
        self.forward_prior = plan(doing, self.unknowns, self.fixed, {}, names)
        self.forward_data = plan(
            doing, model.observed, [*self.unknowns, *self.fixed], simulated, names
        )
        with x64():
            self._move = jax.jit(self._moved)
            self.hyper = self.program.hyper()

    def prior(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """The free states of draws from the prior."""
        values = self._drawn(self.forward_prior, rng, count, self.fixed)
        return free_states(self.model, values)

    def simulate(self, rng: np.random.Generator, free: np.ndarray) -> list[np.ndarray]:
        """Draw data given the free states."""
        values = self.model.transform(free)
        rows = {v: np.asarray(values[self.model.name(v)], v.dtype) for v in self.unknowns}
        return self._drawn(self.forward_data, rng, len(free), self.fixed, rows)

    def transition(
        self, rng: np.random.Generator, free: np.ndarray, data: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Move each free state by transitions of the sampler, given its data."""
        stacked = self._arguments(data, len(free))
        key = int(rng.integers(2**31))
        keys = np.stack([chain_key(key, row) for row in range(len(free))])
        with x64():
            moved: np.ndarray = np.asarray(self._move(free, stacked, keys))
        return moved

    def _arguments(self, data: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
        """The arguments of the log density, a row for each replica."""
        model = self.model
        rows = dict(zip(model.observed, data, strict=True))
        before = dict(zip(model.arguments, model.argument_values, strict=True))
        self._set({node: x[0] for node, x in rows.items()})
        after = dict(zip(model.arguments, model.argument_values, strict=True))
        other_arguments = [node for node in after if node not in rows]
        if all(
            node in before and np.array_equal(before[node], after[node]) for node in other_arguments
        ):
            # No argument is computed from the data.
            return [rows[n] if n in rows else in_rows(x, count) for n, x in after.items()]
        each = []
        for row in range(count):
            self._set({node: x[row] for node, x in rows.items()})
            each.append(model.argument_values)
        return [np.stack(column) for column in zip(*each, strict=True)]

    def _set(self, values: Mapping[Any, np.ndarray]) -> None:
        """Set the model's data."""
        self.model.set_data({self.model.name(node): value for node, value in values.items()})

    def _drawn(
        self, forward: Any, rng: np.random.Generator, count: int, fixed: Any, rows: Any = ()
    ) -> list[np.ndarray]:
        rows = {v: in_rows(value, count) for v, value in fixed.items()} | dict(rows)
        key = make_key(int(rng.integers(2**31)), SIMULATION, 0)
        with self.model.its_values():
            return run_rows(forward, key, count, [rows[node] for node in forward.given])

    def _moved(self, free: Any, data: Any, keys: Any) -> Any:
        def one(given: Any) -> Any:
            q, values, key = given
            density, kernel = self.model.bind(values), self.program.kernel
            position, trips = density.evaluate(q, density.no_trips())
            slots = kernel.init(Moment(self.hyper, Noise(key, BEFORE), density), position)

            def step(event: Any, state: KernelState) -> KernelState:
                return kernel.step(Moment(self.hyper, Noise(key, event), density), state)[0]

            begin = KernelState(position, slots, trips)
            end: KernelState = lax.fori_loop(
                jnp.uint32(0), jnp.uint32(self.transitions), step, begin
            )
            return end.position.q

        # One after the other: in a batch every row would execute both sides of each branch.
        return lax.map(one, (free, data, keys))


def _coordinates(model: Model) -> list[str]:
    """The names of the free coordinates."""
    density, names = model.density, {}
    for unknown, place in density.slices.items():
        shape = density.bijectors[unknown].free_shape
        for i, index in zip(range(place.start, place.stop), np.ndindex(shape), strict=True):
            label = f"[{', '.join(map(str, index))}]" if math.prod(shape) > 1 or index else ""
            names[i] = model.name(unknown) + label
    return [names[i] for i in range(len(names))]


def _named(values: dict[str, float], names: Sequence[str]) -> dict[str, float]:
    """Rename values from indices to the names of coordinates."""
    by_number = {f"parameters[{i}]": name for i, name in enumerate(names)}

    def renamed(text: str) -> str:
        inner = text.removeprefix("|").removesuffix(" - median|")
        return text.replace(inner, by_number[inner])

    return {renamed(name): value for name, value in values.items()}
