"""`kg.extra_samples`: continue a run from its results."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import KinetographWarning, ModelError
from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..models.model import Model, check_model
from ..models.recorded_unknowns import GROUP as UNKNOWNS
from ..models.result_groups import data_groups
from ..models.result_types import DataTree
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..programs.averages import averaged_targets
from ..programs.other_devices import default_device
from ..programs.program import Program
from ..results.check import check_tree, unknowns_of
from ..results.recorded_density import other_density
from ..samplers.sampler import Sampler
from .arguments import check_one_of, check_whole
from .assembly import blank_rows, join_statistics
from .chain import Lengths, RunningChain
from .devices import CHAINS_PER_BATCH, Devices, devices_of, division
from .earlier_tuning import check_unknowns
from .kept_targets import kept_arrays, kept_nodes
from .mcmc import program_of
from .memory import chain_needs, check_memory, draws_need
from .processes.turns import shared_call
from .progress.display import Progress
from .progress.reporting import make_progress
from .restoring import restored_averages, restored_observables, restored_samplers
from .row_sharding import SHARDING, row_blocks_again
from .rows import MemorySink, TransitionRows
from .run import Run, carry_out
from .shared_runs import refuse_callback, shared
from .signals import ON_SIGTERM, stoppable_call
from .state_arrays import WINDOWS, StateMismatch, restore
from .until import SoFar, Until, check_watching, watched

__all__ = ["extra_samples"]

CALLER = "extra_samples"
COMPLETE = "the complete results of kg.mcmc"
# The attributes of results that do not depend on the time that the run took.
DESCRIPTIVE = (
    "seed",
    "sampler_settings",
    "sampler_tune",
    "unknowns",
    "chain_method",
    CHAINS_PER_BATCH,
    "walkers",
    "batch_size",
    *SHARDING,
    "samplers",
    "observables",
    "averages",
)


@public
@stoppable_call
@shared_call
def extra_samples(
    results: Any,
    model: Model,
    draws: int | None = 1000,
    *,
    sampler: Sampler | Sequence[Sampler] | None = None,
    observables: Any = (),
    averages: Any = (),
    progress: bool | Progress = True,
    threads: int | None = None,
    devices: Devices = None,
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Continue a run: make further draws with the same chains.

    A run of n draws and m extra samples equals a run of n + m draws to the last bit: the chains
    continue from the state in `results["sampler_state"]`, with the tuning of warm-up and the next
    random numbers. This holds for a run that was stopped, also within warm-up, and for results that
    were read from a file. (Another processor may round sums in another way.)

    Parameters
    ----------
    results
        Results of `kg.mcmc` or `kg.extra_samples`, or of `kg.stashed_samples`.
    model
        The model, with the same data.
    draws
        The number of additional draws of each chain. With None the run continues until it is
        stopped.
    sampler
        The sampler of the run, or a list of the samplers of its chains. It is needed if the sampler
        is not one of `kg.samplers`, has schedules, or differs from chain to chain.
    observables, averages
        The observables and averages of the run. They are needed if some of them are not in
        `kg.observables`.
    devices
        As in `kg.mcmc`. The run may continue on other devices: the draws stay the same, because a
        batch that was divided over devices keeps its parts.
    progress, threads, callback, until, on_sigterm
        As in `kg.mcmc`. `until` examines all draws: first the draws of `results`, then again each
        time their number has grown by a fifth.

    Returns
    -------
    xarray.DataTree
        Results in the format of `kg.mcmc`, of all draws, including the draws of `results`. Groups
        that other functions have added, such as predictions, are not in them: make them again.

    Raises
    ------
    TypeError
        If `results` are not results of a run.
    ModelError
        If the results come from another model, or from other data.
    ValueError
        If the results come from another sampler, or have other observables or averages.
    MemoryError
        If all draws would need more memory than is available.

    Warns
    -----
    SamplingWarning
        As `kg.mcmc`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> model = kg.model(kg.normal(0, 1, name="x"))
    >>> tree = kg.mcmc(model, draws=100, seed=1, progress=False)
    >>> tree = kg.extra_samples(tree, model, draws=150, progress=False)
    >>> whole = kg.mcmc(model, draws=250, seed=1, progress=False)
    >>> bool((tree["posterior"]["x"] == whole["posterior"]["x"]).all())
    True
    """
    check_one_of(CALLER, "on_sigterm", on_sigterm, ON_SIGTERM, "")
    posterior = check_tree(results, CALLER)
    check_model(model, CALLER, "second")
    least = {} if draws is None else {"draws": (draws, 0)}
    check_whole(CALLER, least | ({} if threads is None else {"threads": (threads, 1)}))
    if "sampler_state" not in results.children or "sampler_settings" not in results.attrs:
        raise TypeError(
            f"{CALLER}: the results have no state of chains to continue from; give {COMPLETE}"
        )
    attributes, state = dict(results.attrs), results["sampler_state"].dataset
    samplers = restored_samplers(attributes, sampler, len(state["transition"]), CALLER)
    keep = attributes.get("keep", 1) == 1
    kept, unknowns = None, list[str]()
    if keep:
        unknowns = _names_in(model.names, unknowns_of(results), "an unknown")
        targets = _names_in(model.target_names, posterior.data_vars, "a target")
        kept = kept_nodes(model, targets, unknowns)
    requested_averages = as_averages(averages or restored_averages(attributes, model, CALLER))
    requested_observables = as_observables(observables or restored_observables(attributes, CALLER))
    blocks = row_blocks_again(CALLER, model, attributes, devices, threads)
    used_devices = devices_of(CALLER, devices) if blocks is None else (default_device(),)
    program = program_of(
        model,
        samplers[0],
        kept,
        averaged_targets(model, requested_averages),
        requested_observables,
        requested_averages,
        blocks,
    )
    check_unknowns(program, results, CALLER)
    _check_same(program, results)
    text = other_density(model, results)
    if text:
        raise ModelError(
            f"{CALLER}: the results are of another model{place_text()}: {text}; give the model of "
            "the results, or draw from this one by kg.mcmc"
        )
    thin = int(attributes["thin"])
    before = posterior.sizes.get("draw", 0) * thin
    if not keep:
        transitions = np.asarray(state["transition"]) - np.asarray(state["phases_end"])
        before = int(transitions.min()) // thin * thin
    extra_draws = None if draws is None else int(draws)
    lengths = Lengths(None, extra_draws, thin, before)
    lengths.check(CALLER)
    total = None if extra_draws is None else posterior.sizes.get("draw", 0) + extra_draws
    count = len(state["transition"])
    needs = chain_needs(program, program.tuner(0), count, None)
    if kept is not None and total is not None and until is None:
        blank = blank_rows(program, kept.values())
        needs.insert(0, draws_need(list(kept), blank, count, total, True))
    memory_warning = check_memory(CALLER, needs, count)
    chains = _chains(program, results, kept, total)
    program.check_schedules(max(c.transition for c in chains), lengths.most)
    check_watching(CALLER, callback, until, total, len(chains), keep)
    refuse_callback(CALLER, callback)
    attributes = {k: attributes[k] for k in DESCRIPTIVE if k in attributes}
    attributes["draws"] = -1 if total is None else total
    method = str(attributes.get("chain_method", "threads"))
    divided = division(CALLER, method, len(chains), used_devices, threads, attributes)
    arrays = kept_arrays(model, kept, unknowns)
    run = Run(
        CALLER,
        program,
        chains,
        lengths,
        divided,
        arrays,
        attributes,
        keep,
        opening_text=memory_warning,
    )
    run.returns = on_sigterm == "return"
    run.part = shared(run, {"until": until})
    if all(chain.transition >= chain.tuner.end for chain in chains):
        run.earlier = {n: results[n] for n in results.children if n.startswith("warmup_")}
    draws_before, ended = posterior.sizes.get("draw", 0), not results.attrs.get("interrupted")
    run = watched(run, callback, until, draws_before, ended)
    tree = carry_out(run, threads, make_progress(progress, CALLER))
    of_run = ("warmup_", "unfinished_")
    left_out = [n for n in results.children if not (n in tree.children or n.startswith(of_run))]
    if left_out:
        warn_user(
            f"{CALLER}: the results have {', '.join(left_out)} of the draws so far only"
            f"{place_text()}; the new results have no such groups: make them again, for example by "
            "kg.predict(model, results)",
            KinetographWarning,
        )
    return tree


def _names_in(names: Sequence[str], draws: Collection[Any], kind: str) -> list[str]:
    """The names of the targets, or of the unknowns, that have draws."""
    missing = [str(name) for name in draws if name not in names]
    if missing:
        raise ModelError(
            f"{CALLER}: the results have draws of {', '.join(missing)}, which this model does not "
            f"have as {kind} (it has {', '.join(names)})"
        )
    return [name for name in names if name in draws]


def _check_same(program: Program, results: Any) -> None:
    """Refuse results with other records, or results of other data."""
    statistics = [s.name for s in program.statistics]
    recorded = list(results["sample_stats"].data_vars) if "sample_stats" in results.children else []
    if set(statistics) != set(recorded):
        only = [
            f"{', '.join(a)} {where}"
            for a, where in (
                ([n for n in recorded if n not in statistics], "only there"),
                ([n for n in statistics if n not in recorded], "only here"),
            )
            if a
        ]
        raise ValueError(
            f"{CALLER}: the results have other records of each draw ({'; '.join(only)}); give the "
            "sampler= and the observables= of that run"
        )
    averaged_here = set(program.running.sources)
    averaged = set(results["averages/mean"].data_vars) if "averages" in results.children else set()
    if averaged_here != averaged:
        raise ValueError(
            f"{CALLER}: the results have averages of {', '.join(sorted(averaged)) or 'nothing'}, "
            f"and averages= asks for {', '.join(sorted(averaged_here)) or 'nothing'}: give the "
            "averages of the run"
        )
    for group, data in data_groups(program.model).items():
        group_data = results[group].dataset if group in results.children else {}
        for name, values in data.data_vars.items():
            if name not in group_data:
                raise ModelError(f"{CALLER}: the results come from a model without data {name}")
            if not np.array_equal(group_data[name].values, values.values, equal_nan=True):
                raise ModelError(
                    f"{CALLER}: {name} has other values than when the results were drawn, so the "
                    "posterior is different: run kg.mcmc(model, tuned=results)"
                )


def _chains(
    program: Program, results: Any, kept: Mapping[str, Any] | None, total: int | None
) -> list[RunningChain]:
    """The chains that the results hold, with their state and draws."""
    state, seed = results["sampler_state"].dataset, int(results.attrs["seed"])
    each = "ensemble" if program.walkers else "chain"
    result_rows = ResultRows(program, results, list(kept or {}))
    chains = []
    for i, number in enumerate(state[each].values.tolist()):
        record = {name: values.values[i] for name, values in state.data_vars.items()}
        for name in WINDOWS:
            if name in record:
                record[name] = record[name][: record[f"{name}_count"]]
        chain = RunningChain(chain_key(seed, number), number=number)
        try:
            restore(program, chain, record)
        except StateMismatch as error:
            raise ValueError(
                f"{CALLER}: the state of chain {number} in the results does not fit this model "
                f"and sampler: {error}"
            ) from error
        if kept is None:
            chain.sink.count = int(record["draws"])
        else:
            rows = result_rows.rows(number)
            if len(rows.statistics) != record["draws"]:
                path = results.attrs.get("store")
                raise ValueError(
                    f"{CALLER}: chain {number} has made {record['draws']} draws, but the results "
                    f"hold {len(rows.statistics)} of them; "
                    + (
                        f"give {COMPLETE}"
                        if path is None
                        else f"kg.resume({path!r}) continues the run"
                    )
                )
            capacity = None if total is None else max(total, len(rows.statistics))
            chain.sink = MemorySink(blank_rows(program, kept.values()), capacity)
            chain.sink.add(rows)
        chains.append(chain)
    return chains


class ResultRows:
    """The rows of draws that results hold."""

    def __init__(self, program: Program, results: Any, names: Sequence[str]) -> None:
        self.program, self.results, self.names = program, results, names

    def rows(self, number: int) -> TransitionRows:
        """The rows of a chain, or of an ensemble.

        They are the draws in the posterior, followed by the unfinished ones.
        """
        state = self.results["sampler_state"].dataset
        each = "ensemble" if self.program.walkers else "chain"
        draw_count = int(state["draws"].sel({each: number}))
        parts = [self._part(number, "", draw_count)]
        parts.append(self._part(number, "unfinished_", draw_count - len(parts[0].statistics)))
        return TransitionRows.joined(parts)

    def _part(self, number: int, prefix: str, most: int) -> TransitionRows:
        program = self.program
        blank = blank_rows(program, program.targets[: len(self.names)])
        if f"{prefix}posterior" not in self.results.children:
            return blank
        count = math.prod(program.walkers)
        posterior = self.results[f"{prefix}posterior"].dataset
        unknowns = self.results.children.get(f"{prefix}{UNKNOWNS}", {})
        stats = self.results[f"{prefix}sample_stats"].dataset
        walkers = [number * count + walker for walker in range(count)]
        if not np.isin(walkers, posterior["chain"].values).all():
            return blank

        def of(group: Any, name: str) -> np.ndarray:
            values = np.asarray(group[name].sel(chain=walkers).values)[:, :most]
            return np.moveaxis(values, 0, 1) if program.walkers else values[0]

        targets = [
            np.asarray(of(unknowns if name in unknowns else posterior, name), like.dtype)
            for name, like in zip(self.names, blank.targets, strict=True)
        ]
        columns = {s.name: of(stats, s.name) for s in program.statistics}
        return TransitionRows(targets, join_statistics(program, columns))
