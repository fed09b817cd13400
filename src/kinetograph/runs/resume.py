"""`kg.resume`: continue a stored run."""

import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import KinetographError, KinetographWarning, ModelError
from ..graph.public import public
from ..graph.source import warn_user
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..models.saving import model_from_bytes
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..programs.averages import averaged_targets
from ..programs.fingerprint import program_text
from ..programs.other_devices import default_device
from ..programs.program import Program
from ..programs.sealed_files import Damaged
from ..samplers.sampler import Sampler
from .arguments import check_one_of, check_whole
from .assembly import blank_rows
from .chain import Lengths, RunningChain
from .checkpoints import EVERY, Keeper
from .devices import Devices, devices_of, division
from .facts import data_digests, digest, versions
from .kept_targets import kept_arrays, kept_nodes
from .mcmc import check_every, program_of
from .memory import chain_needs, check_memory, store_needs
from .processes.turns import in_order, shared_call
from .progress.display import Progress
from .progress.reporting import make_progress
from .restoring import restored_averages, restored_observables, restored_samplers
from .row_sharding import row_blocks_again
from .rows import TransitionRows
from .run import Run, carry_out
from .shared_runs import refuse_callback, shared
from .signals import ON_SIGTERM, stoppable_call
from .state_arrays import StateMismatch, begin_again, restore
from .store.place import folder
from .store.sink import StoredSink
from .store.store import Store
from .stored_runs import attach, without_draws
from .until import SoFar, Until, check_watching, watched

__all__ = ["resume"]

CALLER = "resume"


@public
@stoppable_call
@shared_call
def resume(
    path: str | os.PathLike[str],
    model: Model | None = None,
    draws: int | None = None,
    *,
    sampler: Sampler | Sequence[Sampler] | None = None,
    observables: Any = (),
    averages: Any = (),
    chains: range | None = None,
    force: bool = False,
    trust: Collection[str] = (),
    progress: bool | Progress = True,
    threads: int | None = None,
    devices: Devices = None,
    checkpoint_every: float = EVERY,
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Continue a run of `kg.mcmc(..., store=path)`.

    The run may have been stopped, killed, or have ended. Chains continue from their last
    checkpoints; chains without a checkpoint begin. The draws equal the draws of a run that was
    never stopped, to the last bit. Draws that the disk has lost are made again: a chain with a
    damaged block starts again, and makes the same draws.

    Parameters
    ----------
    path
        The store.
    model
        The model, with the same data. It is needed if the store could not hold the model, because
        its graph calls a function that has no name by which it could be imported.
    draws
        The total number of draws of each chain, including the present draws. By default the number
        that was requested last. Draws that exist are never removed.
    sampler, observables, averages
        As in the run. They are needed if they are not kinetograph's own, or if the chains have
        different samplers: then `sampler` is a list for all chains of the store, in their order.
    chains
        The numbers of the chains that continue, such as `range(4)`; by default all chains of the
        store. The remaining chains may continue in another process at the same time.
    force
        True: continue although versions, the processor, data or the model differ. The results
        record it in `tree.attrs["forced"]`.
    trust
        The names of functions that the model in the store may call; see `kg.load_graph`.
    devices
        As in `kg.mcmc`. The run may continue on other devices, and the draws stay the same.
    progress, threads, checkpoint_every, callback, until, on_sigterm
        As in `kg.mcmc`.

    Returns
    -------
    xarray.DataTree
        Results as from `kg.mcmc(..., store=path)`.

    Raises
    ------
    KinetographError
        If the folder is not a store, or a store of a newer version; if another process runs one of
        the chains; if the model is neither in the store nor given; or if something on which the
        draws depend differs.
    ModelError
        If the model or its data differ.

    Examples
    --------
    >>> import kinetograph as kg, tempfile, os
    >>> model = kg.model(kg.normal(0, 1, name="x"))
    >>> path = os.path.join(tempfile.mkdtemp(), "run.zarr")
    >>> def power_cut(so_far):
    ...     raise RuntimeError("power cut")
    >>> try:
    ...     tree = kg.mcmc(
    ...         model, draws=5000, seed=1, store=path, callback=power_cut, progress=False
    ...     )
    ... except RuntimeError:
    ...     tree = kg.resume(path, progress=False)
    >>> tree["posterior"].sizes["draw"]
    5000
    """
    check_one_of(CALLER, "on_sigterm", on_sigterm, ON_SIGTERM, "")
    check_whole(CALLER, {} if threads is None else {"threads": (threads, 1)})
    store = Store.open(folder(CALLER, path))
    manifest = store.manifest
    differing = _differing(manifest)
    user_gave_model = model is not None or sampler is not None or observables or averages
    if model is None:
        model = _model(store, trust)
    check_model(model, CALLER)
    _check_model(model, manifest)
    attributes_of_run = manifest["attributes"] | {"sampler": manifest["sampler"]}
    samplers = restored_samplers(attributes_of_run, sampler, len(manifest["chains"]), CALLER)
    kept, unknowns = None, manifest.get("unknowns", ())
    if manifest["keep"] is not None:
        kept = kept_nodes(model, manifest["keep"], unknowns)
    requested_averages = as_averages(
        averages or restored_averages(attributes_of_run, model, CALLER)
    )
    requested_observables = as_observables(
        observables or restored_observables(attributes_of_run, CALLER)
    )
    blocks = row_blocks_again(CALLER, model, manifest["attributes"], devices, threads)
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
    if user_gave_model:
        differing += _other_model(program, manifest)
    if differing and not force:
        raise KinetographError(
            f"{CALLER}: {path}: {'; '.join(differing)}: the draws would differ from an "
            "uninterrupted run; force=True continues nevertheless"
        )
    numbers = _numbers(chains, manifest["chains"], path)
    if draws is not None:
        check_whole(CALLER, {"draws": (draws, 0)})
    requested_before = manifest.get("wanted", manifest["draws"])
    total = requested_before if draws is None else int(draws)
    lengths = Lengths(manifest["warmup"], total, int(manifest["thin"]))
    lengths.check(CALLER)
    check_watching(CALLER, callback, until, total, len(numbers), kept is not None)
    refuse_callback(CALLER, callback)
    every = check_every(CALLER, checkpoint_every)
    method = attributes_of_run["chain_method"]
    if method == "batch" and len(numbers) < len(manifest["chains"]):
        raise ValueError(
            f"{CALLER}: the chains of {path} are a batch, so all must continue together"
        )
    attributes = dict(manifest["attributes"]) | {"draws": -1 if total is None else total}
    forced = [*manifest.get("forced", ()), *differing]
    if forced:
        attributes["forced"] = "; ".join(dict.fromkeys(forced))
    keep, arrays = kept is not None, kept_arrays(model, kept, unknowns)
    divided = division(CALLER, method, len(numbers), used_devices, threads, attributes)
    run = Run(CALLER, program, [], lengths, divided, arrays, attributes, keep)
    run.returns = on_sigterm == "return"
    by_number = dict(zip(manifest["chains"], samplers, strict=True))
    seed = int(manifest["attributes"]["seed"])
    tuner = partial(program.tuner, lengths.warmup)
    run.chains = [
        RunningChain(chain_key(seed, n), number=n, sampler=by_number[n], tuner=tuner())
        for n in numbers
    ]
    run.part = shared(run, {"store": store.path.name, "until": until})
    together = None if method == "threads" else len(run.mine)
    needs = chain_needs(program, tuner(), len(numbers), together, stored=True)
    if keep:
        blank = blank_rows(program, (kept or {}).values())
        needs += store_needs(blank, len(numbers), len(run.mine), total)
    run.opening_text = check_memory(CALLER, needs[::-1], len(numbers))

    def claim() -> None:
        store.claim([chain.number for chain in run.mine])
        if not run.speaks:  # process 0 has repaired the store
            return
        store.record_facts(
            forced=list(dict.fromkeys(forced)), wanted=None if draws is None else total
        )
        only_process = set(numbers) == set(store.manifest["chains"])
        store.repair(only_process, partial(without_draws, run))

    try:
        in_order(claim)
        _restore(store, run, method == "batch")
        program.check_schedules(max(chain.transition for chain in run.chains), lengths.most)
        if store.problems:
            store.publish()  # without the draws of chains that begin again
            warn_user(
                f"{CALLER}: {path}: damaged, and repaired: "
                f"{'; '.join(dict.fromkeys(store.problems))}",
                KinetographWarning,
            )
        run.keeper = Keeper(store, run.mine, every)
        least = min(chain.kept for chain in run.chains)
        ended = requested_before is not None and least >= requested_before
        if draws is not None and draws < least:
            warn_user(
                f"{CALLER}: {path}: each chain has {least} draws already, and draws={draws} is the "
                "total, so no draws are made and none are removed; select some of them by "
                f"results.isel(draw=slice({draws}))",
                KinetographWarning,
            )
        run = watched(run, callback, until, requested_before if ended else least, ended)
        return carry_out(run, threads, make_progress(progress, CALLER))
    finally:
        store.close()


def _numbers(chains: Any, stored: Sequence[int], path: Any) -> list[int]:
    """The numbers of the chains that continue: the given ones, or all."""
    if chains is None:
        return list(stored)
    given = list(chains) if isinstance(chains, (range, list, tuple)) else []
    all_whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in given)
    if not given or not all_whole or len(set(given)) < len(given):
        raise ValueError(
            f"{CALLER}: chains must be the numbers of chains of the store, such as range(4), each "
            f"once, got {chains!r:.80}"
        )
    unknown = [n for n in given if n not in stored]
    if unknown:
        raise ValueError(
            f"{CALLER}: {path} has chains {', '.join(map(str, stored))}, but not "
            f"{', '.join(map(str, unknown))}; kg.mcmc(..., store=, chains=) adds chains"
        )
    return [int(n) for n in given]


def _differing(manifest: dict[str, Any]) -> list[str]:
    here, there = versions(), manifest["versions"]
    return [
        f"{name} was {there.get(name)} and is {here[name]}"
        for name in here
        if here[name] != there.get(name)
    ]


def _model(store: Store, trust: Collection[str]) -> Model:
    data = store.model()
    if data is None:
        raise KinetographError(
            f"{CALLER}: {store.path} does not hold the model ({store.manifest['no_model']}); give "
            "the model by model="
        )
    return model_from_bytes(data, trust, f"{CALLER}: the model in {store.path}")


def _check_model(model: Model, manifest: dict[str, Any]) -> None:
    """Refuse a model without the data, targets or unknowns of the run."""
    here = {"data": data_digests(model), "targets": model.target_names, "unknowns": model.names}
    there = {"data": manifest["data"], "targets": manifest["keep"] or ()}
    there["unknowns"] = manifest.get("unknowns", ())
    for kind, names in there.items():
        missing = [name for name in names if name not in here[kind]]
        if missing:
            raise ModelError(
                f"{CALLER}: the run had {kind} {', '.join(missing)}, which this model does not have"
            )


def _other_model(program: Program, manifest: dict[str, Any]) -> list[str]:
    """Differences of the model, its data and the sampler from the run's."""
    here, there = data_digests(program.model), manifest["data"]
    changed = [name for name in here if here[name] != there.get(name)]
    differences = [f"the data {name} have other values" for name in changed]
    if digest(program_text(program)) != manifest["program"]:
        differences.append("the model or the sampler differs")
    return differences


def _restore(store: Store, run: Run, is_batch: bool) -> None:
    """Restore the chains of this process."""
    chains = [_chain(store, run, c.number, _sampler(c)) for c in run.mine]
    begins = any(chain.state is None for chain in chains)
    if run.part is not None:
        begins = run.part.is_any(begins)
    if is_batch and begins:  # a batch begins completely or not at all
        chains = [_begun(store, run, c.number, _sampler(c)) for c in run.mine]
    by_number = {chain.number: chain for chain in chains}
    run.chains = [by_number.get(chain.number, chain) for chain in run.chains]
    if run.part is not None:
        run.part.replace(chains)
        store.problems = run.part.join(store.problems)


def _sampler(chain: RunningChain) -> Sampler:
    assert chain.sampler is not None
    return chain.sampler


def _chain(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    """A chain at its last intact checkpoint, or at its start."""
    for head, state in store.states(number):
        chain = _blank(store, run, number, sampler)
        try:
            restore(run.program, chain, state)
            if isinstance(chain.sink, StoredSink):
                chain.sink.continue_after(head["draws"])
            else:
                chain.sink.count = head["draws"]
            if chain.warmup is not None:
                warmups = store.warmups(number, head["warmup"])
                warmups.read()
                warmups.cut()
        except Damaged as error:
            store.problems.append(f"chain {number} starts again: {error}")
            break
        except StateMismatch as error:
            raise ModelError(
                f"{CALLER}: the state of chain {number} in {store.path} does not fit this model "
                f"and sampler: {error}"
            ) from error
        return chain
    return _begun(store, run, number, sampler)


def _begun(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    """A chain at its start."""
    store.forget_states(number)
    chain = _blank(store, run, number, sampler)
    begin_again(run.program, chain, store.begin(number))
    chain.tuner = run.program.tuner(run.lengths.warmup)
    store.warmups(number, 0).cut()
    return chain


def _blank(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    key = chain_key(int(store.manifest["attributes"]["seed"]), number)
    warmup: list[TransitionRows] | None = [] if store.manifest.get("keep_warmup") else None
    chain = RunningChain(key, number=number, sampler=sampler, warmup=warmup)
    attach(store, run.program, run.keep, len(run.targets), chain)
    return chain
