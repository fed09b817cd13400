"""`kg.calculate`: values of arrays from given values, simulation or results."""

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
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import SuggestingDict, did_you_mean
from ..graph.value_texts import in_words, shown
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.discovery import unknowns_above
from ..models.missing import completed, missing_of
from ..models.recorded_distributions import warn_of_other_unknowns
from ..models.rewritten_model import Remaker
from ..results.check import opening_of
from ..runs.arguments import check_seed, check_whole
from .predicted_groups import as_group, tree_of
from .recorded_draws import Recorded, called_in, recorded
from .target_names import named_targets, names_of_unknowns

__all__ = ["calculate"]


@public
def calculate(
    *targets: Computed,
    values: Any = None,
    draws: int | None = None,
    seed: int | np.integer | None = None,
    **named: Computed,
) -> Any:
    """Compute the values of arrays from given values, simulation or results.

    | values | draws | result |
    |---|---|---|
    | of all unknowns, by name | None | the targets at these values: a dictionary of arrays |
    | None, or of some unknowns | n | n draws; all other unknowns are simulated: arrays (n, ...) |
    | results | None | the targets for each draw of the posterior: a DataTree |
    | results | n | the targets for n random draws; new unknowns are simulated: arrays (n, ...) |

    Parameters
    ----------
    *targets, **named
        Arrays to compute, under their own names or under the keywords.
    values
        A dictionary of values of unknowns or data, by name or by array (a single number fills the
        whole array; data may have other lengths); or results of `kg.mcmc` or another method.
        Results hold unknowns under the names that the fitted model gave them. An unknown that no
        model contains, as after the program has run again, takes the draws with its name.
    draws
        The number of draws.
    seed
        As for `kg.simulate`.

    Returns
    -------
    dict or xarray.DataTree
        For results without `draws` a tree with a group `posterior`, (chain, draw, *dims), which
        `kg.summary` and ArviZ accept.

    Raises
    ------
    ModelError
        If an unknown has no value; if a value belongs to no unknown and no data above the targets;
        if results lack an unknown that was inferred, or the variable of an unknown in the results
        is ambiguous; or if a target depends on none of the draws.
    ShapeError
        If an unknown's value has another shape, or data of other lengths do not fit together.
    ValueError
        If a value lies outside its unknown's support.
    TypeError
        If a target is not an array.

    Warns
    -----
    KinetographWarning
        If an unknown takes draws by its name, and the draws are of another distribution.

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
    target_names = named_targets("calculate", targets, named)
    if draws is not None:
        check_whole("calculate", {"draws": (draws, 1)})
    used = check_seed(seed, "calculate")
    above = _ancestors(target_names)
    if not (values is None or hasattr(values, "subtree") or isinstance(values, Mapping)):
        raise TypeError(
            "calculate: values must be a dictionary such as {'mu': 1.0}, or results of kg.mcmc; "
            f"got {in_words(values)}{place_text()}{opening_of(values)}"
        )
    if hasattr(values, "subtree"):
        return _from_results(target_names, above, values, draws, used)
    names = names_of_unknowns(above, target_names)
    given = _values_by_node(values or {}, names)
    reshaped: dict[Node, np.ndarray] = {
        n: v for n, v in given.items() if isinstance(n, Data) and v.shape != n.shape
    }
    if reshaped:
        target_names = _with_shapes(target_names, above, given, reshaped)
        given = {node: value for node, value in given.items() if node not in reshaped}
    program = plan("calculate", list(target_names), given, {}, names)
    if draws is None and program.drawn:
        drawn_names = ", ".join(names.get(d.node) or describe(d.node) for d in program.drawn)
        raise ModelError(
            f"calculate: no values are given for {drawn_names}{place_text()}; give them, as in "
            "values={...}, or give a number of draws to simulate them, as in draws=1000"
        )
    if draws is not None and not program.drawn and not program.given:
        raise ModelError(
            f"calculate: {', '.join(target_names.values())} depends on no unknown, so all draws "
            "would be the same; to draw the data that a model observes, use kg.simulate"
        )
    count = 1 if draws is None else int(draws)
    rows = [np.broadcast_to(given[n], (count, *given[n].shape)) for n in program.given]
    computed = run_rows(program, make_key(used, SIMULATION, 0), count, rows)
    return SuggestingDict(
        (name, value[0] if draws is None else value)
        for name, value in zip(target_names.values(), computed, strict=True)
    )


def _with_shapes(
    target_names: Mapping[Node, str],
    above: list[Node],
    given: Mapping[Node, np.ndarray],
    reshaped: Mapping[Node, np.ndarray],
) -> dict[Node, str]:
    """The targets, rebuilt for data with other shapes than in the graph."""
    replacements: dict[Node, Node] = {}
    for node, value in reshaped.items():
        data = replacements[node] = Data(value, node.name)
        data.dims = node.dims
    advice = "write the expression again with new kg.data"
    remake = Remaker("calculate", advice, replacements, [n for n in given if n not in reshaped])
    with with_values({n: v for n, v in given.items() if isinstance(n, Data) and n not in reshaped}):
        for node in above:
            if isinstance(node, Variable) and node not in given:
                remake.keep(node)
        return {remake(node): name for node, name in target_names.items()}


def _ancestors(targets: Mapping[Node, str]) -> list[Node]:
    """All nodes that the targets depend on."""
    unknowns: set[Node] = set()
    unknowns_above(targets, unknowns)
    return sorted({*unknowns, *ancestors(targets)}, key=lambda node: node.serial)


def _from_results(
    target_names: Mapping[Node, str],
    above: list[Node],
    results: Any,
    draws: int | None,
    seed: int,
) -> Any:
    """The targets for each draw of results, or for random draws."""
    names = names_of_unknowns([n for n in above if isinstance(n, Variable)], target_names)
    recorded_names = called_in(results, "calculate", names)
    posterior_draws = recorded(
        "calculate", results, recorded_names | _completed_names(results, above, recorded_names)
    )
    warn_of_other_unknowns("calculate", recorded_names, results)
    if draws is not None:
        posterior_draws = _random_rows(posterior_draws, int(draws), seed)
    missing = {n for n in recorded_names if n not in posterior_draws.values}
    program = plan("calculate", list(target_names), posterior_draws.values, {}, names, missing)
    if draws is None and program.drawn:
        drawn_names = ", ".join(names.get(d.node) or describe(d.node) for d in program.drawn)
        raise ModelError(
            f"calculate: {drawn_names} is not among the draws and would have to be simulated"
            f"{place_text()}; use kg.predict, or give draws="
        )
    if not program.given:
        raise ModelError(
            f"calculate: {', '.join(target_names.values())} depends on none of the draws, which "
            f"are of {', '.join(map(str, results['posterior'].data_vars))}{place_text()}"
        )
    rows = run_rows(
        program,
        make_key(seed, SIMULATION, 0),
        posterior_draws.count,
        posterior_draws.of(program.given),
    )
    if draws is not None:
        return dict(zip(target_names.values(), rows, strict=True))
    values = {
        name: (node, posterior_draws.by_chain(row))
        for (node, name), row in zip(target_names.items(), rows, strict=True)
    }
    posterior = results["posterior"]
    labels = {str(name): coord.values for name, coord in posterior.coords.items()}
    return tree_of({"posterior": as_group("calculate", values, ("chain", "draw"), labels)}, {})


def _completed_names(
    results: Any, above: Iterable[Node], recorded_names: Mapping[Node, str]
) -> dict[Node, str]:
    """Names, in results, of data whose missing values the model inferred."""
    inferred = {missing_of(node) for node in recorded_names}
    completed_data = {
        node: data for node in above if (data := completed(node)) in inferred and data
    }
    names = results["posterior"].data_vars
    return {node: data.label() for node, data in completed_data.items() if data.label() in names}


def _random_rows(posterior_draws: Recorded, count: int, seed: int) -> Recorded:
    """Random rows without repetition."""
    if count > posterior_draws.count:
        raise ValueError(
            f"calculate: draws={count}, but the results have only {posterior_draws.count} draws; "
            "ask for fewer, or sample more"
        )
    rows = np.random.default_rng(seed).permutation(posterior_draws.count)[:count]
    return Recorded({n: v[rows] for n, v in posterior_draws.values.items()}, (1, count))


def _values_by_node(values: Mapping[Any, Any], names: Mapping[Node, str]) -> dict[Node, np.ndarray]:
    """The given values by node, checked against names, shapes and supports."""
    by_name = {name: node for node, name in names.items()}
    given: dict[Node, np.ndarray] = {}
    for key, value in values.items():
        node = key.node if isinstance(key, Array) else by_name.get(key)
        if node is None or node not in names:
            key_text = describe(key.node) if isinstance(key, Array) else repr(key)
            raise ModelError(
                f"calculate: {key_text} is not an unknown or data that the targets depend on; "
                f"these are {', '.join(by_name) or 'none'}{place_text()}"
                f"{did_you_mean(key, by_name)}"
            )
        if node in given:
            raise ModelError(f"calculate: {names[node]} is given two values, by name and by array")
        given[node] = _as_node_value(names[node], node, value)
    with with_values({n: value for n, value in given.items() if isinstance(n, Data)}):
        for node, value in given.items():
            if isinstance(node, Variable) and not np.all(node.support.contains(value)):
                raise ValueError(
                    f"calculate: {names[node]} must be {node.support.describe()}, got "
                    f"{np.array2string(value, threshold=6)}"
                )
    return given


def _as_node_value(name: str, node: Node, value: Any) -> np.ndarray:
    """A value as an array with its node's dtype and shape."""
    refuse_masked(value, f"calculate: {name}")
    try:
        array = np.asarray(value)
        cast = array.real.astype(node.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            f"calculate: {name}: expected numbers, got {shown(value)}{place_text()}"
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
