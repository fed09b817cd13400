"""`kg.mcmc`: from a model to its posterior."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np

from ..adaptation.host_warmup import warmup_length
from ..bits.draws import chain_key
from ..graph.node import Node
from ..graph.public import public
from ..graph.value_texts import shown
from ..models.flat_unknowns import warn_of_flat
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..models.row_blocks import RowBlocks
from ..models.unused_data import warn_of_later
from ..observables.average import Average, as_averages
from ..observables.observable import Observable, as_observables
from ..programs.averages import averaged_targets
from ..programs.other_devices import default_device
from ..programs.program import Program
from ..results.refused_proposals import watching_solvers
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .arguments import check_flag, check_one_of, check_samplers, check_seed, check_whole
from .assembly import blank_rows
from .chain import Lengths, RunningChain
from .chain_method import chain_method_of
from .devices import Devices, devices_of, division
from .earlier_tuning import tuned_values, unknowns_text
from .kept_targets import kept_arrays, kept_nodes, kept_unknowns
from .memory import chain_needs, check_memory, draws_need, store_needs
from .noisy_potentials import warn_of_noise
from .processes.turns import chains_of_a_process, in_order, shared_call, shared_seed
from .progress.display import Progress
from .progress.reporting import make_progress
from .restoring import quantity_attributes, sampler_attributes
from .row_sharding import Shard, row_blocks, sharding_attributes
from .rows import MemorySink, Sink
from .run import Run, carry_out
from .shared_runs import refuse_callback, shared
from .signals import ON_SIGTERM, stoppable_call
from .starting_points import starting_points
from .store.place import folder
from .until import SoFar, Until, check_watching, watched

__all__ = ["mcmc"]


@public
@stoppable_call
@shared_call
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
    keep_unknowns: bool | None = None,
    store: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 10.0,
    dtype: Any = None,
    progress: bool | Progress = True,
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    threads: int | None = None,
    chain_method: Literal["threads", "batch"] | str | None = None,
    devices: Devices = None,
    shard: Shard = None,
    reduction: Literal["tree", "fast"] | str = "tree",
    keep_warmup: bool = False,
    tuned: Any = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Draw from the posterior of a model.

    `kg.mcmc` compiles model and sampler to one program, runs each chain on a thread (on an
    accelerator: all chains as a batch), and checks the results. On threads the draws of a chain
    depend only on the model, the sampler, the seed and the number of the chain: not on the number
    of chains or threads, nor on whether progress is shown.

    Parameters
    ----------
    model
        A model made by `kg.model`.
    sampler
        By default `kg.samplers.NUTS()`. A list has one sampler for each chain; these may differ in
        the values of hyper-parameters only.
    draws
        The number of draws that are kept of each chain. With None the run continues until `until`,
        a callback or Ctrl-C stops it.
    warmup
        The number of transitions of each chain that tune step size and metric and are not kept. By
        default each chain ends its own warm-up, after 200 to 2,000 transitions, when the metric
        fits the draws, the draws do not drift and the step size has settled. `tree.attrs["warmup"]`
        is the number, or a list with a number for each chain. The default is 500 for a sampler that
        tunes nothing, or that moves ensembles.
    chains
        The number of chains, or a `range` of their numbers. The draws of a chain depend on its
        number and the seed only, so `range(4, 8)` gives four additional chains. With a sampler that
        moves ensembles it is the number of ensembles, and each walker is a chain of the results.
    seed
        A whole number that is not negative. With None the seed is taken from the system's entropy;
        `tree.attrs["seed"]` records it.
    thin
        Keep every thin-th transition only.
    initial
        Where chains start: a dictionary of values of unknowns (for all chains), a list with one
        dictionary for each chain, an array of free states, or results of `kg.pathfinder`,
        `kg.advi`, `kg.laplace_approximation` or `kg.temper`, some of whose draws are taken. An
        unknown that is missing in a dictionary is drawn from uniform(-2, 2) on the free scale,
        moved to its prior if that has known parameters and is far away. By default short ascents
        start at twelve such points, and the end of one ascent is taken, chosen in proportion to its
        density. "random" takes the first of up to 100 such points at which log density and gradient
        are finite; walkers of an ensemble and models with mini-batches always start so.
        "prior" takes the first draw of the unknowns' distributions whose log density is finite.
        "pathfinder" runs `kg.pathfinder` for each chain and takes one of its draws. With walkers,
        values and free states have a leading axis of walkers, and a list has one dictionary for
        each walker.
    observables
        Additional quantities to record with each draw: a list of `kg.observables` and of functions
        of a `kg.observables.Step`.
    averages
        Quantities whose running averages are computed: a list of targets of the model,
        `kg.observables` and functions of a `kg.observables.Step`. `kg.observables.covariance(x)` of
        one of them computes the covariance, too. The averages of each chain are taken over its
        draws after thinning, whether `keep` keeps them or not, as the draws are made, in memory
        that does not grow with their number.
    keep
        The targets whose draws are kept: a list of targets of the model or of their names; by
        default all. With False no draws and no records are kept; the results are the `averages`.
    keep_unknowns
        Whether the draws of the unknowns that are not targets are kept, too, in the group
        `unknowns`. `kg.log_prior`, `kg.predict`, `kg.loo` and other functions read them there. By
        default they are kept if `keep` is True and they have at most 10,000 numbers together.
    store
        A folder, such as "run.zarr", to which draws are written as they are made. Only one block of
        draws is in memory, and `kg.resume` continues the run after a crash. The folder is a zarr
        store that xarray opens as these results, also during the run: `xarray.open_datatree(store,
        engine="zarr")`. Another process may add chains with the same seed, by `chains=range(4, 8)`.
    checkpoint_every
        Seconds between the checkpoints that are written to the store. A run that was killed
        continues from its last checkpoint.
    dtype
        "float32": real numbers take half as much space in the store. The chains continue from their
        exact states nevertheless.
    progress
        True: a live table in a terminal or a notebook, plain lines elsewhere, on standard error.
        False: no output. Python's `logging` receives the texts, too: logger `kinetograph.runs`,
        level INFO.
    callback
        A function that is called with a `kg.SoFar` each time all chains have more draws. The run
        ends when it returns True.
    until
        A condition for enough draws: `kg.until(ess=400, r_hat=1.01)`.
    threads
        The number of chains that run at once; by default the number of processors.
    chain_method
        "threads": each chain is a thread, and `threads` of them run at once. "batch": all chains
        are one program that advances them together, as suits an accelerator. Each chain makes the
        same draws as on a thread, except for rounding, because sums are taken in another order.
        Rounding errors grow along a chain, so after about a hundred transitions the draws differ,
        but come from the same posterior. The default is "threads" on a processor and "batch" on an
        accelerator.
    devices
        The JAX devices that run the chains: a number, "all", or a list such as `jax.devices()[:2]`;
        by default one, JAX's default device. On threads each device runs one chain at a time, and
        the draws equal the draws on one device to the last bit. As a batch, each device runs an
        equal part of the chains, and the draws equal the draws of such a batch on one device.
        `kg.extra_samples` and `kg.resume` may continue on other devices.
    shard
        "rows": the devices share the rows of the data, and each evaluates its part of the
        likelihood for all chains, which run as a batch. It is for data so large that an evaluation
        takes much longer than an exchange between devices. All data arrays that are as long as the
        observed data have rows; a list of data arrays or names says which do. Unknowns of that
        length have rows, too, such as an effect of each row. The contribution of a row to the log
        density must depend on that row alone. There are at least 64 rows, because rows are added up
        in 64 blocks. `devices` is a power of two, at most 32; by default as many as possible.
    reduction
        How devices that share rows add up: "tree" in an order that does not depend on the number of
        devices, so that the draws have the same bits for each number; "fast" without this property,
        and all blocks of a device at once, which takes less time and more memory.
    keep_warmup
        True: the transitions of warm-up are kept, too, every one of them (`thin` has no effect
        there), in the groups `warmup_posterior` and `warmup_sample_stats`. They are not draws from
        the posterior. If warm-ups of chains have different lengths, the shorter ones are filled up
        with NaN, or with 0 in whole numbers; `tree.attrs["warmup"]` has the lengths.
    tuned
        Results of `kg.mcmc` with the same model, whose data may differ, and the same kind of
        sampler. Warm-up begins with the step size and the metric that were tuned there, or, with
        `warmup=0`, the draws are made with them. Chain k takes the values of chain k there, modulo
        the number of chains. `initial` sets the starting points: for the same number of chains,
        `initial=results["sampler_state/position_q"]` continues from the last draws; give another
        seed then, because the same seed gives the same random numbers again.
    on_sigterm
        What happens at SIGTERM, the signal by which systems end a process. "exit" ends the process
        with the exit code 143, after the draws have been written to the store or put into
        `kg.stashed_samples()`, from where `finally` blocks and `except SystemExit` can write them
        to a file. "return" returns the draws so far, as Ctrl-C does. Before there are draws, and
        between runs, the process ends.

    Returns
    -------
    xarray.DataTree
        Results in the ArviZ schema: posterior, unknowns, sample_stats, observed_data, constant_data
        and sampler_state, in which `hyper_step_size`, `hyper_scale` and so on are the tuned values
        of each chain. With `averages`, `tree["averages/mean"]`, `tree["averages/variance"]` (as
        `numpy.var(ddof=1)`) and `tree["averages/covariance"]` have the quantities by name, and
        `tree["averages/count"]` is the number of draws of each chain that were averaged. Ctrl-C
        returns the draws so far, with `tree.attrs["interrupted"]` set and
        `tree.attrs["stopped_by"]`, which is "Ctrl-C", "SIGTERM" or, in `kg.stashed_samples()`,
        "error". Then each chain has as many draws as the chain with the fewest draws, further draws
        are in `tree["unfinished_posterior"]`, and the averages are over all draws of each chain;
        chains without a draw are left out. `kg.extra_samples` continues from there. With a store,
        arrays are read from it when they are used.

    Raises
    ------
    TypeError
        If `model` is not a model or `sampler` is not a sampler.
    ValueError
        If a number is out of its range, there are fewer devices, the samplers of a list differ in
        more than values, or `tuned` are results of another sampler.
    ModelError
        If an average or an observable cannot be computed from a step, or `tuned` are results of
        another model.
    StartError
        If no starting point has a finite log density and gradient; the message names the terms that
        are not finite.
    KinetographError
        If the store holds something else, or a chain that another process runs.
    OSError
        If the store cannot be written, because the disk is full or read-only.
    MemoryError
        If the run would need more memory than is available; checked before compilation. The message
        has the numbers, and the ways to need less.
    KeyboardInterrupt
        If the run is stopped before any chain has a draw. The tuning of warm-up is in
        `kg.stashed_samples()` then, as are the draws when an error ends the run.
    SystemExit
        At SIGTERM, see `on_sigterm`.

    Warns
    -----
    KinetographWarning
        If data depend on an unknown through steps alone, such as `t < change` with a continuous
        `change`, and the sampler moves by gradients.
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

    Keep only the averages of a million draws:

    >>> tree = kg.mcmc(
    ...     kg.model(mu), kg.samplers.BAOAB(0.5), draws=250_000, seed=1, progress=False,
    ...     averages=[mu, kg.observables.kinetic_energy], keep=False,
    ... )
    >>> bool(abs(tree["averages/mean/mu"].mean() - 2 / 3) < 0.01)
    True
    >>> tree["averages/count"].values.tolist()
    [250000, 250000, 250000, 250000]

    Draw more, with the tuning of a run and from its last states:

    >>> model = kg.model(mu)
    >>> tree = kg.mcmc(model, draws=100, seed=1, progress=False)
    >>> last = tree["sampler_state/position_q"]
    >>> more = kg.mcmc(model, warmup=0, tuned=tree, initial=last, seed=2, progress=False)
    >>> bool((more["sample_stats/step_size"][:, 0] == tree["sample_stats/step_size"][:, -1]).all())
    True

    Run chains on all devices:

    >>> everywhere = kg.mcmc(
    ...     model, draws=100, seed=1, devices="all", chain_method="threads", progress=False
    ... )
    >>> bool((everywhere["posterior/mu"] == tree["posterior/mu"]).all())
    True
    """
    check_one_of("mcmc", "on_sigterm", on_sigterm, ON_SIGTERM, "")
    requested_observables, requested_averages = as_observables(observables), as_averages(averages)
    numbers = _numbers(chains)
    samplers = _check(model, sampler, draws, warmup, len(numbers), thin, threads)
    method = chain_method_of(chain_method, threads)
    blocks = row_blocks("mcmc", model, shard, reduction, devices, chain_method, threads)
    method = method if blocks is None else "batch"
    chain_devices = devices_of("mcmc", devices) if blocks is None else (default_device(),)
    divided = division("mcmc", method, len(numbers), chain_devices, threads)
    seed_used = check_seed(shared_seed(seed), "mcmc")
    progress_display = make_progress(progress)
    place = None if store is None else folder("mcmc", store)
    every = check_every("mcmc", checkpoint_every)
    keys = [chain_key(seed_used, number) for number in numbers]
    starts = starting_points(model, samplers[0], initial, keys, "mcmc")
    unknowns = kept_unknowns(model, keep, keep_unknowns)
    kept = kept_nodes(model, keep, unknowns)
    averaged = averaged_targets(model, requested_averages)
    if kept is None and not requested_averages:
        raise ValueError(
            "mcmc: keep=False keeps no draws; give the averages to compute by averages="
        )
    if check_flag("mcmc", "keep_warmup", keep_warmup) and kept is None:
        raise ValueError("mcmc: keep=False keeps no rows; leave out keep_warmup=True")
    check_watching("mcmc", callback, until, draws, len(numbers), kept is not None)
    refuse_callback("mcmc", callback)
    program = program_of(
        model, samplers[0], kept, averaged, requested_observables, requested_averages, blocks
    )
    lengths = Lengths(
        warmup_length(program.host_tunes, warmup), None if draws is None else int(draws), int(thin)
    )
    program.check_schedules(0, lengths.most)
    tuned_of_chains = tuned_values(program, samplers, tuned)
    warn_of_noise(program, "mcmc")
    if program.kernel.takes_gradient:
        warn_of_flat(model, "mcmc")
    blank = blank_rows(program, (kept or {}).values())
    tuner, mine = program.tuner(lengths.warmup), chains_of_a_process(len(numbers))
    needs = chain_needs(
        program,
        tuner,
        len(numbers),
        None if method == "threads" else mine,
        blank if keep_warmup else None,
        store is not None,
    )
    if kept is not None and store is not None:
        needs += store_needs(blank, len(numbers), mine, lengths.draws)
    elif kept is not None and lengths.draws is not None and until is None:
        rows_are_copied = bool(program.walkers)  # each walker is a chain of the results
        needs.append(draws_need(list(kept), blank, len(numbers), lengths.draws, rows_are_copied))
    memory_warning = check_memory("mcmc", needs[::-1], len(numbers))
    sinks: Sequence[Sink] = [Sink() for _ in numbers]
    if kept is not None and store is None:  # a store brings its own sinks
        sinks = MemorySink.side_by_side(blank, lengths.draws, len(numbers))
    running_chains = [
        RunningChain(
            key,
            start,
            number=number,
            sink=sink,
            sampler=chain_sampler,
            tuned=values,
            climbing=initial is None,
            warmup=[] if keep_warmup else None,
            tuner=program.tuner(lengths.warmup),
        )
        for number, chain_sampler, key, start, values, sink in zip(
            numbers, samplers, keys, starts, tuned_of_chains, sinks, strict=True
        )
    ]
    attributes = {"seed": str(seed_used), "draws": -1 if draws is None else draws}
    attributes |= run_attributes(program, samplers, method) | quantity_attributes(
        model, requested_observables, requested_averages
    )
    attributes |= divided.attributes
    arrays = kept_arrays(model, kept, unknowns)
    run = Run(
        "mcmc", program, running_chains, lengths, divided, arrays, attributes, kept is not None
    )
    run.given_start, run.opening_text = starts[0] is not None, memory_warning
    run.returns = on_sigterm == "return"
    run.part = shared(run, {"store": place and place.name, "dtype": dtype, "until": until})
    if place is not None:
        from .stored_runs import store_of  # zarr is slow to import, and rarely used

        in_order(partial(store_of, place, run, _dtype(dtype), every))
    elif dtype is not None:
        raise ValueError(
            "mcmc: dtype= is the type of numbers in a store; give store=, or leave it out"
        )
    try:
        return carry_out(watched(run, callback, until), threads, progress_display)
    finally:
        if run.keeper is not None:
            run.keeper.store.close()


def check_every(doing: str, seconds: Any) -> float:
    """The seconds between checkpoints."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) >= 0:
        raise ValueError(
            f"{doing}: checkpoint_every must be a number of seconds that is not negative, "
            f"got {shown(seconds)}"
        )
    return float(seconds)


def _dtype(given: Any) -> Any:
    if given is None:
        return None
    try:
        dtype = np.dtype(given)
    except TypeError:
        dtype = None
    if dtype is None or dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(
            f"mcmc: dtype= must be the type of numbers in the store, float32 or float64, "
            f"got {shown(given)}"
        )
    return dtype


def program_of(
    model: Model,
    sampler: Sampler,
    kept: Mapping[str, Node] | None,
    averaged: Sequence[Node],
    observables: tuple[Observable, ...],
    averages: tuple[Average, ...],
    row_blocks: RowBlocks | None = None,
) -> Program:
    """The program of a run.

    Its targets are the nodes in `kept`, whose draws are kept, and the nodes in `averaged`.
    """
    targets = dict.fromkeys([*(kept or {}).values(), *averaged])
    program = Program(model, sampler, tuple(targets), observables, averages, row_blocks=row_blocks)
    return program if kept is None else watching_solvers(program)


def run_attributes(program: Program, samplers: Sequence[Sampler], method: str) -> dict[str, Any]:
    """The attributes of results that are known from the start.

    They are needed to continue the run.
    """
    sampler, model = program.sampler, program.model
    return {
        **sampler_attributes(samplers),
        "unknowns": unknowns_text(program),
        "chain_method": method,
        **({} if sampler.walkers is None else {"walkers": int(sampler.walkers)}),
        **({} if model.batch is None else {"batch_size": model.batch.size}),
        **sharding_attributes(model, program.row_blocks),
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
    """The numbers of the chains.

    They are 0, 1, ... for a count, or a given range.
    """
    if isinstance(chains, range):
        if not chains or min(chains) < 0:
            raise ValueError(f"mcmc: the numbers of chains must not be negative, got {chains!r}")
        return chains
    check_whole("mcmc", {"chains": (chains, 1)})
    return range(int(chains))
