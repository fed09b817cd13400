"""Runs of one model with several values of its data.

The data that differ are arguments of the compiled program, and each chain has its own values of
them. So chains x variants run like the chains of one run: on threads that share the program, or as
one batch on an accelerator.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import KinetographError, ModelError
from ..graph.node import Node, ancestors
from ..models.model import Model
from ..programs.engine import build
from ..results.reparametrisation import recorded_hierarchies
from ..samplers.nuts import NUTS
from ..samplers.sampler import Sampler
from .arguments import check_samplers, check_seed, check_whole
from .assembly import as_tree, blank_rows
from .chain import Lengths, RunningChain
from .chain_method import chain_method_of
from .chains import run_chains, threads_available
from .earlier_tuning import tuned_values
from .kept_targets import KeptArray
from .mcmc import program_of, run_attributes, warmup_length
from .memory import chain_needs, check_memory, draws_need
from .progress.reporting import LoggedProgress, make_progress
from .rows import MemorySink
from .signals import stoppable, stoppable_call
from .starting_points import explain_failure

__all__ = ["run_variants"]


@stoppable_call
def run_variants(
    doing: str,
    model: Model,
    variants: Sequence[Mapping[Node, np.ndarray]],
    results: Any = None,
    *,
    sampler: Sampler | None = None,
    draws: int = 1000,
    warmup: int | None = None,
    chains: int = 4,
    seed: Any = None,
    progress: Any = False,
) -> list[Any]:
    """The results of each variant.

    A variant has its own values of some arguments of the model.

    Warm-up begins with the tuning of `results`, and chains start at their last draws, if they come
    from the same sampler. All targets of the model are kept.

    Raises
    ------
    ModelError
        If sums that are computed once, for all chains, depend on these arguments.
    StartError
        If a chain finds no starting point.
    KeyboardInterrupt, SystemExit
        If the run is stopped.
    """
    check_whole(doing, {"draws": (draws, 1), "chains": (chains, 1)})
    samplers = check_samplers(NUTS() if sampler is None else sampler, chains, doing)
    seed_used = check_seed(seed, doing)
    display = LoggedProgress(make_progress(progress, doing), doing)
    _check_derived(doing, model, variants[0])
    kept = dict(zip(model.target_names, model.targets, strict=True))
    program = program_of(model, samplers[0], kept, (), (), ())
    program = replace(program, varied=tuple(variants[0]))
    lengths = Lengths(warmup_length(program.host_tunes, warmup), draws, 1)
    lengths.check(doing)
    method, count = chain_method_of(None, None), chains * len(variants)
    blank = blank_rows(program, kept.values())
    needs = [
        draws_need(list(kept), blank, count, draws, bool(program.walkers)),
        *chain_needs(
            program, program.tuner(lengths.warmup), count, count if method == "batch" else None
        ),
    ]
    check_memory(doing, needs, count)
    sinks = MemorySink.side_by_side(blank, draws, count)
    positions, tuned = _earlier(program, samplers, results)
    running = [
        RunningChain(
            chain_key(seed_used, number),
            positions[number % chains],
            number=number % chains,
            sink=sink,
            sampler=samplers[number % chains],
            tuned=tuned[number % chains],
            tuner=program.tuner(lengths.warmup),
            data=variants[number // chains],
        )
        for number, sink in enumerate(sinks)
    ]
    with stoppable() as check:
        of = doing.partition(": ")[2]
        display.say(f"{len(variants)} refits{f' of {of}' if of else ''}: compiling ...")
        jointly = any(chain.begins_jointly for chain in running)
        engine = build(program, count if method == "batch" else None, jointly=jointly)
        threads = min(count, threads_available())
        display.start(running, lengths, count if method == "batch" else threads)
        begun = time.perf_counter()

        def watch() -> None:
            check()
            for line in engine.new_lines():
                display.say(line)
            display.update()

        ending = run_chains(engine, running, lengths, threads, watch)
        display.finish()
        check()
    stopped = ending.stopped or ending.error
    if stopped is not None:
        raise stopped
    if any(chain.failed for chain in running):
        raise explain_failure(model, running, False)
    attributes = {"seed": str(seed_used), "draws": draws, "thin": 1, "warmup": -1, "keep": 1}
    attributes |= run_attributes(program, samplers, method) | recorded_hierarchies(model)
    attributes["sampling_time"] = time.perf_counter() - begun
    targets = [KeptArray(name, node) for name, node in kept.items()]
    return [
        as_tree(program, targets, running[i : i + chains], draws, attributes)
        for i in range(0, count, chains)
    ]


def _check_derived(doing: str, model: Model, variant: Mapping[Node, np.ndarray]) -> None:
    """Refuse arguments from which further arguments have been computed."""
    density = model.density
    terms = [term for term in density.terms if term.compressed is not None]
    terms += [] if density.batches is None or not density.batches.derived else density.batches.terms
    used = {node for term in terms for node in ancestors(term.plain_needs())}
    if shared := [model.name(node) for node in variant if node in used]:
        raise ModelError(
            f"{doing}: {', '.join(shared)} cannot differ between chains, because sums of them are "
            "computed once for all chains; run kg.mcmc for each of the values"
        )


def _earlier(program: Any, samplers: Sequence[Any], results: Any) -> tuple[list[Any], list[Any]]:
    """Last positions and tuned values of an earlier run, for each chain.

    They are empty if the results come from another sampler, or from an approximation. Forms of
    unknowns that the earlier run has chosen for its data are not tuned values of other data, and
    neither is a metric that belongs to them.
    """
    nothing: tuple[list[Any], list[Any]] = [None for _ in samplers], [{} for _ in samplers]
    same = results is not None and results.attrs.get("sampler") == type(samplers[0]).__name__
    if not same or program.walkers or "sampler_state" not in results.children:
        return nothing
    try:
        tuned = tuned_values(program, samplers, results) if program.warmup.tune else nothing[1]
    except (KinetographError, TypeError, ValueError):
        return nothing
    if program.centring is not None and program.centring.has_hierarchies:
        tuned = nothing[1]
    last = np.asarray(results["sampler_state"]["position_q"].values)
    usable = last.shape[1:] == program.space.shape and np.isfinite(last).all()
    return [last[i % len(last)] if usable else None for i in range(len(samplers))], tuned
