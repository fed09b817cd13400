"""The fields of the nodes, contexts and states of a saved graph."""

import weakref
from types import NoneType
from typing import Any

import numpy as np

from ..checks import Check
from ..control.batch import Batch
from ..control.conditional import Cond
from ..control.contexts import (
    BatchContext,
    CondContext,
    ControlFlowContext,
    ScanContext,
    WhileContext,
)
from ..control.control_node import Control
from ..control.effects import Entry
from ..control.loops import While
from ..control.scan import Scan
from ..control.state import Assigned, Cell, Read, Versions
from ..control.subgraph import Subgraph
from ..derivative import Derivative
from ..missing import Incomplete
from ..node import Apply, Bundle, Data, FormOf, Inner, Node, Operation
from ..source import Site
from .fields import DictOf, ListOf, TupleOf, anything, fields, numbers, optional, size


def site(value: Any) -> bool:
    """Whether a value is a place in a user's file."""
    return type(value) is Site and type(value[0]) is str and type(value[1]) is int


def interval(value: Any) -> bool:
    """Whether a value is a pair of integers."""
    return type(value) is tuple and len(value) == 2 and all(type(v) is int for v in value)


_NAME = optional(str)
_LABELS = DictOf(str, np.ndarray)
fields(
    Node,
    context=optional(ControlFlowContext),
    dims=optional(TupleOf(_NAME)),
    dtype=np.dtype,
    name=_NAME,
    parents=TupleOf(Node),
    serial=int,
    shape=TupleOf(size),
    weak=bool,
    _place=optional(site),
)
fields(
    Data,
    _held=numbers,
    _owned=optional(Node),
    conditions=TupleOf(str),
    coords=_LABELS,
    literal=bool,
    settled=_NAME,
    source=optional(Node),
    variable=_NAME,
)
fields(Inner, interval=optional(interval), outer=Node, role=str)
fields(Apply, operation=Operation, attributes=DictOf(str, anything))
fields(Bundle, operation=Operation, attributes=DictOf(str, anything))
fields(FormOf, of=Node)
fields(
    Operation,
    name=str,
    lower=callable,
    symbol=_NAME,
    elementwise=bool,
    search=str,
    ambient=bool,
)
fields(
    Incomplete,
    coords=_LABELS,
    labels=TupleOf(optional(np.ndarray)),
    parts=DictOf(str, anything),
    value=np.ndarray,
    variable=_NAME,
)
fields(
    Cell,
    initial=numbers,
    name=_NAME,
    hidden=bool,
    handle=optional(weakref.ref),
    place=optional(site),
)
fields(Read, cell=Cell, program=Versions)
fields(Assigned, cell=Cell, program=Versions)
fields(Entry, program=Versions)
fields(
    Versions,
    context=optional(ControlFlowContext),
    entered=DictOf(Cell, Node),
    latest=DictOf(Cell, Node),
    assigned=DictOf(Cell, NoneType),
    traced=bool,
    effects=DictOf(Entry, Node),
)
fields(Check, make=callable, text=str)
fields(
    Subgraph,
    inputs=TupleOf(Node),
    outputs=TupleOf(Node),
    nodes=TupleOf(Node),
    loops=TupleOf(Node),
    _live=lambda value: value == {},
    _surely=lambda value: value == {},
)
fields(
    ControlFlowContext,
    name=str,
    outer_context=optional(ControlFlowContext),
    _place=optional(site),
    _values=ListOf(Node),
    _external=DictOf(Node, Node),
    _nested=ListOf(ControlFlowContext),
    _versions=Versions,
    _arguments=ListOf(Node),
    _entered=lambda value: value == [],
)
fields(CondContext, pred=Node, branch=int, pivot=str)
fields(
    WhileContext,
    loop_variables=TupleOf(Node),
    maximum_iterations=optional(int, np.integer, Node),
    grad=str,
    back_prop=bool,
    parallel_iterations=int,
    swap_memory=bool,
)
fields(ScanContext, loop_variables=TupleOf(Node))
fields(BatchContext, size=size, _numbers=Node, _number=optional(Node))
fields(Control, contexts=TupleOf(ControlFlowContext), subgraphs=TupleOf(Subgraph))
fields(Cond, places=TupleOf(TupleOf(size)))
fields(
    While,
    bound=optional(int, np.integer),
    carried=size,
    grad=str,
    judging=TupleOf(size),
    on_limit=str,
    variables=size,
)
fields(Scan, carried=size, length=size, results=size, reverse=bool, rows=size)
fields(Batch, length=size, rows=size)
fields(Derivative, count=size)
