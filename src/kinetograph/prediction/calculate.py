"""`kg.calculate`: the values of any arrays, given values of others, draws, or results."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Variable
from ..graph.array import Array, Computed
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import describe
from ..graph.missing import refuse_masked
from ..graph.node import Data, Node, ancestors, with_values
from ..graph.source import place_text
from ..graph.suggestions import Named, meant
from ..graph.text import in_words
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.discovery import unknowns_above
from ..models.missing import completed, missing_of
from ..models.reshaped import Remaker
from ..runs.arguments import check_seed, check_whole
from .groups import as_group, tree_of
from .naming import named_targets, names_of_unknowns
from .recorded import Recorded, called_in, recorded

__all__ = ["calculate"]


def calculate(
    *targets: Computed,
    values: Any = None,
    draws: int | None = None,
    seed: int | np.integer | None = None,
    **named: Computed,
) -> Any:
    """The values of arrays: of what is computed, what is drawn, or what follows from a posterior.

    | values | draws | gives |
    |---|---|---|
    | by name | None | the targets, all unknowns having values: a dictionary of arrays |
    | None, or some by name | n | n draws of them through the graph, the rest drawn: (n, ...) |
    | results | None | the targets for each draw of the posterior: a DataTree |
    | results | n | the same of n rows of it taken at random, further unknowns drawn: (n, ...) |

    Parameters
    ----------
    *targets, **named
        Arrays, under their own names or those given by keyword.
    values
        A dictionary of values of unknowns or data, by name or by array (a single number stands for
        all elements; data may have other lengths); or results of `kg.mcmc` or another method, which
        hold unknowns under the names that their model gave them.
    draws
        How many.
    seed
        As for `kg.simulate`.

    Returns
    -------
    dict or xarray.DataTree
        Of results without `draws` a tree with a group `posterior`, (chain, draw, *dims), which
        `kg.summary` and ArviZ take as it is.

    Raises
    ------
    ModelError
        If unknowns are left without values, a value is none of an unknown or of data above the
        targets, results do not hold an unknown that was inferred, or do not tell which of their
        draws are its, or a target follows from none of them.
    ShapeError
        If an unknown's value has another shape, or data of other lengths do not fit together.
    ValueError
        If a value lies outside its unknown's support.
    TypeError
        If a target is no array.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0, 1, name="x")
    >>> float(kg.calculate(x**2, values={"x": 3.0}, square=x**2)["square"])
    9.0
    >>> kg.calculate(square=x**2, draws=5, seed=1)["square"].shape
    (5,)
    >>> y = kg.observe([1.0, 2.0], kg.normal(x, 1))
    >>> results = kg.mcmc(kg.model(x), seed=1, draws=500, progress=False)
    >>> kg.calculate(square=x**2, values=results)["posterior"]["square"].shape
    (4, 500)
    """
    wanted = named_targets("calculate", targets, named)
    if draws is not None:
        check_whole("calculate", {"draws": (draws, 1)})
    used = check_seed(seed, "calculate")
    above = _above(wanted)
    if not (values is None or hasattr(values, "subtree") or isinstance(values, Mapping)):
        raise TypeError(
            "calculate: values are a dictionary, as in values={'mu': 1.0}, or results of kg.mcmc; "
            f"got {in_words(values)}{place_text()}"
        )
    if hasattr(values, "subtree"):
        return _of_results(wanted, above, values, draws, used)
    names = names_of_unknowns(above, wanted)
    given = _checked(values or {}, names)
    others: dict[Node, np.ndarray] = {
        n: v for n, v in given.items() if isinstance(n, Data) and v.shape != n.shape
    }
    if others:
        wanted = _with_shapes(wanted, above, given, others)
        given = {node: value for node, value in given.items() if node not in others}
    program = plan("calculate", list(wanted), given, {}, names)
    if draws is None and program.drawn:
        left = ", ".join(names.get(d.node) or describe(d.node) for d in program.drawn)
        raise ModelError(
            f"calculate: no values are given for {left}{place_text()}; give them, as in "
            "values={...}, or say how many draws of them are wanted, as in draws=1000"
        )
    if draws is not None and not program.drawn and not program.given:
        raise ModelError(
            f"calculate: {', '.join(wanted.values())} follows from no unknown, and is the same in "
            "all draws; what a model observes is drawn by kg.simulate"
        )
    count = 1 if draws is None else int(draws)
    rows = [np.broadcast_to(given[n], (count, *given[n].shape)) for n in program.given]
    found = run_rows(program, make_key(used, SIMULATION, 0), count, rows)
    return Named(
        (name, value[0] if draws is None else value)
        for name, value in zip(wanted.values(), found, strict=True)
    )


def _with_shapes(
    wanted: Mapping[Node, str],
    above: list[Node],
    given: Mapping[Node, np.ndarray],
    others: Mapping[Node, np.ndarray],
) -> dict[Node, str]:
    """The targets for data of other shapes."""
    new: dict[Node, Node] = {}
    for node, value in others.items():
        made = new[node] = Data(value, node.name)
        made.dims = node.dims
    advice = "write the expression again with new kg.data"
    remake = Remaker("calculate", advice, new, [n for n in given if n not in others])
    with with_values({n: v for n, v in given.items() if isinstance(n, Data) and n not in others}):
        for node in above:
            if isinstance(node, Variable) and node not in given:
                remake.keep(node)
        return {remake(node): name for node, name in wanted.items()}


def _above(targets: Mapping[Node, str]) -> list[Node]:
    """All that the targets follow from."""
    seen: set[Node] = set()
    unknowns_above(targets, seen)
    return sorted({*seen, *ancestors(targets)}, key=lambda node: node.serial)


def _of_results(
    wanted: Mapping[Node, str],
    above: list[Node],
    results: Any,
    draws: int | None,
    seed: int,
) -> Any:
    """The targets for each draw, or for some."""
    names = names_of_unknowns([n for n in above if isinstance(n, Variable)], wanted)
    held = called_in(results, "calculate", names)
    known = recorded("calculate", results, held | _completed_in(results, above, held))
    if draws is not None:
        known = _some(known, int(draws), seed)
    missing = {n for n in held if n not in known.values}
    program = plan("calculate", list(wanted), known.values, {}, names, missing)
    if draws is None and program.drawn:
        left = ", ".join(names.get(d.node) or describe(d.node) for d in program.drawn)
        raise ModelError(
            f"calculate: {left} is not among the draws, and would have to be drawn itself"
            f"{place_text()}; kg.predict does so, or give draws="
        )
    if not program.given:
        raise ModelError(
            f"calculate: {', '.join(wanted.values())} follows from none of the draws, which are "
            f"of {', '.join(map(str, results['posterior'].data_vars))}{place_text()}"
        )
    rows = run_rows(program, make_key(seed, SIMULATION, 0), known.count, known.of(program.given))
    if draws is not None:
        return dict(zip(wanted.values(), rows, strict=True))
    values = {
        name: (node, known.by_chain(row))
        for (node, name), row in zip(wanted.items(), rows, strict=True)
    }
    posterior = results["posterior"]
    labels = {str(name): coord.values for name, coord in posterior.coords.items()}
    return tree_of({"posterior": as_group("calculate", values, ("chain", "draw"), labels)}, {})


def _completed_in(results: Any, above: Iterable[Node], held: Mapping[Node, str]) -> dict[Node, str]:
    """How results call data of which unknowns of theirs are what is missing."""
    inferred = {missing_of(node) for node in held}
    found = {node: data for node in above if (data := completed(node)) in inferred and data}
    names = results["posterior"].data_vars
    return {node: data.label() for node, data in found.items() if data.label() in names}


def _some(known: Recorded, count: int, seed: int) -> Recorded:
    """Rows taken at random, none twice."""
    if count > known.count:
        raise ValueError(
            f"calculate: draws={count} of results with {known.count} draws; take fewer, or sample "
            "more"
        )
    rows = np.random.default_rng(seed).permutation(known.count)[:count]
    return Recorded({n: v[rows] for n, v in known.values.items()}, (1, count))


def _checked(values: Mapping[Any, Any], names: Mapping[Node, str]) -> dict[Node, np.ndarray]:
    """The values by node."""
    by_name = {name: node for node, name in names.items()}
    given: dict[Node, np.ndarray] = {}
    for key, value in values.items():
        node = key.node if isinstance(key, Array) else by_name.get(key)
        if node is None or node not in names:
            what = describe(key.node) if isinstance(key, Array) else repr(key)
            raise ModelError(
                f"calculate: {what} is no unknown or data that the targets follow from; these are "
                f"{', '.join(by_name) or 'none'}{place_text()}{meant(key, by_name)}"
            )
        if node in given:
            raise ModelError(f"calculate: {names[node]} is given two values, by name and by array")
        given[node] = _fitted(names[node], node, value)
    with with_values({n: value for n, value in given.items() if isinstance(n, Data)}):
        for node, value in given.items():
            if isinstance(node, Variable) and not np.all(node.support.contains(value)):
                raise ValueError(
                    f"calculate: {names[node]} must be {node.support.describe()}, got "
                    f"{np.array2string(value, threshold=6)}"
                )
    return given


def _fitted(name: str, node: Node, value: Any) -> np.ndarray:
    refuse_masked(value, f"calculate: {name}")
    try:
        array = np.asarray(value)
        cast = array.real.astype(node.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            f"calculate: {name}: expected numbers, got {value!r:.60}{place_text()}"
        ) from None
    if not np.can_cast(array.dtype, node.dtype, "same_kind") and np.any(cast != array):
        raise TypeError(f"calculate: {name} is {node.dtype}, got {array.dtype}")
    if array.shape in ((), node.shape):
        return np.broadcast_to(cast, node.shape)
    if isinstance(node, Data) and array.ndim == len(node.shape):
        cast.setflags(write=False)
        return cast
    raise ShapeError(
        f"calculate: {name} has shape {node.shape}, got values of shape {array.shape}{place_text()}"
    )
