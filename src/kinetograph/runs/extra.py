"""`kg.extra_samples`: a run goes on from where its results say that it is."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import ModelError
from ..models.groups import data_groups
from ..models.model import Model
from ..models.typing import DataTree
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..samplers.sampler import Sampler
from .again import averages_again, observables_again, samplers_again
from .arguments import check_model, check_one_of, check_whole
from .averages import averaged_targets
from .chain import Chain, Lengths
from .keeping import kept_targets, named_targets
from .mcmc import program_of
from .memory import check_memory
from .program import Program
from .progress import Progress
from .records import WINDOWS, NotItsState, restore
from .results import blank_rows, check_tree, join_statistics
from .rows import Kept, Rows
from .run import Run, carry_out
from .signals import ON_SIGTERM, listen
from .telling import make_progress
from .tuned import check_unknowns
from .until import SoFar, Until, check_watching, watched

__all__ = ["extra_samples"]

DOING = "extra_samples"
RUN = "results of kg.mcmc, whole"
# Of the attributes of results, those that are not of the time they took.
SAID = (
    "seed",
    "sampler_settings",
    "sampler_tune",
    "unknowns",
    "chain_method",
    "walkers",
    "batch_size",
    "samplers",
    "observables",
    "averages",
)


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
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Go on with a run: more draws of the same chains.

    A run of n draws and m extra samples is, to the last bit, a run of n + m draws: chains go on
    from the state that `results["sampler_state"]` holds, with what warm-up has tuned and with the
    random numbers that come next. So do those of a run that was stopped, within warm-up, too, and
    of results that have been in a file. (On another processor sums are rounded in another way.)

    Parameters
    ----------
    results
        What `kg.mcmc` or this gave, or `kg.stashed_samples` holds.
    model
        The model, with the same data.
    draws
        How many more of each chain; None: until the run is stopped.
    sampler
        The sampler of the run, or those of its chains; needed if it is none of `kg.samplers`, has
        schedules, or is another for each chain.
    observables, averages
        Those of the run; needed where some are none of `kg.observables`.
    progress, threads, callback, until, on_sigterm
        As in `kg.mcmc`. What `until` looks at are all draws: first those of `results`, then each
        time there are a fifth more.

    Returns
    -------
    xarray.DataTree
        Results as those of `kg.mcmc`, of all draws, those of `results` included.

    Raises
    ------
    TypeError
        If these are no results.
    ModelError
        If they are those of another model, or of other data.
    ValueError
        If they are those of another sampler, other observables or averages.
    MemoryError
        If all draws would need more memory than there is.

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
    listen()
    check_one_of(DOING, "on_sigterm", on_sigterm, ON_SIGTERM, "")
    posterior = check_tree(results, DOING)
    check_model(model, DOING, "second")
    least = {} if draws is None else {"draws": (draws, 0)}
    check_whole(DOING, least | ({} if threads is None else {"threads": (threads, 1)}))
    if "sampler_state" not in results.children or "sampler_settings" not in results.attrs:
        raise TypeError(f"{DOING}: the results have no state of chains to go on from; give {RUN}")
    attributes, state = dict(results.attrs), results["sampler_state"].dataset
    samplers = samplers_again(attributes, sampler, len(state["transition"]), DOING)
    keep = attributes.get("keep", 1) == 1
    kept = kept_targets(model, _known(posterior, model)) if keep else None
    wanted = as_averages(averages or averages_again(attributes, model, DOING))
    extra = as_observables(observables or observables_again(attributes, DOING))
    program = program_of(model, samplers[0], kept, averaged_targets(model, wanted), extra, wanted)
    check_unknowns(program, results, DOING)
    _check_same(program, results)
    thin = int(attributes["thin"])
    before = posterior.sizes.get("draw", 0) * thin
    if not keep:
        made = np.asarray(state["transition"]) - np.asarray(state["phases_end"])
        before = int(made.min()) // thin * thin
    more = None if draws is None else int(draws)
    lengths = Lengths(None, more, thin, before)
    lengths.check(DOING)
    total = None if more is None else posterior.sizes.get("draw", 0) + more
    told = ""
    if kept is not None and total is not None and until is None:
        blank, count = blank_rows(program, kept.values()), len(state["transition"])
        told = check_memory(DOING, list(kept), blank, count, total, True)
    chains = _chains(program, results, kept, total)
    program.check_schedules(max(c.transition for c in chains), lengths.most)
    check_watching(DOING, callback, until, total, len(chains), keep)
    attributes = {k: attributes[k] for k in SAID if k in attributes}
    attributes["draws"] = -1 if total is None else total
    method = str(attributes.get("chain_method", "threads"))
    named = named_targets(model, kept)
    run = Run(DOING, program, chains, lengths, method, named, attributes, keep, told=told)
    run.returns = on_sigterm == "return"
    if all(chain.transition >= chain.tuner.end for chain in chains):
        run.earlier = {n: results[n] for n in results.children if n.startswith("warmup_")}
    there, ended = posterior.sizes.get("draw", 0), not results.attrs.get("interrupted")
    run = watched(run, callback, until, there, ended)
    return carry_out(run, threads, make_progress(progress, DOING))


def _known(posterior: Any, model: Model) -> list[str]:
    """The targets of which there are draws."""
    lost = [str(name) for name in posterior.data_vars if name not in model.target_names]
    if lost:
        raise ModelError(
            f"{DOING}: the results have draws of {', '.join(lost)}, which this model has not as a "
            f"target (it has {', '.join(model.target_names)})"
        )
    return [name for name in model.target_names if name in posterior.data_vars]


def _check_same(program: Program, results: Any) -> None:
    """Refuse results with other records, or of other data."""
    here = [s.name for s in program.statistics]
    there = list(results["sample_stats"].data_vars) if "sample_stats" in results.children else []
    if here != there:
        only = [
            f"{', '.join(a)} {where}"
            for a, where in (
                ([n for n in there if n not in here], "there alone"),
                ([n for n in here if n not in there], "here alone"),
            )
            if a
        ]
        raise ValueError(
            f"{DOING}: the results have other records of each draw ({'; '.join(only)}); give the "
            "sampler= and the observables= of that run"
        )
    names = set(program.running.sources)
    averaged = set(results["averages/mean"].data_vars) if "averages" in results.children else set()
    if names != averaged:
        raise ValueError(
            f"{DOING}: the results have averages of {', '.join(sorted(averaged)) or 'nothing'}, "
            f"and averages= asks for {', '.join(sorted(names)) or 'nothing'}: give those of the run"
        )
    for group, data in data_groups(program.model).items():
        held = results[group].dataset if group in results.children else {}
        for name, values in data.data_vars.items():
            if name not in held:
                raise ModelError(f"{DOING}: the results are those of a model without data {name}")
            if not np.array_equal(held[name].values, values.values, equal_nan=True):
                raise ModelError(
                    f"{DOING}: {name} has other values than when the results were drawn; their "
                    "posterior is another: run kg.mcmc(model, tuned=results)"
                )


def _chains(
    program: Program, results: Any, kept: Mapping[str, Any] | None, total: int | None
) -> list[Chain]:
    """The chains where the results left them, with the draws that they have made."""
    state, seed = results["sampler_state"].dataset, int(results.attrs["seed"])
    each = "ensemble" if program.walkers else "chain"
    held = Held(program, results, list(kept or {}))
    found = []
    for i, number in enumerate(state[each].values.tolist()):
        record = {name: values.values[i] for name, values in state.data_vars.items()}
        for name in WINDOWS:
            if name in record:
                record[name] = record[name][: record[f"{name}_count"]]
        chain = Chain(chain_key(seed, number), number=number)
        try:
            restore(program, chain, record)
        except NotItsState as error:
            raise ValueError(
                f"{DOING}: the state of chain {number} in the results is not that of this model "
                f"and sampler: {error}"
            ) from error
        if kept is None:
            chain.sink.count = int(record["draws"])
        else:
            rows = held.rows(number)
            if len(rows.statistics) != record["draws"]:
                path = results.attrs.get("store")
                raise ValueError(
                    f"{DOING}: chain {number} has made {record['draws']} draws, of which the "
                    f"results hold {len(rows.statistics)}; "
                    + (f"give {RUN}" if path is None else f"kg.resume({path!r}) goes on with them")
                )
            room = None if total is None else max(total, len(rows.statistics))
            chain.sink = Kept(blank_rows(program, kept.values()), room)
            chain.sink.add(rows)
        found.append(chain)
    return found


class Held:
    """The rows of draws that results hold."""

    def __init__(self, program: Program, results: Any, names: Sequence[str]) -> None:
        self.program, self.results, self.names = program, results, names

    def rows(self, number: int) -> Rows:
        """Those of a chain, or of an ensemble: what is in the posterior and what goes beyond."""
        state = self.results["sampler_state"].dataset
        each = "ensemble" if self.program.walkers else "chain"
        made = int(state["draws"].sel({each: number}))
        parts = [self._part(number, "", made)]
        parts.append(self._part(number, "unfinished_", made - len(parts[0].statistics)))
        return Rows.joined(parts)

    def _part(self, number: int, prefix: str, most: int) -> Rows:
        program = self.program
        blank = blank_rows(program, program.targets[: len(self.names)])
        if f"{prefix}posterior" not in self.results.children:
            return blank
        count = math.prod(program.walkers)
        posterior = self.results[f"{prefix}posterior"].dataset
        stats = self.results[f"{prefix}sample_stats"].dataset
        walkers = [number * count + walker for walker in range(count)]
        if not np.isin(walkers, posterior["chain"].values).all():
            return blank

        def of(group: Any, name: str) -> np.ndarray:
            values = np.asarray(group[name].sel(chain=walkers).values)[:, :most]
            return np.moveaxis(values, 0, 1) if program.walkers else values[0]

        targets = [
            np.asarray(of(posterior, name), like.dtype)
            for name, like in zip(self.names, blank.targets, strict=True)
        ]
        columns = {s.name: of(stats, s.name) for s in program.statistics}
        return Rows(targets, join_statistics(program, columns))
