"""`kg.mcmc`: from a model to its posterior."""

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import jax
import numpy as np

from ..bits.draws import chain_key
from ..graph.node import Node
from ..models.model import Model
from ..models.typing import DataTree
from ..models.unused import warn_of_later
from ..observables.average import Average, as_averages
from ..observables.observable import Observable, as_observables
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .advice import warn_of_noise
from .again import said_of_quantities, said_of_samplers
from .arguments import (
    check_flag,
    check_model,
    check_one_of,
    check_samplers,
    check_seed,
    check_whole,
)
from .averages import averaged_targets
from .chain import Chain, Lengths
from .keeping import kept_targets, named_targets
from .memory import check_memory
from .program import Program
from .progress import Progress
from .results import blank_rows
from .rows import Kept, Sink
from .run import Run, carry_out
from .signals import ON_SIGTERM, listen
from .start import starting_points
from .store.place import folder
from .telling import make_progress
from .tuned import tuned_values, unknowns_text
from .unsolved import watching_solvers
from .until import SoFar, Until, check_watching, watched
from .warming import warmup_length

__all__ = ["mcmc"]

CHAIN_METHODS = ("threads", "batch")


def mcmc(
    model: Model,
    sampler: Sampler | Sequence[Sampler] | None = None,
    draws: int | None = 1000,
    warmup: int | None = None,
    chains: int | range = 4,
    seed: int | np.integer | None = None,
    *,
    thin: int = 1,
    initial: Any = None,
    observables: Any = (),
    averages: Any = (),
    keep: Any = True,
    store: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 10.0,
    dtype: Any = None,
    progress: bool | Progress = True,
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    threads: int | None = None,
    chain_method: Literal["threads", "batch"] | str | None = None,
    keep_warmup: bool = False,
    tuned: Any = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Draw from the posterior of a model.

    Compiles model and sampler to one program, runs each chain on a thread of its own (on an
    accelerator: all chains as a batch), and checks the result. On threads the draws depend on the
    model, the sampler, the seed and the chain's number alone: not on the number of chains or
    threads, nor on whether progress is shown.

    Parameters
    ----------
    model
        Made by `kg.model`.
    sampler
        By default `kg.samplers.NUTS()`. A list has one for each chain, which may differ in the
        values of hyper-parameters.
    draws
        Draws kept of each chain; None: until the run is stopped, by `until`, a callback or Ctrl-C.
    warmup
        Transitions of each chain that tune step size and metric and are not kept. By default each
        chain ends its own, after 200 to 2,000 transitions, when the metric fits its draws, these do
        not drift and the step size has settled (`tree.attrs["warmup"]` has the number, or those of
        the chains); of a sampler that tunes nothing, or moves ensembles, it is 500.
    chains
        The number of chains, or their numbers as a `range`: what a chain draws depends on its
        number and the seed alone, so that `range(4, 8)` are four more chains. With a sampler that
        moves ensembles, that of ensembles, and each of the walkers is a chain of the results.
    seed
        A whole number, not negative. None takes one from the system's entropy; the results
        record it as `tree.attrs["seed"]`.
    thin
        Keep every thin-th transition only.
    initial
        Where chains start: a dictionary of values of unknowns (for all chains), a list of one
        dictionary a chain, an array of free states, or what `kg.pathfinder`, `kg.advi` or
        `kg.laplace_approximation` gave, of which the first draws are taken. What a dictionary lacks
        is drawn from uniform(-2, 2) on the free scale. By default short ascents are made from
        twelve such points, and the end of one is taken, in proportion to its density; "random"
        takes the first point of up to 100 at which log density and gradient are finite, as for the
        walkers of an ensemble and in mini-batches; "prior" takes the first draw of the unknowns'
        distributions whose log density is finite; "pathfinder" takes, for each chain, a draw of a
        `kg.pathfinder` of its own. Walkers have starts of their own: values and free states have a
        leading axis of walkers, a list has a dictionary a walker.
    observables
        What else to record of each draw: a list of `kg.observables` and of functions of a
        `kg.observables.Step`.
    averages
        Of what to compute running averages: a list of targets of the model, `kg.observables`
        and functions of a `kg.observables.Step`; `kg.observables.covariance(x)` of one of them
        asks for the covariance, too. They are those of the draws that are kept, or would be,
        of each chain, computed as they are made, in memory that does not grow with the draws.
    keep
        Of which targets of the model draws are kept: a list of them or of their names; by default
        of all. False: of none, nor what is recorded of them; the results are `averages`.
    store
        A folder, such as "run.zarr", to which draws go as they come; no more of them than a block
        are held in memory, and `kg.resume` goes on with the run after whatever befell it. It is a
        zarr store that xarray opens as these results, also while the run goes on:
        `xarray.open_datatree(store, engine="zarr")`. Another process may add chains of the same
        seed, by `chains=range(4, 8)`.
    checkpoint_every
        Seconds between the states of chains that are written to the store, from which a run that
        was killed goes on.
    dtype
        "float32": real numbers take half of the room in the store. The chains go on from their
        exact states all the same.
    progress
        True: a live table in a terminal or a notebook, plain lines elsewhere, on standard error.
        False: silence. Python's `logging` has what is told, too: `kinetograph.runs`, level INFO.
    callback
        A function that is called with a `kg.SoFar` each time that all chains have more draws; the
        run ends when it gives True.
    until
        When there are enough draws: `kg.until(ess=400, r_hat=1.01)`.
    threads
        Chains that run at once; by default as many as there are processors.
    chain_method
        "threads": each chain is a thread, and as many run at once as `threads` says. "batch": all
        chains are one program that advances them together, as suits an accelerator; each makes the
        draws that it makes as a thread, but for the rounding of sums in another order. Rounding
        grows along a chain, so that after a hundred transitions or so the draws are others, from
        the same posterior. By default "threads" on a processor and "batch" on an accelerator.
    keep_warmup
        True: the rows of warm-up are kept, too, each of them whatever `thin`, in the groups
        `warmup_posterior` and `warmup_sample_stats`. They are no draws from the posterior. Where
        chains end their warm-ups at different transitions, the rows of the shorter ones are filled
        up with NaN, or 0 of whole numbers; `tree.attrs["warmup"]` has the lengths.
    tuned
        Results of `kg.mcmc` of the same model, whose data may be others, and the same kind of
        sampler: what warm-up has tuned there, step size and metric, is where it begins here, or,
        with `warmup=0`, what the draws are made with. Chain k takes that of chain k there, modulo
        their number. Where chains start is for `initial` to say: of as many chains,
        `initial=results["sampler_state/position_q"]` goes on from their last draws; give another
        seed then, as the same numbers would be drawn again.
    on_sigterm
        What SIGTERM does, by which systems end a process: "exit" ends it with the exit code 143,
        after the draws have gone to the store or to `kg.stashed_samples()`, which `finally` blocks
        and `except SystemExit` can write to a file; "return": the run returns what it has, as at
        Ctrl-C. Before there are draws, and between runs, the process ends.

    Returns
    -------
    xarray.DataTree
        In the ArviZ schema: posterior, sample_stats, observed_data, constant_data and
        sampler_state, in which `hyper_step_size`, `hyper_scale` and so on are what each chain has
        tuned; and, where asked for, averages: `tree["averages/mean"]`,
        `tree["averages/variance"]` (both as `numpy.var(ddof=1)` has it) and
        `tree["averages/covariance"]` have the quantities by name, `tree["averages/count"]` is the
        number of draws of each chain they are of. Ctrl-C returns what has been drawn so far, with
        `tree.attrs["interrupted"]` set and `tree.attrs["stopped_by"]`, which is "Ctrl-C", "SIGTERM"
        or, in `kg.stashed_samples()`, "error": as many draws of each chain as all have, further
        ones in `tree["unfinished_posterior"]`, and the averages of all that each has; of chains
        that have no draw there are none. `kg.extra_samples` goes on from there. With a
        store, arrays are read from it when they are looked at.

    Raises
    ------
    TypeError
        If `model` is no model or `sampler` no sampler.
    ValueError
        If a number is out of its range, the samplers of a list differ in more than values, or
        `tuned` are results of another sampler.
    ModelError
        If what is averaged or recorded cannot be computed from a step, or `tuned` are results of
        another model.
    StartError
        If no starting point has a finite log density and gradient; names the terms that do not.
    KinetographError
        If the store holds something else, or a chain that another process runs.
    OSError
        If the store cannot be written: a disk that is full or may only be read.
    MemoryError
        If the draws would need more memory than there is, before anything is compiled.
    KeyboardInterrupt
        If the run is stopped before any chain has a draw. What warm-up has tuned is in
        `kg.stashed_samples()` then, as are the draws when an error ends the run.
    SystemExit
        At SIGTERM, see `on_sigterm`.

    Warns
    -----
    SamplingWarning
        For divergences, saturated trees, R-hat above 1.01 and low effective sample sizes, and if
        the run was stopped.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data([0.5, 1.5])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> tree = kg.mcmc(kg.model(mu), seed=1, progress=False)
    >>> tree["posterior"]["mu"].sizes["draw"]
    1000

    A million draws of which nothing is kept but what they are on average:

    >>> tree = kg.mcmc(
    ...     kg.model(mu), kg.samplers.BAOAB(0.5), draws=250_000, seed=1, progress=False,
    ...     averages=[mu, kg.observables.kinetic_energy], keep=False,
    ... )
    >>> bool(abs(tree["averages/mean/mu"].mean() - 2 / 3) < 0.01)
    True
    >>> tree["averages/count"].values.tolist()
    [250000, 250000, 250000, 250000]

    More draws, with what has been tuned, from where the chains are:

    >>> model = kg.model(mu)
    >>> tree = kg.mcmc(model, draws=100, seed=1, progress=False)
    >>> last = tree["sampler_state/position_q"]
    >>> more = kg.mcmc(model, warmup=0, tuned=tree, initial=last, seed=2, progress=False)
    >>> bool((more["sample_stats/step_size"][:, 0] == tree["sample_stats/step_size"][:, -1]).all())
    True
    """
    listen()
    check_one_of("mcmc", "on_sigterm", on_sigterm, ON_SIGTERM, "")
    extra, wanted = as_observables(observables), as_averages(averages)
    numbers = _numbers(chains)
    samplers = _check(model, sampler, draws, warmup, len(numbers), thin, threads)
    method = _chain_method(chain_method, threads)
    used = check_seed(seed, "mcmc")
    shown = make_progress(progress)
    place = None if store is None else folder("mcmc", store)
    every = check_every("mcmc", checkpoint_every)
    keys = [chain_key(used, number) for number in numbers]
    starts = starting_points(model, samplers[0], initial, keys, "mcmc")
    kept = kept_targets(model, keep)
    averaged = averaged_targets(model, wanted)
    if kept is None and not wanted:
        raise ValueError("mcmc: keep=False keeps no draws; say by averages= what is to remain")
    if check_flag("mcmc", "keep_warmup", keep_warmup) and kept is None:
        raise ValueError("mcmc: keep=False keeps no rows at all; leave out keep_warmup=True")
    check_watching("mcmc", callback, until, draws, len(numbers), kept is not None)
    program = program_of(model, samplers[0], kept, averaged, extra, wanted)
    lengths = Lengths(
        warmup_length(program.host_tunes, warmup), None if draws is None else int(draws), int(thin)
    )
    program.check_schedules(0, lengths.most)
    known = tuned_values(program, samplers, tuned)
    warn_of_noise(program, "mcmc")
    blank, told = blank_rows(program, (kept or {}).values()), ""
    if kept is not None and store is None and lengths.draws is not None and until is None:
        copied = bool(program.walkers)  # each has a chain of the results
        told = check_memory("mcmc", list(kept), blank, len(numbers), lengths.draws, copied)
    sinks: Sequence[Sink] = [Sink() for _ in numbers]
    if kept is not None and store is None:  # that of a store comes with it
        sinks = Kept.side_by_side(blank, lengths.draws, len(numbers))
    running = [
        Chain(
            key,
            start,
            number=number,
            sink=sink,
            sampler=each,
            tuned=values,
            climbing=initial is None,
            warmup=[] if keep_warmup else None,
            tuner=program.tuner(lengths.warmup),
        )
        for number, each, key, start, values, sink in zip(
            numbers, samplers, keys, starts, known, sinks, strict=True
        )
    ]
    attributes = {"seed": str(used), "draws": -1 if draws is None else draws}
    attributes |= said_of(program, samplers, method) | said_of_quantities(model, extra, wanted)
    named = named_targets(model, kept)
    run = Run("mcmc", program, running, lengths, method, named, attributes, kept is not None)
    run.given_start, run.told = starts[0] is not None, told
    run.returns = on_sigterm == "return"
    if place is not None:
        from .stored import store_of  # zarr takes time, and few ask for it

        store_of(place, run, _dtype(dtype), every)
    elif dtype is not None:
        raise ValueError("mcmc: dtype= is that of numbers in a store; give store=, or leave it out")
    try:
        return carry_out(watched(run, callback, until), threads, shown)
    finally:
        if run.keeper is not None:
            run.keeper.store.close()


def check_every(doing: str, seconds: Any) -> float:
    """The seconds between checkpoints."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) >= 0:
        raise ValueError(
            f"{doing}: checkpoint_every must be seconds, not negative, got {seconds!r:.80}"
        )
    return float(seconds)


def _dtype(wanted: Any) -> Any:
    if wanted is None:
        return None
    try:
        found = np.dtype(wanted)
    except TypeError:
        found = None
    if found is None or found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(
            f"mcmc: dtype is that of the numbers in the store, float32 or float64, got {wanted!r}"
        )
    return found


def program_of(
    model: Model,
    sampler: Sampler,
    kept: Mapping[str, Node] | None,
    averaged: Sequence[Node],
    observables: tuple[Observable, ...],
    averages: tuple[Average, ...],
) -> Program:
    """The program of a run: of targets whose draws are kept, and others that are averaged."""
    targets = dict.fromkeys([*(kept or {}).values(), *averaged])
    program = Program(model, sampler, tuple(targets), observables, averages)
    return program if kept is None else watching_solvers(program)


def said_of(program: Program, samplers: Sequence[Sampler], method: str) -> dict[str, Any]:
    """What results say of a run from the start: what it takes to go on."""
    sampler, model = program.sampler, program.model
    return {
        **said_of_samplers(samplers),
        "unknowns": unknowns_text(program),
        "chain_method": method,
        **({} if sampler.walkers is None else {"walkers": int(sampler.walkers)}),
        **({} if model.batch is None else {"batch_size": model.batch.size}),
    }


def _check(
    model: Any, sampler: Any, draws: Any, warmup: Any, chains: Any, thin: Any, threads: Any
) -> Sequence[Sampler]:
    check_model(model, "mcmc")
    warn_of_later(model, "mcmc")
    least = {"thin": (thin, 1)} | ({} if draws is None else {"draws": (draws, 0)})
    if warmup is not None:
        least["warmup"] = (warmup, 0)
    if threads is not None:
        least["threads"] = (threads, 1)
    check_whole("mcmc", least)
    Lengths(warmup, None if draws is None else int(draws), int(thin)).check("mcmc")
    return check_samplers(NUTS() if sampler is None else sampler, chains, "mcmc")


def _numbers(chains: Any) -> Sequence[int]:
    """The numbers of the chains: of so many, or those given."""
    if isinstance(chains, range):
        if not chains or min(chains) < 0:
            raise ValueError(f"mcmc: chains must be numbers that are not negative, got {chains!r}")
        return chains
    check_whole("mcmc", {"chains": (chains, 1)})
    return range(int(chains))


def _chain_method(wanted: Any, threads: Any) -> str:
    """How chains are run: as is wanted, or as suits the device."""
    if wanted is None:
        return "threads" if jax.default_backend() == "cpu" else "batch"
    check_one_of("mcmc", "chain_method", wanted, CHAIN_METHODS)
    if wanted == "batch" and threads is not None:
        raise ValueError(
            f"mcmc: a batch of chains is one program, of which threads={threads} says nothing; "
            'leave it out, or give chain_method="threads"'
        )
    return str(wanted)
