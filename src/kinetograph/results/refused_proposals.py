"""Proposals at which a solver of the model found no solution.

A solver, for example of a differential equation, may have no solution at a proposal. The log
density is NaN there, and the sampler refuses the proposal. If the model has a solver, the sampler
is asked to record whether a proposal had no finite energy; such proposals are counted and reported
after the run.
"""

import dataclasses
import json
from typing import Any

import numpy as np

from ..graph.control.control_node import everything
from ..graph.control.loops import While
from ..graph.node import Apply
from ..models.model import Model
from ..observables import bad
from ..programs.program import Program
from .check import statistics_of

__all__ = ["SOLVERS", "refused", "solvers_used_up", "watching_solvers"]

SOLVERS = "solvers"  # the attribute of results


def watching_solvers(program: Program) -> Program:
    """The program, recording refused proposals if the model has a solver.

    Samplers that cannot record them are left as they are.
    """
    if not _solvers(program.model) or _has_record(program):
        return program
    recording = dataclasses.replace(program, observables=(*program.observables, bad))
    return recording if _has_record(recording) else program


def solvers_used_up(model: Model) -> dict[str, str]:
    """The attribute with the model's solvers, and which used up their steps."""
    texts = []
    for site, search in _solvers(model).items():
        details = [site] if site else []
        for loop, most in model.most_trips.items():
            bound = loop.bound if isinstance(loop, While) else None
            if bound is not None and most >= bound and str(loop.site or "") == site:
                details.append(f"all of its {bound} {loop.contexts[0].name} were used")
        texts.append(f"{search} ({'; '.join(details)})" if details else search)
    return {SOLVERS: json.dumps(texts)} if texts else {}


def refused(tree: Any) -> tuple[list[str], np.ndarray]:
    """The solvers of a run, and which draws had a refused proposal.

    A refused proposal has no finite energy.
    """
    stats = statistics_of(tree)
    solvers = json.loads(tree.attrs.get(SOLVERS, "[]"))
    if not solvers or bad.name not in stats:
        return solvers, np.zeros((1, 1), bool)
    flags = stats[bad.name].values
    return solvers, flags.reshape((*flags.shape[:2], -1)).any(-1)


def _solvers(model: Model) -> dict[str, str]:
    """The searches in the log density, by their place in the source."""
    nodes = everything(model.density.nodes)
    searches = [n for n in nodes if isinstance(n, Apply) and n.operation.search]
    return {str(node.site or ""): node.operation.search for node in searches}


def _has_record(program: Program) -> bool:
    return any(statistic.name == bad.name for statistic in program.records)
