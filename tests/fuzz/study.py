"""Random calls in processes that may crash or hang, one after the other."""

import multiprocessing as mp
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["study"]

MEMORY = 12 << 30  # bytes of address space


def work(pipe: Connection, seed: int, first: int, count: int, quick: bool) -> None:
    """Make calls, and tell of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(tempfile.mkdtemp(prefix="fuzz"))
    from tests.fuzz.calls import carry_out, make_call, names

    known = names(compiling=not quick)
    for number in range(first, first + count):
        call = make_call(seed, number, known)
        pipe.send((number, str(call), None))
        outcome = carry_out(call)
        pipe.send((number, str(call), (outcome.kind, outcome.where, outcome.text)))
    pipe.send(None)


def study(seed: int, first: int, count: int, seconds: float, quick: bool) -> dict[str, Any]:
    """The findings of so many calls, alike ones together."""
    context = mp.get_context("spawn")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    kinds: Counter[str] = Counter()
    next_call, end, slowest = first, first + count, (0.0, "")
    while next_call < end:
        here, there = context.Pipe()
        process = context.Process(
            target=work, args=(there, seed, next_call, end - next_call, quick)
        )
        process.start()
        there.close()
        number, text, begun = next_call - 1, "", time.perf_counter()
        lost = ""
        while True:
            if not here.poll(seconds if text else 10 * seconds):
                lost = "hang"
                break
            try:
                told = here.recv()
            except EOFError:
                lost = "crash"
                break
            if told is None:
                break
            number, text, outcome = told
            if outcome is None:
                begun = time.perf_counter()
                continue
            slowest = max(slowest, (time.perf_counter() - begun, f"{number} {text}"))
            kinds[outcome[0] or "fine"] += 1
            if outcome[0]:
                _note(found, outcome, number, text)
            if number % 1000 == 999:
                print(number + 1, dict(kinds), file=sys.stderr, flush=True)
        process.kill()
        process.join()
        if lost and not text:
            raise RuntimeError(f"the process ended before its first call: {process.exitcode}")
        if lost:
            kinds[lost] += 1
            _note(found, (lost, text.partition("(")[0], str(process.exitcode)), number, text)
            next_call = number + 1
        else:
            next_call = end
    findings = sorted(found.values(), key=lambda f: (f["kind"], -f["count"]))
    return {"counts": dict(kinds), "slowest": slowest, "findings": findings}


def _note(found: dict, outcome: tuple[str, str, str], number: int, text: str) -> None:
    kind, where, said = outcome
    entry = found.setdefault(
        (kind, where),
        {"kind": kind, "where": where, "count": 0, "number": number, "call": text, "text": said},
    )
    entry["count"] += 1
