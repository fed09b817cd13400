"""`kg.mcmc`: from a model to its posterior."""

import json
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..bits.draws import chain_key
from ..collector import paused
from ..models.model import Model
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .advice import SamplingWarning, diagnose, diagnose_averages, warn_of_noise
from .arguments import (
    check_flag,
    check_model,
    check_one_of,
    check_samplers,
    check_seed,
    check_whole,
)
from .averages import averaged_targets
from .chains import Chain, Lengths, run_chains, threads_available
from .engine import build
from .program import Program
from .progress import Progress, make_progress
from .results import as_tree
from .start import explain_failure, starting_points
from .tuned import tuned_values, unknowns_text
from .unsolved import solvers_used_up, watching_solvers
from .warming import MOST_TRANSITIONS, warmup_length

if TYPE_CHECKING:
    import xarray

    class DataTree(xarray.DataTree):
        """To type checkers: xarray says only of an item that it is a table or an array."""

        def __getitem__(self, key: str) -> Any: ...


__all__ = ["mcmc"]

CHAIN_METHODS = ("threads", "batch")


def mcmc(
    model: Model,
    sampler: Sampler | Sequence[Sampler] | None = None,
    draws: int = 1000,
    warmup: int | None = None,
    chains: int = 4,
    seed: int | None = None,
    *,
    thin: int = 1,
    initial: Any = None,
    observables: Any = (),
    averages: Any = (),
    keep: bool = True,
    progress: bool | Progress = True,
    threads: int | None = None,
    chain_method: str | None = None,
    keep_warmup: bool = False,
    tuned: Any = None,
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
        Draws kept of each chain.
    warmup
        Transitions of each chain that tune step size and metric and are not kept. By default each
        chain ends its own, after 200 to 2,000 transitions, when the metric fits its draws, these do
        not drift and the step size has settled (`tree.attrs["warmup"]` has the number, or those of
        the chains); of a sampler that tunes nothing, or moves ensembles, it is 500.
    chains
        The number of chains; with a sampler that moves ensembles, that of ensembles, and each of
        the walkers is a chain of the results.
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
        False: no draws are kept, nor what is recorded of them; the results are `averages`.
    progress
        True: a live table in a terminal, plain lines elsewhere, on standard error. False: silence.
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

    Returns
    -------
    xarray.DataTree
        In the ArviZ schema: posterior, sample_stats, observed_data, constant_data and
        sampler_state, in which `hyper_step_size`, `hyper_scale` and so on are what each chain has
        tuned; and, where asked for, averages: `tree["averages/mean"]`,
        `tree["averages/variance"]` (both as `numpy.var(ddof=1)` has it) and
        `tree["averages/covariance"]` have the quantities by name, `tree["averages/count"]` is the
        number of draws of each chain they are of. Ctrl-C while sampling returns what has been drawn
        so far, with `tree.attrs["interrupted"]` set: as many draws of each chain as all have, and
        the averages of all that each has.

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

    Warns
    -----
    SamplingWarning
        For divergences, saturated trees, R-hat above 1.01 and low effective sample sizes.

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
    extra, wanted = as_observables(observables), as_averages(averages)
    samplers = _check(model, sampler, draws, warmup, chains, thin, threads)
    method = _chain_method(chain_method, threads)
    sampler = samplers[0]
    used = check_seed(seed, "mcmc")
    shown = make_progress(progress)
    keys = [chain_key(used, index) for index in range(chains)]
    starts = starting_points(model, sampler, initial, keys, "mcmc")
    targets = averaged_targets(model, wanted)
    if keep:
        targets = model.targets
    elif not wanted:
        raise ValueError("mcmc: keep=False keeps no draws; say by averages= what is to remain")
    if check_flag("mcmc", "keep_warmup", keep_warmup) and not keep:
        raise ValueError("mcmc: keep=False keeps no rows at all; leave out keep_warmup=True")
    program = Program(model, sampler, targets, extra, wanted)
    program = watching_solvers(program) if keep else program
    lengths = Lengths(warmup_length(program.host_tunes, warmup), int(draws), int(thin))
    program.check_schedules(0, lengths.most)
    known = tuned_values(program, samplers, tuned)
    warn_of_noise(program, "mcmc", stacklevel=2)
    shown.say("compiling ...")
    # What the results need is imported while the program is being compiled.
    importing = threading.Thread(target=_import_results, daemon=True)
    engine = build(program, chains if method == "batch" else None, importing.start)
    compiled = engine.compiled
    shown.say(
        f"{model.free_size} free numbers; traced in {compiled.trace_seconds:.2f} s, "
        f"{'loaded' if compiled.from_cache else 'compiled'} in {compiled.compile_seconds:.2f} s"
    )
    running = [
        _new_chain(program, each, key, start, values, draws if keep else 0, keep, initial is None)
        for each, key, start, values in zip(samplers, keys, starts, known, strict=True)
    ]
    if keep_warmup:
        for chain in running:
            chain.warmup = []
    for chain in running:
        chain.tuner = program.tuner(lengths.warmup)
    begun = time.perf_counter()
    shown.start(running, lengths)
    try:
        count = min(chains, threads or threads_available())
        interrupted = run_chains(engine, running, lengths, count, shown.update)
    finally:
        shown.finish()
    seconds = time.perf_counter() - begun
    if any(chain.failed for chain in running):
        raise explain_failure(model, running, starts[0] is not None)
    drawn = min(chain.kept for chain in running)
    if interrupted and drawn == 0 and not all(chain.warmup for chain in running):
        raise KeyboardInterrupt("interrupted before every chain had a draw")
    importing.join()
    attributes = {
        "sampler_settings": json.dumps(_settings(samplers)),
        "unknowns": unknowns_text(program),
        "seed": str(used),
        "draws": draws,
        "warmup": _warmups(running),
        "thin": thin,
        "chain_method": method,
        **({} if sampler.walkers is None else {"walkers": int(sampler.walkers)}),
        **({} if model.batch is None else {"batch_size": model.batch.size}),
        "gradients": sum(chain.gradients for chain in running),
        "trace_time": compiled.trace_seconds,
        "compile_time": compiled.compile_seconds,
        "sampling_time": seconds,
        "interrupted": int(interrupted),
        **solvers_used_up(model),
    }
    named = list(zip(model.target_names, model.targets, strict=True))
    tree = as_tree(program, named, running, attributes)
    if drawn > 0:
        made = min(chain.transition - chain.tuner.end for chain in running)
        for finding in diagnose(tree) if keep else diagnose_averages(tree, made):
            warnings.warn(finding.message, SamplingWarning, stacklevel=2)
    return tree


def _import_results() -> None:
    with paused():
        import xarray  # noqa: F401


def _check(
    model: Any, sampler: Any, draws: Any, warmup: Any, chains: Any, thin: Any, threads: Any
) -> Sequence[Sampler]:
    check_model(model, "mcmc")
    least = {"draws": (draws, 0), "chains": (chains, 1), "thin": (thin, 1)}
    if warmup is not None:
        least["warmup"] = (warmup, 0)
    if threads is not None:
        least["threads"] = (threads, 1)
    check_whole("mcmc", least)
    transitions = Lengths(warmup, int(draws), int(thin)).most
    if transitions >= MOST_TRANSITIONS:
        raise ValueError(
            f"mcmc: {transitions} transitions a chain are too many (at most {MOST_TRANSITIONS - 1})"
        )
    return check_samplers(NUTS() if sampler is None else sampler, int(chains), "mcmc")


def _warmups(chains: Sequence[Chain]) -> int | list[int]:
    """How long the warm-up was, an interrupted one too: of each chain, if they differ."""
    found = [min(chain.tuner.end, chain.transition) for chain in chains]
    return found if len(set(found)) > 1 else found[0]


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


def _settings(samplers: Sequence[Sampler]) -> dict[str, Any]:
    """The settings; of one that differs, a list of each chain's."""
    each = [sampler.settings() for sampler in samplers]
    by_name = {name: [settings[name] for settings in each] for name in each[0]}
    return {n: v[0] if all(x == v[0] for x in v) else v for n, v in by_name.items()}


def _new_chain(
    program: Program,
    sampler: Sampler,
    key: np.ndarray,
    start: Any,
    tuned: Mapping[str, Any],
    rows: int,
    keep: bool,
    climbing: bool,
) -> Chain:
    return Chain(
        key,
        start,
        None,
        np.empty((rows, sum(s.size for s in program.statistics)), program.dtype),
        [np.empty((rows, *program.walkers, *n.shape), n.dtype) for n in program.model.targets],
        keep,
        sampler,
        tuned,
        climbing,
    )
