"""Models: log densities on a vector of free numbers."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from ..graph.array import Array
from ..graph.compiling.serialise import graph_from_bytes, graph_to_bytes
from ..graph.errors import ShapeError
from ..graph.messages import names_in_scope
from ..graph.node import Data, Node
from ..graph.public import public
from ..graph.saving.document import decode, encode
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from .axes import axes_of
from .batch import RowBatch
from .checks import (
    check_lengths,
    check_names,
    check_nodes,
    no_model,
)
from .density import Density
from .dims import check_codes, collect_coords, labels_of_parts, whole
from .discovery import Component
from .labels import axis_names, check_coords, check_given_coords
from .log_density import LogDensity
from .marginal.marginal import sum_out
from .missing import labels_of_rows
from .names import assign_names
from .term import Term

if TYPE_CHECKING:
    from ..graph.drawing.drawing import Drawing
    from .debug import DebugReport

__all__ = ["Model", "check_model"]


@public
class Model(LogDensity):
    """A log density on a vector of free numbers; made by `kg.model`.

    Attributes
    ----------
    names
        The names of all unknowns, in the order of the free state.
    free_size
        The length of the free state.
    fixed
        The unknowns whose values `kg.condition` or `kg.do` has set.
    batch
        The batch of rows that samplers use, if `kg.minibatch` made the model; otherwise None.
    """

    def __init__(
        self,
        targets: dict[Node, str],
        factors: Sequence[Node],
        component: Component,
        coords: Mapping[str, Any],
        names: dict[Node, str] | None = None,
        batch: tuple[Any, ...] | None = None,
        values: Mapping[Node, np.ndarray] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.variables: dict[Node, str] = {}  # names of further arrays of a model function
        self.values.update(values)
        self._made_of = targets, tuple(factors), check_given_coords(coords)
        self.targets = tuple(targets)
        self.component = component
        self.observed = tuple(dict.fromkeys(component.observed))
        self.fixed = tuple(component.fixed)
        data = [n for n in component.nodes if isinstance(n, Data) and not n.literal]
        unknowns = [*component.unknowns, *component.discrete]
        named = dict.fromkeys([*targets, *unknowns, *self.fixed, *data, *self.observed])
        names = assign_names(named, targets) if names is None else names
        self._node_names = names
        for unknown in unknowns:
            unknown.called.add(names[unknown])
        with_priors = [*unknowns, *(v for v in self.fixed if v not in component.cut)]
        nodes = [v.distribution for v in with_priors if v.distribution is not None]
        nodes += component.likelihoods
        with self.its_values():
            stated = (*nodes, *component.factors, *factors)
            # Terms without elements are left out: with a parameter that overflows, such a term
            # would be 0 times infinity.
            terms = [Term(node) for node in stated if node.size]
            self.density = Density(component.unknowns, sum_out(component.discrete, terms))
        check_nodes(self.density)
        self.data = tuple(dict.fromkeys([*data, *self.observed]))
        self.target_names = tuple(names[node] for node in targets)
        self.names = tuple(names[v] for v in component.unknowns)
        self.free_size = self.density.free_size
        self._axes = axes_of([*self.targets, *self.data, *self.fixed, *component.nodes])
        self.coords = self._labels(self.data, check_coords(coords))
        check_names(self)
        with self.its_values():
            self.batch = None if batch is None else RowBatch(self.density, *batch)

    @property
    def known_as(self) -> dict[int, str]:
        """The names of this model's and other arrays in scope, for `describe`."""
        names = names_in_scope()
        for node, name in self.variables.items():
            names.setdefault(id(node), name)
        names.update((id(node), name) for node, name in self._node_names.items())
        return names

    def name(self, node: Node) -> str:
        """The name of a target, unknown or data array."""
        return self._node_names[node]

    def __getitem__(self, name: str) -> Array:
        """The array with a name in this model.

        It is a target, an unknown, data, or a variable of a model function.
        """
        node_by_name = {
            node_name: node for node, node_name in (self.variables | self._node_names).items()
        }
        if name not in node_by_name:
            hint = did_you_mean(name, node_by_name)
            if not hint and not self.variables and str(name).isidentifier():
                hint = f"; to name another array, write kg.model(..., {name}={name})"
            raise KeyError(
                f"the model has no array {name!r}{place_text()}; its arrays are: "
                f"{', '.join(node_by_name)}{hint}"
            )
        return Array(node_by_name[name])

    def dims(self, node: Node) -> tuple[str | None, ...]:
        """The dims of a target, unknown or data array."""
        return whole(self._axes[node])

    def axes(self, node: Node) -> tuple[str, ...]:
        """Names, in results, of the axes of a target or data array."""
        return axis_names(self.name(node), self._axes[node])

    def _labels(self, data: Iterable[Node], given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The labels of all axes, from the given data and the unknowns."""
        in_use = {dim for axes in self._axes.values() for dim in whole(axes)}
        unknowns = (*self.component.unknowns, *self.component.discrete, *self.fixed)
        in_parts, row_labels = labels_of_rows(data, given)
        coords = check_coords(collect_coords([*data, *unknowns], given, in_use))
        check_lengths(self, coords, in_use | in_parts)
        check_codes("", self._axes, coords)
        coords |= {dim: labels for dim, labels in row_labels.items() if dim in in_use}
        coords = {dim: labels for dim, labels in coords.items() if dim in in_use}
        members = ((self._axes[n], self.axes(n)) for n in (*self.targets, *self.data))
        return coords | labels_of_parts(members, coords)

    @property
    def factors(self) -> tuple[Node, ...]:
        """The terms of the log density that belong to no distribution."""
        return (*self.component.factors, *self._made_of[1])

    def __enter__(self) -> Never:
        raise TypeError(
            f"a model does not begin a `with` block{place_text()}; write the lines of the model "
            "without `with`, and model = kg.model(...) of the arrays after them"
        )

    def __exit__(self, *error: object) -> None:
        """Do nothing; `__enter__` has raised an error."""

    def debug(self, point: Any = None) -> "DebugReport":
        """Evaluate the model node by node, and find the first non-finite value.

        Parameters
        ----------
        point
            A free state, or a dictionary of values of all unknowns; by default the free state 0.

        Returns
        -------
        Report
            Prints as a table of the terms of the log density with their source lines.
        """
        from .debug import report

        if point is None:
            free = np.zeros(self.free_size)
        else:
            free = self._check_free(point)
        if free.ndim > 1:
            raise ShapeError(f"debug takes one point, got shape {free.shape}")
        with self.its_values():
            return report(self, free)

    def set_data(self, values: Any = MappingProxyType({}), /, **named: Any) -> None:
        """Change the values of this model's data, without recompiling if shapes stay.

        All later calls use the new values: `kg.mcmc`, `log_prob`, `kg.predict`,
        `kg.log_likelihood`. Arrays that were computed from data when they were observed, such as
        `y[1:]`, follow when y is given. Compiled programs are reused. They are compiled again only
        if the values affect the program: counts above 10000 need other sums, and a normal
        likelihood with another design may cost less in another form.

        If the lengths of data change, all that depends on them is rebuilt once, with a warning:
        expressions, derivatives, branches, loops over rows (`kg.scan`, `kg.vmap`), batches of
        `kg.minibatch`, and unknowns whose distribution follows from the data. Such an unknown is
        replaced by one of the same name, `model["name"]`. A number that was computed from the old
        length outside the graph, such as `len(y)`, is part of the program and does not change: make
        such a model in a function, and call it again.

        The data arrays themselves, and other models that use them, do not change. Neither do
        numbers that were computed from data outside kinetograph, such as a mean in a prior, and
        functions that JAX has already compiled around a `potential()`.

        Parameters
        ----------
        values, **named
            Arrays by the names of data in this model, or in a dictionary by name or by array. Data
            that are not given keep their values.

        Raises
        ------
        ModelError
            If a key is not data of this model, or if the model depends on the old values in a way
            that the new values do not allow: it selected the true elements of a mask. If data
            change their length, and an operation used the length as a number, such as the end of a
            slice, or is a loop that is not one over rows.
        ShapeError
            If data of other lengths do not fit together, or have another number of axes, or an
            index falls outside its axis.
        DataError
            If values are missing, not numeric, or outside the support of a distribution.
        ValueError
            If a parameter of a distribution lies outside its range.
        TypeError
            If the data must be whole numbers, and the new values are not.

        Notes
        -----
        To predict at data of another length, write the expression with new data and give it to
        `kg.predict`, or use `kg.calculate`.

        Examples
        --------
        >>> import kinetograph as kg
        >>> mu = kg.normal(0, 1, name="mu")
        >>> y = kg.observe([1.0, 2.0], kg.normal(mu, 1), name="y")
        >>> model = kg.model(mu)
        >>> for data in ([1.0, 2.0], [0.0, 1.0]):
        ...     model.set_data(y=data)
        ...     print(model.log_prob([0.0]).round(4))
        -5.2568
        -3.2568
        """
        from .data_replacement import replace_data

        replace_data(self, values, named)

    def plot(self, collapse: bool = True) -> "Drawing":
        """The drawing of the model as text, Mermaid, DOT or SVG.

        See `kg.draw_graph`.

        Parameters
        ----------
        collapse
            Fold unnamed operations between named arrays into one expression.
        """
        from .drawing import draw_model

        return draw_model(self, collapse)

    def _data_hint(self, key: Any, names: Iterable[str]) -> str:
        """Advice on a name that is not data of the model."""
        return did_you_mean(key, names) or (
            "; a NumPy array in an expression is constant: before it, make the array data by "
            "kg.data(array, name=...)"
        )

    def _prior_hint(self, name: str, example: str) -> str:
        """Advice on an unknown whose prior is flat."""
        return f"Use a distribution in its place, such as {example}"

    def _check_data(self, doing: str, results: Any) -> None:
        """Raise DataError if the unknowns of results mean something else."""

    def _seen_by(self, *batch: Any) -> "Model":
        """This model with batches of rows for samplers; `batch` are `RowBatch` arguments."""
        targets, factors, coords = self._made_of
        parts = targets, factors, self.component, coords, self._node_names, batch
        return Model(*parts, self._given_values())

    def _given_values(self) -> dict[Node, np.ndarray]:
        """The values given to data and unknowns, without the derived arrays."""
        derived = set(self.density.derived)
        return {node: value for node, value in self.values.items() if node not in derived}

    # Copies and loaded models have the same names, but their own nodes.
    def content(self) -> Any:
        """All parts of the model, for copies and files."""
        targets, factors, coords = self._made_of
        names = list(self._node_names.items())
        batch = None if self.batch is None else self.batch.settings
        values = list(self._given_values().items())
        parts = vars(self.component), names, list(coords.items()), batch, values
        return list(targets.items()), factors, *parts

    @classmethod
    def of_content(cls, content: Any) -> "Model":
        """The model made from the parts that `content` returns."""
        targets, factors, component, names, coords, batch, values = content
        arguments = dict(targets), factors, Component(**component), dict(coords), dict(names), batch
        return cls(*arguments, dict(values))

    def __reduce__(self) -> Any:
        return _loaded, (graph_to_bytes(self.content(), "pickling a model"),)

    def __deepcopy__(self, memo: Any) -> "Model":
        return Model.of_content(decode(encode(self.content(), foreign=True)))

    def __repr__(self) -> str:
        unknowns = ", ".join(
            f"{self.name(v)} {v.shape}" if v.shape else self.name(v)
            for v in self.component.unknowns
        )
        observed = ", ".join(f"{self.name(n)} {n.shape}" for n in self.observed) or "nothing"
        if self.fixed:
            observed += f"; fixed: {', '.join(map(self.name, self.fixed))}"
        batch = self.batch
        rows = "" if batch is None else f"; in batches of {batch.size} of {batch.count} rows"
        return (
            f"<model of {len(self.names)} unknowns, {self.free_size} free numbers: {unknowns}; "
            f"observed: {observed}; targets: {', '.join(self.target_names)}{rows}>"
        )

    def _repr_html_(self) -> str:
        from .html import model_html

        return model_html(self)


def _loaded(data: bytes) -> Model:
    """The model from the bytes of a pickle."""
    return Model.of_content(graph_from_bytes(data, "this model"))


def check_model(value: Any, doing: str, which: str = "first") -> None:
    """Raise TypeError if an argument is not a model.

    `doing` is the name of the user's function, `which` the position of the argument.
    """
    if not isinstance(value, Model):
        raise no_model(doing, value, which)
