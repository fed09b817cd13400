"""What a compiled program depends on, as a text, so that it can be looked up without tracing.

Tracing and lowering a model takes longer than sampling a small one. The text lists the whole graph
of the model (operations, attributes, shapes, types, literal values, supports), the sampler and its
settings, and the sources of kinetograph itself. Values of data are arguments of the program and no
part of it. Where something cannot be told by looking at it, a user's own function or sampler, there
is no fingerprint, and the program is looked up by its lowered text instead.
"""

import functools
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ..distributions.family import Distribution, Family, Variable
from ..graph.control.subgraph import Control, Subgraph
from ..graph.node import Apply, Bundle, Data, Inner, Node, ancestors
from ..models.density import Term
from ..samplers.sampler import Sampler
from .program import Program

__all__ = ["fingerprint"]


class _Unknown(Exception):
    """Something whose behaviour cannot be told by looking at it."""


@functools.cache
def _package_digest() -> str:
    """The sources of kinetograph: a change of any line makes other programs."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _function(function: Any) -> str:
    """A function of kinetograph or JAX; others may do anything."""
    module = getattr(function, "__module__", None) or ""
    if module.split(".")[0] not in ("kinetograph", "jax", "jaxlib"):
        raise _Unknown
    if getattr(function, "__closure__", None):
        raise _Unknown
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        raise _Unknown
    # The sources are part of the fingerprint, so that a place in them says which function it is.
    code = getattr(function, "__code__", None)
    return f"{module}.{name}:{code.co_firstlineno if code is not None else ''}"


def _value(value: Any) -> str:
    """An attribute: only kinds whose text says all."""
    if value is None or isinstance(value, (bool, int, float, str, np.dtype, np.generic)):
        return repr(value)
    if value is Ellipsis or isinstance(value, slice):
        return repr(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(map(_value, value))})"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_value(v)}" for k, v in sorted(value.items())) + "}"
    text = getattr(value, "stable_text", None)
    if isinstance(text, str):
        return text
    raise _Unknown


def _array(array: np.ndarray) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"array({array.shape},{array.dtype},{digest})"


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[Node, int] = {}

    def reference(self, node: Node) -> str:
        return f"%{self.numbers[node]}"

    def node(self, node: Node) -> None:
        parents = ",".join(map(self.reference, node.parents))
        head = f"{node.kind} {node.shape} {node.dtype} ({parents})"
        if isinstance(node, Control):
            text = f"{node.operation.name} {node.static_text()}"
            text += "".join(map(self.subgraph, node.subgraphs))
        elif isinstance(node, Inner):
            text = node.role
        elif isinstance(node, (Apply, Bundle)):
            operation = node.operation
            attributes = _value(node.attributes or {})
            text = f"{operation.name} {_function(operation.lower)} {attributes}"
        elif isinstance(node, Data):
            # Data made inside of a branch or loop are part of the program.
            text = _array(node.value) if node.literal or node.context is not None else ""
        elif isinstance(node, Distribution):
            text = self.family(node.family)
        elif isinstance(node, Variable):
            text = self.support(node.support)
        else:
            raise _Unknown
        self.numbers[node] = len(self.numbers)
        self.lines.append(f"{head} {text}")

    def subgraph(self, part: Subgraph) -> str:
        """Write the nodes inside of another one; gives what its inputs and outputs are."""
        for node in sorted({*part.inputs, *part.nodes}, key=lambda node: node.serial):
            if node not in self.numbers:
                self.node(node)
        ends = (part.inputs, part.outputs)
        return " -> ".join(",".join(map(self.reference, nodes)) for nodes in ends)

    def family(self, family: Family) -> str:
        functions = (family.terms, family.small_terms, family.total)
        return f"{family.name} {[_function(f) for f in functions if f is not None]}"

    def support(self, support: Any) -> str:
        fields = {
            name: self.reference(v) if isinstance(v, Node) else _value(v)
            for name, v in vars(support).items()
        }
        return f"{type(support).__qualname__} {fields}"

    def term(self, term: Term) -> None:
        form = term.compressed
        target = "" if term.target is None else self.reference(term.target)
        forms = {name: self.reference(node) for name, node in term.forms.items()}
        text = f"term {self.reference(term.node)} {target} {forms} {term.small}"
        if form is not None:
            parts = (form.scalars, form.vectors, form.grouped, form.derived)
            refs = [",".join(map(self.reference, nodes)) for nodes in parts]
            sd = "" if form.sd is None else self.reference(form.sd)
            text += f" compressed {refs} {sd} {form.count} {form.log_scale!r}"
        self.lines.append(text)


def _structure(sampler: Sampler) -> str:
    """What a sampler's program depends on; those of kinetograph have no settings but these."""
    kind, *rest = sampler.structure()
    return f"{kind.__qualname__} {_value(rest)}"


def fingerprint(program: Program, batch: int | None) -> str | None:
    """The text a program can be looked up by, or None."""
    sampler, model = program.sampler, program.model
    if type(sampler).__module__.split(".")[0] != "kinetograph":
        return None
    if any(o.function.__module__ != "kinetograph.observables.named" for o in program.observables):
        return None
    writer = _Writer()
    try:
        roots = [*model.component.nodes, *program.targets, *model.arguments]
        for term in model.density.terms:
            roots += [term.node, *term.forms.values()]
        nodes = sorted(dict.fromkeys(ancestors(roots)), key=lambda node: node.serial)
        for node in nodes:
            writer.node(node)
        for term in model.density.terms:
            writer.term(term)
        for group in (model.component.unknowns, program.targets, model.arguments):
            writer.lines.append(",".join(map(writer.reference, group)))
        settings = f"{_structure(sampler)} {[o.name for o in program.observables]}"
    except _Unknown:
        return None
    room = [model.room.of(loop) for loop in program.loops]
    head = [_package_digest(), settings, str(program.dtype), str(batch), str(room)]
    return "\n".join([*head, *writer.lines])
