"""A text of all that a compiled program depends on.

A program is looked up by this text without tracing, because tracing and lowering a model takes
longer than sampling a small one. The text lists the whole graph of the model (operations,
attributes, shapes, types, literal values, supports), the graphs of the sampler's step and of the
observables, and a digest of the sources of kinetograph. The values of the model's data are
arguments of the program and not part of the text. An object whose behaviour cannot be derived from
its attributes, such as a user's JAX function, has no such text. Then there is no fingerprint, and
the program is looked up by its lowered text instead.

Within a process the programs of a model are distinguished by the same text. There such objects are
compared as objects.
"""

import functools
import hashlib
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..distributions.family import Family
from ..distributions.variable import Distribution, Variable
from ..graph.control.control_node import Control
from ..graph.control.state import Cell
from ..graph.control.subgraph import Subgraph
from ..graph.lift import Lifted
from ..graph.node import Apply, Bundle, Data, Inner, Node, ancestors
from ..models.custom_bijectors import CustomBijectorSupport
from ..models.marginal.marginal import MarginalTerm
from ..models.rewrites.normal_regression import Compressed
from ..models.term import Term
from ..samplers.identity import identity_of
from ..samplers.staged import StagedKernel
from ..samplers.step_graph import StepGraph
from ..samplers.tuned_names import tuned_names
from .program import Program

__all__ = ["fingerprint", "identity", "program_text"]


class _Opaque(Exception):
    """An object whose behaviour cannot be derived from its attributes."""


@functools.cache
def _package_digest() -> str:
    """A digest of the sources of kinetograph.

    A change of any line makes new programs.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _name(function: Any) -> str | None:
    """The name of a function of kinetograph or JAX.

    None for other functions, whose name does not say what they do.
    """
    module = getattr(function, "__module__", None) or ""
    if module.split(".")[0] not in ("kinetograph", "jax", "jaxlib"):
        return None
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is None:
        return None
    # The sources are part of the fingerprint, so the line number identifies the function.
    code = getattr(function, "__code__", None)
    return f"{module}.{name}:{code.co_firstlineno if code is not None else ''}"


def _array(array: np.ndarray) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return f"array({array.shape},{array.dtype},{digest})"


class _Writer:
    """Writes graphs as text, line by line.

    An object whose behaviour cannot be derived from its attributes raises `_Opaque`, or, with
    `opaque=True`, is added to `objects`.
    """

    def __init__(self, opaque: bool = False) -> None:
        self.lines: list[str] = []
        self.numbers: dict[Node, int] = {}
        self.opaque, self.objects = opaque, list[Any]()
        self.baked = False  # whether the values of all data are part of the program

    def opaque_text(self, value: Any) -> str:
        if not self.opaque:
            raise _Opaque
        self.objects.append(value)
        return f"object {len(self.objects)}"

    def function(self, function: Any) -> str:
        if isinstance(function, Lifted):
            return f"lifted {function.single} {self.function(function.function)}"
        if isinstance(function, functools.partial):
            arguments = f"{self.value(function.args)} {self.value(function.keywords)}"
            return f"partial {self.function(function.func)} {arguments}"
        name = _name(function)
        if name is None:
            return self.opaque_text(function)
        captured = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        captured += getattr(function, "__defaults__", None) or ()
        if any(value is function for value in captured):
            return self.opaque_text(function)
        return f"{name}{self.value(captured) if captured else ''}"

    def value(self, value: Any) -> str:
        """The text of an attribute, for types whose text is complete."""
        if value is None or isinstance(value, (bool, int, float, str, np.dtype, np.generic)):
            return repr(value)
        if value is Ellipsis or isinstance(value, slice):
            return repr(value)
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            return _array(value)
        if isinstance(value, (tuple, list)):
            return f"{type(value).__name__}({','.join(map(self.value, value))})"
        if isinstance(value, Mapping):
            return "{" + ",".join(f"{k}:{self.value(v)}" for k, v in sorted(value.items())) + "}"
        text = getattr(value, "stable_text", None)
        if isinstance(text, str):
            return text
        return self.function(value) if callable(value) else self.opaque_text(value)

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
            attributes = self.value(node.attributes or {})
            text = f"{operation.name} {self.function(operation.lower)} {attributes}"
        elif isinstance(node, Data):
            # The values of data that are made inside of a branch or loop are part of the program.
            written = self.baked or node.literal or node.context is not None
            text = _array(node.value) if written else ""
        elif isinstance(node, Distribution):
            text = self.family(node.family)
        elif isinstance(node, Variable):
            text = self.support(node.support)
        else:
            text = self.opaque_text(node)
        self.numbers[node] = len(self.numbers)
        self.lines.append(f"{head} {text}")

    def subgraph(self, part: Subgraph) -> str:
        """Write the nodes of a subgraph; returns its inputs and outputs."""
        for node in sorted({*part.inputs, *part.nodes}, key=lambda node: node.serial):
            if node not in self.numbers:
                self.node(node)
        ends = (part.inputs, part.outputs)
        return " -> ".join(",".join(map(self.reference, nodes)) for nodes in ends)

    def family(self, family: Family) -> str:
        functions = (family.terms, family.small_terms, family.total)
        return f"{family.name} {[self.function(f) for f in functions if f is not None]}"

    def own_support(self, support: CustomBijectorSupport) -> str:
        ends = {"free": support.free, "value": support.value}
        for name, node in ends.items():
            self.entry(name, node)
        for node in sorted(ancestors(support.results), key=lambda node: node.serial):
            if node not in self.numbers:
                self.node(node)
        refs = map(self.reference, (*ends.values(), *support.results, *support.outer))
        return f"own {','.join(refs)}"

    def support(self, support: Any) -> str:
        if isinstance(support, CustomBijectorSupport):
            return self.own_support(support)
        fields = {
            name: self.reference(v) if isinstance(v, Node) else self.value(v)
            for name, v in vars(support).items()
        }
        return f"{type(support).__qualname__} {fields}"

    def term(self, term: Term | MarginalTerm) -> None:
        if isinstance(term, MarginalTerm):
            inside = dict.fromkeys((*term.terms, *term.joined))
            needed = [n for inner in inside for n in (*inner.plain_needs(), inner.node)]
            for node in ancestors(needed):
                if node not in self.numbers:
                    self.node(node)
            for inner in inside:
                self.term(inner)
            self.lines += [f"table {self.value(table.constants)}" for table in term.tables]
            return
        form = term.compressed
        target = "" if term.target is None else self.reference(term.target)
        forms = {name: self.reference(node) for name, node in term.forms.items()}
        text = f"term {self.reference(term.node)} {target} {forms} {term.small}"
        if form is not None:
            text += f" compressed {self.compressed(form)}"
        self.lines.append(text)

    def compressed(self, form: Compressed) -> str:
        parts = (*form.columns, form.derived)
        refs = [",".join(map(self.reference, nodes)) for nodes in parts]
        return f"{refs} {form.sd is None} {form.structure}"

    # In graphs outside the model's graph, all values are part of the program.
    def graph(
        self,
        inputs: Mapping[Any, Node],
        results: Iterable[Node],
        states: Iterable[tuple[Cell, Node, Node]] = (),
    ) -> None:
        """Write a graph from named inputs and states to results."""
        for name, node in inputs.items():
            self.entry(f"input {name}", node)
        ends = list(results)
        for cell, before, after in states:
            self.entry(f"state {cell.name} {_array(cell.initial)}", before)
            ends.append(after)
        self.baked = True
        for node in sorted(ancestors(ends), key=lambda node: node.serial):
            if node not in self.numbers:
                self.node(node)
            elif isinstance(node, Data):  # data of the model, whose value is an argument there
                self.lines.append(f"value {self.reference(node)} {_array(node.value)}")
        self.baked = False
        self.lines.append(f"ends {','.join(map(self.reference, ends))}")

    def entry(self, label: str, node: Node) -> None:
        self.numbers.setdefault(node, len(self.numbers))
        self.lines.append(f"{label} {self.reference(node)} {node.shape} {node.dtype}")

    def step(self, graph: StepGraph) -> None:
        states = [(cell, node, graph.latest[cell]) for cell, node in graph.entered.items()]
        self.graph(graph.inputs, graph.results, states)
        self.lines.append(f"records {', '.join(graph.session.records)}")

    def around(self, program: Program) -> None:
        """Write the sampler, the observables and the averages."""
        sampler, kernel, observed = program.sampler, program.kernel, program.observed
        if isinstance(kernel, StagedKernel):
            self.lines.append(f"sampler {', '.join(tuned_names(sampler))}")
            for graph in kernel.graphs:
                self.step(graph)
        else:
            kind, *structure = sampler.structure()
            self.lines.append(f"sampler {self.function(kind)} {self.value(structure)}")
            self.lines.append(f"records {', '.join(s.name for s in kernel.statistics)}")
        if observed is not None:
            self.graph(observed.inputs, observed.results)
        counted = ", ".join(s.name for s in program.counted)
        rows = program.most_rows
        self.lines.append(f"records {len(program.statistics)} counts {counted} rows {rows}")
        if program.maps_jointly:
            self.lines.append("maps jointly")
        if program.row_blocks is not None:
            self.lines.append(program.row_blocks.text)
        self.lines.append(f"averages {program.running.text()}")


def identity(program: Program) -> Hashable:
    """A key for the programs of a model.

    It is made of the graphs of the sampler and the observables.
    """
    writer = _Writer(opaque=True)
    writer.around(program)
    return "\n".join(writer.lines), tuple(map(identity_of, writer.objects))


def program_text(program: Program) -> str:
    """The text of a program for the record.

    It names functions of users by module and name instead of refusing them.
    """
    writer = _Writer(opaque=True)
    _write(program, writer)
    names = [
        f"{getattr(obj, '__module__', '')}.{getattr(obj, '__qualname__', type(obj).__qualname__)}"
        for obj in writer.objects
    ]
    return "\n".join([str(program.dtype), *writer.lines, *names])


def fingerprint(program: Program, batch: int | None) -> str | None:
    """The text by which a program is looked up, or None."""
    writer = _Writer()
    try:
        _write(program, writer)
    except _Opaque:
        return None
    capacities = [program.model.capacity.of(loop) for loop in program.loops]
    head = [_package_digest(), str(program.dtype), str(batch), str(capacities)]
    return "\n".join([*head, *writer.lines])


def _write(program: Program, writer: _Writer) -> None:
    model = program.model
    roots = [*model.component.nodes, *program.targets, *model.arguments]
    for term in model.density.terms:
        roots += [term.node, *term.forms.values()]
    nodes = sorted(dict.fromkeys(ancestors(roots)), key=lambda node: node.serial)
    for node in nodes:
        writer.node(node)
    for term in model.density.terms:
        writer.term(term)
    for density in (model.density, *(() if model.batch is None else model.batch.densities)):
        for form in () if density.batches is None else density.batches.compressed:
            writer.lines.append(writer.compressed(form))
    for group in (model.component.unknowns, program.targets, model.arguments):
        writer.lines.append(",".join(map(writer.reference, group)))
    if program.varied:
        writer.lines.append(f"varied {','.join(map(writer.reference, program.varied))}")
    if model.batch is not None:
        rows, *settings = model.batch.settings
        writer.lines.append(f"batch {[writer.reference(node) for node in rows]} {settings}")
    writer.around(program)
