"""Runs whose chains are divided over processes.

Each process prepares the whole run, and draws its own part of the chains: a block of chains in
their order. So the draws of a chain are made by the program that makes them in one process. After
the last draw the processes exchange states and draws, and each of them makes the results.
"""

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import jax
import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.source import place_text, warn_user
from ..programs.fingerprint import program_text
from ..programs.sealed_files import arrays_bytes, arrays_of
from .assembly import blank_rows
from .chain import RunningChain
from .facts import data_digests, digest, versions
from .processes.turns import DONE, MAKING, STOPPED, Turn, turn
from .rows import MemorySink, Sink, TransitionRows
from .signals import Terminated
from .state_arrays import record, restore

__all__ = ["SharedRun", "refuse_callback", "shared"]

PAUSE = 0.5  # seconds between reports of progress
MODEL, DATA, BEGINS = "model or sampler", "data of ", "starting points or tuned values"
HARDWARE = ("machine", "processor")  # on which only the last bits of draws depend


def refuse_callback(doing: str, callback: Any) -> None:
    """Refuse a function of the draws of all processes.

    Raises
    ------
    ValueError
        If it is given.
    """
    if callback is not None and turn() is not None:
        raise ValueError(
            f"{doing}: callback= receives the draws of all chains as they are made, and after "
            f"kg.distributed() each process has its own chains until the run ends{place_text()}; "
            "leave it out, examine the results, and continue the run by kg.extra_samples or "
            "kg.resume"
        )


def shared(run: Any, settings: Mapping[str, Any]) -> "SharedRun | None":
    """The part of this process in a shared run, or None.

    Raises
    ------
    KinetographError
        If model, data, seed, settings or versions of the processes differ.
    """
    here = turn()
    if here is None:
        return None
    part = SharedRun(here, run)
    part.agree(run, settings)
    return part


class SharedRun:
    """The part of this process in a run.

    Attributes
    ----------
    chains
        The chains that this process runs.
    """

    def __init__(self, here: Turn, run: Any) -> None:
        chains = run.chains
        self.turn, self.program = here, run.program
        self._blank = blank_rows(run.program, [array.node for array in run.targets])
        places = here.part(len(chains), run.divided.batch)
        self.chains = [chains[i] for i in places]
        self._remote = {c.number: c for i, c in enumerate(chains) if i not in places}
        # The number of draws of each chain that all processes have, and of the messages with them.
        self._common = {chain.number: chain.kept for chain in chains}
        self._sent, self._answered, self._taken = 0, 0, dict.fromkeys(here.other_processes, 0)
        self._examined = 0  # the draws of each chain in the last message
        self._reported = 0.0  # the time of the last report

    @property
    def is_first(self) -> bool:
        """Whether this is process 0."""
        return self.turn.process == 0

    def agree(self, run: Any, settings: Mapping[str, Any]) -> None:
        """Compare the run with the runs of the other processes."""
        facts = _facts(run) | {name: repr(value) for name, value in settings.items()}
        each = [
            json.loads(bytes(v)) for v in self.turn.gather("settings", json.dumps(facts).encode())
        ]
        for process, there in enumerate(each):
            differing = [
                name
                for name in {**each[0], **there}
                if each[0].get(name) != there.get(name) and name not in HARDWARE
            ]
            if differing:
                texts = [_differs(name, there.get(name), each[0].get(name)) for name in differing]
                if MODEL in differing:  # the other differences follow from it
                    texts = texts[: differing.index(MODEL) + 1]
                raise self.turn.reported(
                    f"process {process} has {'; '.join(texts[:3])}{self.turn.place}; all processes "
                    "must run the same script with the same data and versions"
                )
        hardware = [{name: there[name] for name in HARDWARE} for there in each]
        if any(there != hardware[0] for there in hardware) and self.is_first:
            process = next(i for i, there in enumerate(hardware) if there != hardware[0])
            warn_user(
                f"{run.doing}: process {process} runs on another processor than process 0, so the "
                "last bits of its chains can differ from the draws of one process; they are draws "
                "from the same posterior",
                KinetographWarning,
            )

    def replace(self, chains: Sequence[RunningChain]) -> None:
        """Put restored chains in place of the chains of this process.

        All processes learn how many draws the chains of the other processes have.
        """
        self.chains = list(chains)
        counts = {str(c.number): [c.transition, c.kept] for c in chains}
        for value in self.turn.gather("restored", json.dumps(counts).encode(), late=True):
            for number, (transition, kept) in json.loads(bytes(value)).items():
                chain = self._remote.get(int(number))
                if chain is not None:
                    chain.transition, chain.sink.count = transition, kept

    def is_any(self, value: bool) -> bool:
        """Whether the value is true in any process."""
        return b"1" in self.turn.gather("begins", b"1" if value else b"0", late=True)

    def join(self, texts: Sequence[str]) -> list[str]:
        """The texts of all processes."""
        values = self.turn.gather("problems", json.dumps(list(texts)).encode(), late=True)
        return [text for value in values for text in json.loads(bytes(value))]

    # During the run.
    def look(self) -> bool:
        """Exchange the progress of chains; returns whether another process was stopped.

        Raises
        ------
        KinetographError
            If another process has failed or is gone.
        """
        self.turn.look()
        if self.is_first:
            self._read_progress()
        elif time.monotonic() - self._reported >= PAUSE:
            self._report()
        return self._stop() is not None

    def _report(self) -> None:
        rows = [
            (c.number, c.transition, c.divergences, c.step_size, c.tuner.end, c.kept, c.seconds)
            for c in self.chains
        ]
        self._reported = time.monotonic()
        self.turn.note(MAKING, rows)

    def _read_progress(self) -> None:
        for process in self.turn.other_processes:
            for number, *values, kept, seconds in self.turn.posted(MAKING, process) or ():
                chain = self._remote[number]
                chain.transition, chain.divergences, chain.step_size, chain.tuner.end = values
                if type(chain.sink) is Sink:  # its draws stay in the other process
                    chain.sink.count = kept
                chain.seconds = seconds

    def going(self) -> bool:
        """Whether another process still draws, after the end of the chains here."""
        if self.turn.posted(DONE, self.turn.process) is None:
            if self._waits():
                return True
            if not self.is_first:
                self._report()
            self.turn.post(DONE, True)
        return not self.turn.everyone_posted(DONE)

    def _waits(self) -> bool:
        """Whether draws of other processes still have to be examined."""
        if self._sent == self._answered:
            return False
        done = {p for p in self._taken if self.turn.posted(DONE, p) is not None}
        self._take_draws()
        missing = {p for p, count in self._taken.items() if count < self._sent}
        return not missing or bool(missing - done)

    def stop(self, stopped: BaseException) -> None:
        """Tell the other processes that a signal stops the run."""
        self.turn.post(STOPPED, isinstance(stopped, Terminated))

    def _stop(self) -> bool | None:
        """Whether SIGTERM stopped another process; None if none was stopped."""
        signals = [self.turn.posted(STOPPED, process) for process in self.turn.other_processes]
        return None if all(s is None for s in signals) else any(signals)

    def stopped(self) -> BaseException | None:
        """The signal that stopped another process."""
        by_termination = self._stop()
        if by_termination is None:
            return None
        return Terminated() if by_termination else KeyboardInterrupt()

    def share_draws(self, count: int, stored: bool) -> bool:
        """Exchange the first draws of all chains.

        Returns whether all processes have the first `count` draws of each chain. It may be called
        often, with the same number until it is True.
        """
        if stored and not self._sent:  # draws of other processes are not in memory
            self._common = dict.fromkeys(self._common, 0)
            for chain in self._remote.values():
                chain.sink = MemorySink(self._blank, None)
        if self._examined < count and all(chain.kept >= count for chain in self.chains):
            arrays: dict[str, np.ndarray] = {}
            for chain in self.chains:
                before = self._common[chain.number]
                rows = chain.sink.rows(max(before, count)).cut(before)
                arrays |= _named(chain, _rows_arrays("draws", rows))
                self._common[chain.number] = max(before, count)
            self._examined, self._sent = count, self._sent + 1
            self.turn.send(f"draws {self._sent}", arrays_bytes(arrays))
        self._take_draws()
        if self._examined != count or min(self._taken.values()) < self._sent:
            return False
        self._answered = self._sent
        return True

    def _take_draws(self) -> None:
        """Take the draws that other processes have sent."""
        for process in self._taken:
            while (
                body := self.turn.take(f"draws {self._taken[process] + 1}", process)
            ) is not None:
                self._taken[process] += 1
                arrays = arrays_of(body)
                for number, chain in self._remote.items():
                    if by_name := _of_chain(number, arrays):
                        chain.sink.add(_rows_of_arrays("draws", by_name))

    # After the run.
    def exchange(self, times: dict[str, float], stored: bool) -> dict[str, float]:
        """Take the chains of all processes; returns the times of process 0.

        Chains of a store are read from there.
        """
        head: dict[str, Any] = {"times": times, "chains": []}
        arrays: dict[str, np.ndarray] = {}
        for chain in self.chains if not stored else ():
            if chain.state is not None:
                head["chains"].append({"number": chain.number, "seconds": chain.seconds})
                arrays |= self._arrays(chain)
        heads = self.turn.gather("end", json.dumps(head).encode(), late=True)
        if not stored:
            self._take_draws()
        values = self.turn.gather("draws", arrays_bytes(arrays), late=True)
        for process in self.turn.other_processes:
            by_name = arrays_of(values[process])
            for described in json.loads(bytes(heads[process]))["chains"]:
                chain = self._remote[described["number"]]
                chain.seconds = described["seconds"]
                self._take(chain, by_name)
        first: dict[str, float] = json.loads(bytes(heads[0]))["times"]
        return first

    def _arrays(self, chain: RunningChain) -> dict[str, np.ndarray]:
        values = {f"state {name}": array for name, array in record(chain).items()}
        values["kept"] = np.asarray(chain.kept)
        if chain.sink.readable:
            values |= _rows_arrays("draws", chain.sink.rows().cut(self._common[chain.number]))
        if chain.warmup:
            values |= _rows_arrays("warmup", TransitionRows.joined(chain.warmup))
        return _named(chain, values)

    def _take(self, chain: RunningChain, arrays: Mapping[str, np.ndarray]) -> None:
        by_name = _of_chain(chain.number, arrays)
        state = {n.removeprefix("state "): a for n, a in by_name.items() if n.startswith("state ")}
        restore(self.program, chain, state)
        if chain.sink.readable:
            chain.sink.add(_rows_of_arrays("draws", by_name))
        else:
            chain.sink.count = int(by_name["kept"])
        if chain.warmup is not None:
            has_rows = "warmup statistics" in by_name
            chain.warmup[:] = [_rows_of_arrays("warmup", by_name)] if has_rows else []

    def read_others(self, keeper: Any) -> None:
        """Take the chains of other processes from the store."""
        for number, chain in self._remote.items():
            for head, state in keeper.store.states(number)[:1]:
                restore(self.program, chain, state)
                chain.sink.count = head["draws"]

    def meet(self, title: str) -> None:
        """Wait until all processes are here."""
        self.turn.gather(title, late=True)


def _named(chain: RunningChain, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays of a chain, by names that have its number."""
    return {f"{chain.number} {name}": array for name, array in arrays.items()}


def _of_chain(number: int, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a chain among the arrays of several chains."""
    start = f"{number} "
    return {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}


def _rows_arrays(kind: str, rows: TransitionRows) -> dict[str, np.ndarray]:
    by_name = {f"{kind} {i}": array for i, array in enumerate(rows.targets)}
    return by_name | {f"{kind} statistics": rows.statistics}


def _rows_of_arrays(kind: str, arrays: Mapping[str, np.ndarray]) -> TransitionRows:
    count = sum(name.startswith(f"{kind} ") for name in arrays) - 1
    return TransitionRows(
        [arrays[f"{kind} {i}"] for i in range(count)], arrays[f"{kind} statistics"]
    )


def _facts(run: Any) -> dict[str, Any]:
    """Facts that must be equal in all processes, by names for messages."""
    begins = sha256()
    for chain in run.chains:
        tree = (chain.free, dict(chain.tuned), None if chain.state is None else record(chain))
        for leaf in jax.tree.leaves(tree):
            begins.update(np.ascontiguousarray(leaf).tobytes())
    here = versions()
    return {
        **{name if name in HARDWARE else f"version of {name}": v for name, v in here.items()},
        MODEL: digest(program_text(run.program)),
        **{f"{DATA}{name}": text for name, text in data_digests(run.program.model).items()},
        "draws": run.lengths.draws,
        "thin": run.lengths.thin,
        "warmup": run.lengths.warmup,
        "chains": [chain.number for chain in run.chains],
        "draws so far": [chain.kept for chain in run.chains],
        "keep_warmup": any(chain.warmup is not None for chain in run.chains),
        "keep": [(array.group, array.name) for array in run.targets] if run.keep else [],
        BEGINS: begins.hexdigest(),
        "devices": len(run.divided.devices),
        "batch": run.divided.batch,
        **{name: str(value) for name, value in run.attributes.items()},
    }


def _differs(name: str, here: Any, there: Any) -> str:
    """A text about a fact that differs between two processes."""
    if name == MODEL:
        return f"another {name} than process 0"
    if name == BEGINS or name.startswith(DATA):
        return f"other {name} than process 0"
    return f"{name} {here!s:.60}, and process 0 has {there!s:.60}"
