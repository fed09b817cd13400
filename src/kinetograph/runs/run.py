"""A run, carried out: compile, draw, and make results of what there is, however it ended."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..collector import paused
from ..graph.node import Node
from ..graph.source import warn_user
from .advice import LOOKED_AT, SamplingWarning, diagnose_averages, findings
from .background import leaving
from .chain import Lengths, RunningChain
from .chains import Ending, run_chains, threads_available
from .drawn import drawn
from .engine import Engine, build
from .program import Program
from .progress import Progress
from .results import as_tree, walkers_of
from .signals import STOPS, Terminated, hearing, holding, stoppable
from .start import explain_failure
from .stash import safe, stash
from .telling import LOG, Telling
from .unsolved import solvers_used_up

__all__ = ["Run", "carry_out", "handing", "results_so_far"]

ON = "kg.extra_samples(results, model) goes on from here"
UNADVISED = "before R-hat and effective sample sizes were computed, as kg.diagnose(results) does"
# What takes the results of runs before anything is said of them.
_TAKES: ContextVar[Callable[[Any], None]] = ContextVar("_TAKES", default=lambda tree: None)


@dataclass
class Run:
    """A run that is ready: what is drawn, by which chains, and what is kept of it."""

    doing: str
    program: Program
    chains: Sequence[RunningChain]
    lengths: Lengths
    method: str
    targets: Sequence[tuple[str, Node]]  # of which draws are kept, by name
    attributes: dict[str, Any]
    keep: bool = True  # whether any draws are kept
    given_start: bool = False
    returns: bool = False  # at SIGTERM, which ends the process otherwise
    told: str = ""  # what is to be said before it begins
    earlier: Mapping[str, Any] = field(default_factory=dict)  # groups of earlier results
    keeper: Any = None  # where there is a store
    watch: Callable[[], bool | None] = field(default=bool)  # whether there are enough draws
    enough: Callable[[], int | None] = field(default=lambda: None)  # so many


def carry_out(run: Run, threads: int | None, shown: Progress) -> Any:
    """Draw, and make the results.

    Raises
    ------
    StartError
        If no starting point has a finite log density and gradient.
    KeyboardInterrupt
        If it is stopped before any chain has a draw.
    SystemExit
        At SIGTERM, with the draws in the stash, unless the run `returns` them.
    """
    try:
        return _carried_out(run, threads, Telling(shown, run.doing))
    except Terminated as ended:
        leaving(ended.CODE)
        with suppress(Warning):
            warn_user(f"{run.doing}: stopped by SIGTERM{ended.when}", SamplingWarning)
        raise


def _carried_out(run: Run, threads: int | None, shown: Telling) -> Any:
    if run.told:
        shown.say(run.told)
    with stoppable() as check, safe() as keep:
        engine = _compiled(run, shown)
        check()
        with holding() as late:  # from the first draw on
            ending, times = _drawn_by(run, engine, threads, shown, check)
            tree = _results(run, ending, times)
            if run.keeper is not None:
                tree = run.keeper.results(tree, run.enough(), ending)
                ending.error = run.keeper.explained(ending.error)
            keep(tree, _kept(run, tree))
            _TAKES.get()(tree)
            ending.hear(late)
            _tell(run, ending, tree, shown)
            if not isinstance(ending.stopped, Terminated):
                try:
                    with hearing():
                        _advise(run, tree)
                        check()
                except STOPS as stopped:
                    late.append(type(stopped))
                if ending.hear(late):
                    _tell(run, ending, tree, shown, f", {UNADVISED}")
    if ending.stopped is not None:
        stash(tree)
    return tree


def _drawn_by(
    run: Run, engine: Engine, threads: int | None, shown: Telling, check: Callable[[], None]
) -> tuple[Ending, dict[str, float]]:
    """How drawing ended, and how long it took."""
    begun = time.perf_counter()
    count = min(len(run.chains), threads or threads_available())
    shown.start(run.chains, run.lengths, count if engine.batch is None else len(run.chains))

    def watch() -> bool | None:
        check()
        shown.update()
        if run.keeper is not None:
            run.keeper.look()
        return run.watch()

    ending = run_chains(engine, run.chains, run.lengths, count, watch, run.keeper)
    try:
        shown.finish()
        check()
    except STOPS as stopped:
        ending.stopped = ending.stopped or stopped
    except Exception as error:
        ending.error = ending.error or error
    if ending.error is None and any(chain.failed for chain in run.chains):
        raise explain_failure(run.program.model, run.chains, run.given_start)
    return ending, {
        "trace_time": engine.compiled.trace_seconds,
        "compile_time": engine.compiled.compile_seconds,
        "sampling_time": time.perf_counter() - begun,
    }


@contextmanager
def handing(take: Callable[[Any], None]) -> Iterator[None]:
    """Have the results of runs taken by a function before anything is said of them."""
    token = _TAKES.set(take)
    try:
        yield
    finally:
        _TAKES.reset(token)


def _compiled(run: Run, shown: Progress) -> Engine:
    shown.say("compiling ...")
    # What the results need is imported while the program is being compiled.
    importing = threading.Thread(target=_import_results, daemon=True)
    batch = len(run.chains) if run.method == "batch" else None
    engine = build(run.program, batch, importing.start)
    compiled = engine.compiled
    shown.say(
        f"{run.program.model.free_size} free numbers; traced in {compiled.trace_seconds:.2f} s, "
        f"{'loaded' if compiled.from_cache else 'compiled'} in {compiled.compile_seconds:.2f} s"
    )
    return engine


def _import_results() -> None:
    with paused():
        import xarray  # noqa: F401

        from ..models import drawing  # noqa: F401


def _results(run: Run, ending: Ending, times: dict[str, float]) -> Any:
    """What there is, as results; raises what ended the run where there is nothing."""
    begun = [chain for chain in run.chains if chain.state is not None]
    if run.keeper is not None:
        run.keeper.finish(ending)
    if not begun:
        raise ending.error or _stopped(run, ending, "before a chain had begun")
    count = run.enough()
    if count is None:
        count = min((chain.kept for chain in begun if chain.kept), default=0)
    return _tree(run, begun, count, ending, times)


def results_so_far(run: Run, draws: int) -> Any:
    """What has been drawn while a run goes on."""
    return as_tree(run.program, run.targets, run.chains, draws, run.attributes, going=True)


def _tree(
    run: Run, chains: Sequence[RunningChain], count: int, ending: Ending, times: dict[str, float]
) -> Any:
    stored = run.keeper is not None
    if stored:
        chains = run.keeper.everyone(run.program, chains)
    attributes = run.attributes | {
        "keep": int(run.keep),
        "warmup": _warmups(chains),
        "thin": run.lengths.thin,
        "gradients": sum(chain.gradients for chain in chains),
        **times,
        "interrupted": int(ending.stopped is not None or ending.error is not None),
        **solvers_used_up(run.program.model),
        **drawn(run.program.model),
    }
    if attributes["interrupted"]:
        attributes["stopped_by"] = "error" if ending.error is not None else _by(ending)
    tree = as_tree(run.program, run.targets, chains, count, attributes, stored=stored)
    for name, group in run.earlier.items():
        tree[name] = group.copy()
    return tree


def _warmups(chains: Sequence[RunningChain]) -> int | list[int]:
    """How long the warm-up was, an interrupted one too: of each chain, if they differ."""
    found = [min(chain.tuner.end, chain.transition) for chain in chains]
    return found if len(set(found)) > 1 else found[0]


def _drawn(run: Run, tree: Any) -> int:
    """How many draws of each chain there are."""
    there = max(chain.kept for chain in run.chains)
    return int(tree["posterior"].sizes["draw"]) if run.keep else there


def _kept(run: Run, tree: Any) -> str:
    """Where the draws are of a run that an error ends."""
    count = _drawn(run, tree)
    what = f"{count} draws of each chain" if count else "what warm-up has tuned"
    return f"kept: {what}, in kg.stashed_samples(); {_on(run)}"


def _on(run: Run) -> str:
    """How to go on."""
    on: str = ON if run.keeper is None else run.keeper.on
    return on


def _tell(run: Run, ending: Ending, tree: Any, shown: Telling, more: str = "") -> None:
    """Tell what there is of a run that did not end as it should."""
    if ending.stopped is None and ending.error is None:
        return
    tree.attrs["interrupted"] = 1
    tree.attrs["stopped_by"] = "error" if ending.error is not None else _by(ending)
    exits = isinstance(ending.stopped, Terminated) and not run.returns
    on, count = _on(run), _drawn(run, tree)
    if ending.error is not None:
        shown.log(f"ended by {type(ending.error).__name__}: {ending.error}; {_kept(run, tree)}")
        if exits:
            raise Terminated(f", after an error: {ending.error}") from ending.error
        raise ending.error
    if count == 0 and "warmup_posterior" not in tree.children:
        tuned = "what warm-up has tuned is in kg.stashed_samples(), and"
        raise _stopped(run, ending, f"before any chain had a draw; {tuned} {on}")
    none = ", ".join(str(chain.number) for chain in run.chains if not chain.kept)
    without = f", none of chains {none}, left out" if none else ""
    if run.keep:
        named = set((tree["posterior"]["chain"].values // walkers_of(tree)).tolist())
        behind = [str(c.number) for c in run.chains if c.kept and c.number not in named]
        without += f", chains {', '.join(behind)}, which are behind, left out" if behind else ""
    when = f" after {count} draws of each chain{without}{more}"
    shown.log(f"stopped by {_by(ending)}{when}; {on}")
    if exits:
        unkept = '; on_sigterm="return" returns them' if run.keeper is None else f"; {on}"
        raise Terminated(f"{when}{unkept}")
    warn_user(f"{run.doing}: stopped by {_by(ending)}{when}; {on}", SamplingWarning)


def _by(ending: Ending) -> str:
    return "SIGTERM" if isinstance(ending.stopped, Terminated) else "Ctrl-C"


def _stopped(run: Run, ending: Ending, when: str) -> BaseException:
    """What is raised where there is nothing to return."""
    text = f"{run.doing}: stopped by {_by(ending)} {when}"
    LOG.info(text)
    terminated = isinstance(ending.stopped, Terminated)
    return Terminated(f" {when}") if terminated else KeyboardInterrupt(text)


def _advise(run: Run, tree: Any) -> None:
    if not run.keep:
        made = min(chain.transition - chain.tuner.end for chain in run.chains)
        found = diagnose_averages(tree, made) if made > 0 else []
    else:
        some = tree if run.keeper is None else run.keeper.some()
        found = findings(some, LOOKED_AT) if some["posterior"].sizes["draw"] else []
    for finding in found:
        if finding.kind == "few_draws" and not tree.attrs["interrupted"]:
            continue  # as many as were asked for
        warn_user(finding.message, SamplingWarning)
