"""`kg.resume`: a stored run goes on."""

import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np

from ..bits.draws import chain_key
from ..graph.errors import KinetographError, KinetographWarning, ModelError
from ..graph.source import warn_user
from ..models.model import Model
from ..models.saving import model_from_bytes
from ..models.typing import DataTree
from ..observables.average import as_averages
from ..observables.observable import as_observables
from ..samplers.sampler import Sampler
from .again import averages_again, observables_again, samplers_again
from .arguments import check_model, check_one_of, check_whole
from .averages import averaged_targets
from .chain import Lengths, RunningChain
from .fingerprint import program_text
from .keeper import EVERY, Keeper
from .keeping import kept_targets, named_targets
from .mcmc import check_every, program_of
from .program import Program
from .progress import Progress
from .records import NotItsState, begin_again, restore
from .rows import Rows
from .run import Run, carry_out
from .sealed import Damaged
from .signals import ON_SIGTERM, listen
from .store.place import folder
from .store.sink import Stored
from .store.store import Store
from .stored import attach, data_digests, digest, versions, without_draws
from .telling import make_progress
from .until import SoFar, Until, check_watching, watched

__all__ = ["resume"]

DOING = "resume"
_OBSERVABLES: Any = import_module("..observables", __package__)


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
    checkpoint_every: float = EVERY,
    callback: Callable[[SoFar], Any] | None = None,
    until: Until | None = None,
    on_sigterm: Literal["exit", "return"] | str = "exit",
) -> "DataTree":
    """Go on with a run of `kg.mcmc(..., store=path)` that was stopped, killed, or has ended.

    Chains go on from their last checkpoints, and those that had none begin: the draws are, to the
    last bit, those of a run that was never stopped. What the disk has lost is drawn again: a chain
    of which a block is damaged begins anew, and makes the same draws.

    Parameters
    ----------
    path
        The store.
    model
        The model, with the same data; needed where the store could not hold it, as its graph calls
        a function that has no name by which it could be imported.
    draws
        How many draws of each chain there are to be, the present ones included; by default as many
        as the run was to have, by the last that was said.
    sampler, observables, averages
        Those of the run; needed where they are none of kinetograph's own, or each chain has a
        sampler of its own: a list of all chains of the store, in their order.
    chains
        The numbers of the chains that go on, such as `range(4)`; by default all of the store.
        Others may go on in another process at the same time.
    force
        True: go on although versions, the processor, data or the model differ. The results say so
        in `tree.attrs["forced"]`.
    trust
        The names of functions that the model in the store may call; see `kg.load_graph`.
    progress, threads, checkpoint_every, callback, until, on_sigterm
        As in `kg.mcmc`.

    Returns
    -------
    xarray.DataTree
        As `kg.mcmc(..., store=path)` gives them.

    Raises
    ------
    KinetographError
        If the folder is no store or of a newer version, another process runs one of the chains,
        the model is neither there nor given, or what the draws depend on differs.
    ModelError
        If the model or its data are others.

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
    listen()
    check_one_of(DOING, "on_sigterm", on_sigterm, ON_SIGTERM, "")
    check_whole(DOING, {} if threads is None else {"threads": (threads, 1)})
    store = Store.open(folder(DOING, path))
    manifest = store.manifest
    differing = _differing(manifest)
    given = model is not None or sampler is not None or observables or averages
    if model is None:
        model = _model(store, trust)
    check_model(model, DOING)
    _check_model(model, manifest)
    said = manifest["attributes"] | {"sampler": manifest["sampler"]}
    samplers = samplers_again(said, sampler, len(manifest["chains"]), DOING)
    kept = None if manifest["keep"] is None else kept_targets(model, manifest["keep"])
    wanted = as_averages(averages or averages_again(said, model, DOING))
    extra = as_observables(observables or observables_again(said, DOING))
    program = program_of(model, samplers[0], kept, averaged_targets(model, wanted), extra, wanted)
    if given:
        differing += _other_model(program, manifest)
    if differing and not force:
        raise KinetographError(
            f"{DOING}: {path}: {'; '.join(differing)}: the draws would not be those of a run that "
            "was never stopped; force=True goes on all the same"
        )
    numbers = _numbers(chains, manifest["chains"], path)
    if draws is not None:
        check_whole(DOING, {"draws": (draws, 0)})
    before = manifest.get("wanted", manifest["draws"])
    total = before if draws is None else int(draws)
    lengths = Lengths(manifest["warmup"], total, int(manifest["thin"]))
    lengths.check(DOING)
    check_watching(DOING, callback, until, total, len(numbers), kept is not None)
    every = check_every(DOING, checkpoint_every)
    method = said["chain_method"]
    if method == "batch" and len(numbers) < len(manifest["chains"]):
        raise ValueError(f"{DOING}: the chains of {path} are a batch, which goes on as a whole")
    attributes = dict(manifest["attributes"]) | {"draws": -1 if total is None else total}
    forced = [*manifest.get("forced", ()), *differing]
    if forced:
        attributes["forced"] = "; ".join(dict.fromkeys(forced))
    keep, named = kept is not None, named_targets(model, kept)
    run = Run(DOING, program, [], lengths, method, named, attributes, keep)
    run.returns = on_sigterm == "return"
    by_number = dict(zip(manifest["chains"], samplers, strict=True))
    try:
        store.claim(numbers)
        store.note(forced=list(dict.fromkeys(forced)), wanted=None if draws is None else total)
        alone = set(numbers) == set(store.manifest["chains"])
        store.mend(alone, partial(without_draws, run))
        run.chains = [_chain(store, run, n, by_number[n]) for n in numbers]
        program.check_schedules(max(chain.transition for chain in run.chains), lengths.most)
        if method == "batch" and any(chain.state is None for chain in run.chains):
            run.chains = [_begun(store, run, n, by_number[n]) for n in numbers]  # all or none
        if store.wrong:
            warn_user(
                f"{DOING}: {path}: damaged, and mended: {'; '.join(dict.fromkeys(store.wrong))}",
                KinetographWarning,
            )
        run.keeper = Keeper(store, run.chains, every)
        least = min(chain.kept for chain in run.chains)
        ended = before is not None and least >= before
        run = watched(run, callback, until, before if ended else least, ended)
        return carry_out(run, threads, make_progress(progress, DOING))
    finally:
        store.close()


def _numbers(chains: Any, there: Sequence[int], path: Any) -> list[int]:
    """The numbers of the chains that go on: those given, or all."""
    if chains is None:
        return list(there)
    given = list(chains) if isinstance(chains, (range, list, tuple)) else []
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in given)
    if not given or not whole or len(set(given)) < len(given):
        raise ValueError(
            f"{DOING}: chains must be the numbers of chains of the store, such as range(4), each "
            f"once, got {chains!r:.80}"
        )
    unknown = [n for n in given if n not in there]
    if unknown:
        raise ValueError(
            f"{DOING}: {path} has chains {', '.join(map(str, there))}, and no "
            f"{', '.join(map(str, unknown))}; kg.mcmc(..., store=, chains=) adds some"
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
            f"{DOING}: {store.path} does not hold the model ({store.manifest['no_model']}); give it"
            " by model="
        )
    return model_from_bytes(data, trust, f"{DOING}: the model in {store.path}")


def _check_model(model: Model, manifest: dict[str, Any]) -> None:
    """Refuse a model without the data or targets of the run."""
    here = {"data": data_digests(model), "targets": model.target_names}
    there = {"data": manifest["data"], "targets": manifest["keep"] or ()}
    for what, names in there.items():
        lost = [name for name in names if name not in here[what]]
        if lost:
            raise ModelError(
                f"{DOING}: the run had {what} {', '.join(lost)}, and this model has not"
            )


def _other_model(program: Program, manifest: dict[str, Any]) -> list[str]:
    """What is not as it was of the model, its data and the sampler."""
    here, there = data_digests(program.model), manifest["data"]
    changed = [name for name in here if here[name] != there.get(name)]
    found = [f"the data {name} have other values" for name in changed]
    if digest(program_text(program)) != manifest["program"]:
        found.append("the model or the sampler is another one")
    return found


def _chain(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    """A chain at its last checkpoint whose draws are there, or at its begin."""
    for head, state in store.states(number):
        chain = _blank(store, run, number, sampler)
        try:
            restore(run.program, chain, state)
            if isinstance(chain.sink, Stored):
                chain.sink.go_on(head["draws"])
            else:
                chain.sink.count = head["draws"]
            if chain.warmup is not None:
                held = store.warmups(number, head["warmup"])
                held.read()
                held.cut()
        except Damaged as error:
            store.wrong.append(f"chain {number} begins anew: {error}")
            break
        except NotItsState as error:
            raise ModelError(
                f"{DOING}: the state of chain {number} in {store.path} is not that of this model "
                f"and sampler: {error}"
            ) from error
        return chain
    return _begun(store, run, number, sampler)


def _begun(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    """A chain at its begin."""
    chain = _blank(store, run, number, sampler)
    begin_again(run.program, chain, store.begin(number))
    chain.tuner = run.program.tuner(run.lengths.warmup)
    store.warmups(number, 0).cut()
    return chain


def _blank(store: Store, run: Run, number: int, sampler: Sampler) -> RunningChain:
    key = chain_key(int(store.manifest["attributes"]["seed"]), number)
    warmup: list[Rows] | None = [] if store.manifest.get("keep_warmup") else None
    chain = RunningChain(key, number=number, sampler=sampler, warmup=warmup)
    attach(store, run.program, run.keep, len(run.targets), chain)
    return chain
