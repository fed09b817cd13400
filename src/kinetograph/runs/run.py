"""Carry out a run: compile, draw, and make results, however it ends."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..collector import paused
from ..graph.errors import KinetographError
from ..graph.source import warn_user
from ..programs.background import leaving
from ..programs.engine import Engine, build
from ..programs.program import Program
from ..results.advice import SamplingWarning
from ..results.check import walkers_of
from ..results.diagnosis import LOOKED_AT, diagnose_averages, findings
from ..results.model_picture import drawn
from ..results.refused_proposals import solvers_used_up
from ..results.reparametrisation import recorded_hierarchies
from .assembly import as_tree
from .chain import Lengths, RunningChain
from .chains import RunEnding, run_chains, threads_available
from .devices import Division
from .kept_targets import KeptArray
from .progress.display import Progress, SilentProgress
from .progress.reporting import LOG, LoggedProgress
from .restoring import arguments_to_give
from .shared_runs import SharedRun
from .signals import STOPS, Terminated, hearing, holding, raise_lost, stoppable
from .starting_points import explain_failure
from .stash import safe, stash

__all__ = ["Run", "carry_out", "handing", "results_so_far"]

HOW_TO_CONTINUE = "kg.extra_samples(results, model) continues the run"
NO_DIAGNOSTICS = "before R-hat and effective sample sizes were computed (kg.diagnose does it)"
# Receives the results of runs before they are diagnosed.
_RECEIVER: ContextVar[Callable[[Any], None]] = ContextVar("_TAKES", default=lambda tree: None)


@dataclass
class Run:
    """A run that is ready to start: its chains, lengths and targets."""

    doing: str
    program: Program
    chains: Sequence[RunningChain]
    lengths: Lengths
    divided: Division  # over devices
    targets: Sequence[KeptArray]  # in the results: first the targets, then further unknowns
    attributes: dict[str, Any]
    keep: bool = True  # whether any draws are kept
    given_start: bool = False
    returns: bool = False  # at SIGTERM, instead of ending the process
    opening_text: str = ""  # a text for the progress display before the run begins
    earlier: Mapping[str, Any] = field(default_factory=dict)  # groups of earlier results
    keeper: Any = None  # the `keeper.Keeper` of a stored run
    part: SharedRun | None = None  # of this process, if several processes make the run
    watch: Callable[[], bool | None] = field(default=bool)  # called during the run; True ends it
    enough: Callable[[], int | None] = field(default=lambda: None)  # the number of draws to return

    @property
    def mine(self) -> Sequence[RunningChain]:
        """The chains that this process runs."""
        return self.chains if self.part is None else self.part.chains

    @property
    def speaks(self) -> bool:
        """Whether this process shows progress and warnings."""
        return self.part is None or self.part.is_first


def carry_out(run: Run, threads: int | None, display: Progress) -> Any:
    """Draw, and make the results.

    Raises
    ------
    StartError
        If no starting point has a finite log density and gradient.
    KeyboardInterrupt
        If the run is stopped before any chain has a draw.
    SystemExit
        At SIGTERM, with the draws in the stash, unless `run.returns` is set.
    """
    shown = display if run.speaks else SilentProgress()
    try:
        return _carried_out(run, threads, LoggedProgress(shown, run.doing))
    except Terminated as ended:
        leaving(ended.CODE)
        with suppress(Warning):
            warn_user(f"{run.doing}: stopped by SIGTERM{ended.when}", SamplingWarning)
        raise


def _carried_out(run: Run, threads: int | None, display: LoggedProgress) -> Any:
    if run.opening_text:
        display.say(run.opening_text)
    raise_lost()
    with stoppable() as check, safe() as keep:
        engine = _compiled(run, display)
        check()
        with holding() as late:  # signals are held back from the first draw on
            ending, times = _draw(run, engine, threads, display, check)
            tree = _results(run, ending, times)
            if run.keeper is not None:
                tree = _stored_results(run, tree, ending)
                ending.error = run.keeper.explained(ending.error)
            keep(tree, _where_draws_are(run, tree))
            _RECEIVER.get()(tree)
            ending.hear(late)
            _report_ending(run, ending, tree, display)
            if not isinstance(ending.stopped, Terminated):
                try:
                    with hearing():
                        _warn(run, tree)
                        check()
                except STOPS as stopped:
                    late.append(type(stopped))
                if ending.hear(late):
                    _report_ending(run, ending, tree, display, f", {NO_DIAGNOSTICS}")
    if ending.stopped is not None:
        stash(tree)
    return tree


def _draw(
    run: Run,
    engine: Engine,
    threads: int | None,
    display: LoggedProgress,
    check: Callable[[], None],
) -> tuple[RunEnding, dict[str, float]]:
    """Draw; returns how drawing ended, and the times taken."""
    begun = time.perf_counter()
    part, devices = run.part, run.divided.devices
    count = run.divided.at_once(len(run.mine), threads or threads_available())
    display.start(run.chains, run.lengths, count)

    def watch() -> bool | None:
        check()
        for line in engine.new_lines():
            display.say(line)
        display.update()
        if run.keeper is not None:
            run.keeper.look()
        stopped = part is not None and part.look()
        return run.watch() or stopped

    others_continue = bool if part is None else part.going
    ending = run_chains(
        engine, run.mine, run.lengths, count, watch, run.keeper, devices, others_continue
    )
    times = engine.times(time.perf_counter() - begun)
    try:
        if part is not None:
            times = _with_others(run, part, ending, times)
        display.finish()
        check()
    except STOPS as stopped:
        ending.stopped = ending.stopped or stopped
    except Exception as error:
        ending.error = ending.error or error
    if ending.error is None and any(chain.failed for chain in run.mine):
        raise explain_failure(run.program.model, run.mine, run.given_start)
    return ending, times


def _with_others(
    run: Run, part: SharedRun, ending: RunEnding, times: dict[str, float]
) -> dict[str, float]:
    """End the run together with the other processes, and take their chains.

    Returns the times of the run.
    """
    if ending.error is not None:
        part.turn.fail(ending.error)
    if ending.error is not None or any(chain.failed for chain in run.mine):
        return times
    if ending.stopped is not None:
        part.stop(ending.stopped)
    ending.stopped = ending.stopped or part.stopped()
    return part.exchange(times, stored=run.keeper is not None)


@contextmanager
def handing(take: Callable[[Any], None]) -> Iterator[None]:
    """Pass the results of runs to a function before they are diagnosed."""
    token = _RECEIVER.set(take)
    try:
        yield
    finally:
        _RECEIVER.reset(token)


def _compiled(run: Run, display: Progress) -> Engine:
    display.say("compiling ...")
    # Modules for the results are imported while XLA compiles.
    importing = threading.Thread(target=_import_results, daemon=True)
    devices, jointly = run.divided.devices, any(c.begins_jointly for c in run.mine)
    first = next(iter(devices), None)
    engine = build(run.program, run.divided.batch, importing.start, first, jointly)
    engine.on(devices)
    display.say(f"{run.program.model.free_size} free numbers; {engine.compiled.times_text}")
    return engine


def _import_results() -> None:
    with paused():
        import xarray  # noqa: F401

        from ..models import drawing  # noqa: F401


def _results(run: Run, ending: RunEnding, times: dict[str, float]) -> Any:
    """The results; without any, raises what ended the run."""
    if run.keeper is not None:
        run.keeper.finish(ending)
        if run.part is not None and ending.error is None:
            try:
                run.part.meet("written")
                run.part.read_others(run.keeper)
            except KinetographError as error:
                ending.error = error
    begun = [chain for chain in run.chains if chain.state is not None]
    if not begun:
        raise ending.error or _stopped(run, ending, "before a chain had begun")
    count = run.enough()
    if count is None:
        count = min((chain.kept for chain in begun if chain.kept), default=0)
    return _tree(run, begun, count, ending, times)


def _stored_results(run: Run, tree: Any, ending: RunEnding) -> Any:
    """The results in the store; the first of several processes completes it."""
    part, enough = run.part, run.enough()
    if part is None or ending.error is not None:
        return run.keeper.results(tree, enough, ending)
    if part.is_first:
        results = run.keeper.results(tree, enough, ending)
    try:
        part.meet("results")
    except KinetographError as error:
        ending.error = ending.error or error
    return results if part.is_first else run.keeper.results(tree, enough, ending, complete=False)


def results_so_far(run: Run, draws: int) -> Any:
    """The draws of a run in progress, as results."""
    return as_tree(run.program, run.targets, run.chains, draws, run.attributes, going=True)


def _tree(
    run: Run, chains: Sequence[RunningChain], count: int, ending: RunEnding, times: dict[str, float]
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
        **recorded_hierarchies(run.program.model),
    }
    if attributes["interrupted"]:
        attributes["stopped_by"] = "error" if ending.error is not None else _signal_name(ending)
    tree = as_tree(run.program, run.targets, chains, count, attributes, stored=stored)
    for name, group in run.earlier.items():
        tree[name] = group.copy()
    return tree


def _warmups(chains: Sequence[RunningChain]) -> int | list[int]:
    """The length of the warm-up, or a list if chains differ.

    An interrupted warm-up counts as far as it got.
    """
    lengths = [min(chain.tuner.end, chain.transition) for chain in chains]
    return lengths if len(set(lengths)) > 1 else lengths[0]


def _draws_of_each(run: Run, tree: Any) -> int:
    """The number of draws of each chain."""
    most = max(chain.kept for chain in run.chains)
    return int(tree["posterior"].sizes["draw"]) if run.keep else most


def _where_draws_are(run: Run, tree: Any) -> str:
    """A text that says where the draws are after an error."""
    count = _draws_of_each(run, tree)
    content = f"{count} draws of each chain" if count else "the tuning of warm-up"
    return f"kept: {content}, in kg.stashed_samples(); {_how_to_continue(run)}"


def _how_to_continue(run: Run) -> str:
    """The way to continue the run, for messages."""
    text: str = HOW_TO_CONTINUE if run.keeper is None else run.keeper.how_to_continue
    samplers = [chain.sampler or run.program.sampler for chain in run.chains]
    needed = arguments_to_give(run.attributes, samplers, run.program.model)
    if run.keeper is not None and run.keeper.store.manifest.get("no_model"):
        needed.insert(0, "model")
    listed = "".join(f", {argument}=..." for argument in needed)
    return text.replace(") continues", f"{listed}) continues")


def _report_ending(
    run: Run, ending: RunEnding, tree: Any, display: LoggedProgress, addition: str = ""
) -> None:
    """Report the end of a run that was stopped or failed."""
    if ending.stopped is None and ending.error is None:
        return
    tree.attrs["interrupted"] = 1
    tree.attrs["stopped_by"] = "error" if ending.error is not None else _signal_name(ending)
    exits = isinstance(ending.stopped, Terminated) and not run.returns
    how_to_continue, count = _how_to_continue(run), _draws_of_each(run, tree)
    if ending.error is not None:
        display.log(
            f"ended by {type(ending.error).__name__}: {ending.error}; {_where_draws_are(run, tree)}"
        )
        if exits:
            raise Terminated(f", after an error: {ending.error}") from ending.error
        raise ending.error
    if count == 0 and "warmup_posterior" not in tree.children:
        tuned = "the tuning of warm-up is in kg.stashed_samples(), and"
        raise _stopped(run, ending, f"before any chain had a draw; {tuned} {how_to_continue}")
    without_draws = ", ".join(str(chain.number) for chain in run.chains if not chain.kept)
    omitted = f", without chains {without_draws}, which have no draws" if without_draws else ""
    if run.keep:
        shown_numbers = set((tree["posterior"]["chain"].values // walkers_of(tree)).tolist())
        slower = [str(c.number) for c in run.chains if c.kept and c.number not in shown_numbers]
        omitted += f", without chains {', '.join(slower)}, which are behind" if slower else ""
    when = f" after {count} draws of each chain{omitted}{addition}"
    display.log(f"stopped by {_signal_name(ending)}{when}; {how_to_continue}")
    if exits:
        unkept = (
            '; on_sigterm="return" returns them' if run.keeper is None else f"; {how_to_continue}"
        )
        raise Terminated(f"{when}{unkept}")
    warn_user(
        f"{run.doing}: stopped by {_signal_name(ending)}{when}; {how_to_continue}", SamplingWarning
    )


def _signal_name(ending: RunEnding) -> str:
    return "SIGTERM" if isinstance(ending.stopped, Terminated) else "Ctrl-C"


def _stopped(run: Run, ending: RunEnding, when: str) -> BaseException:
    """The exception to raise if there is nothing to return."""
    text = f"{run.doing}: stopped by {_signal_name(ending)} {when}"
    LOG.info(text)
    terminated = isinstance(ending.stopped, Terminated)
    return Terminated(f" {when}") if terminated else KeyboardInterrupt(text)


def _warn(run: Run, tree: Any) -> None:
    if not run.speaks:
        return
    if not run.keep:
        draws = min(chain.transition - chain.tuner.end for chain in run.chains)
        advice = diagnose_averages(tree, draws) if draws > 0 else []
    else:
        examined = tree if run.keeper is None else run.keeper.some()
        advice = findings(examined, LOOKED_AT) if examined["posterior"].sizes["draw"] else []
    for finding in advice:
        if finding.kind == "few_draws" and not tree.attrs["interrupted"]:
            continue  # the user asked for so few draws
        warn_user(finding.message, SamplingWarning)
