"""`kg.jax_model`: models of plain JAX functions."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.inputs import data
from ..graph.lift import lift
from ..graph.public import public
from ..graph.source import written_at
from .model import Model
from .model_of_targets import model
from .variables import variable

__all__ = ["jax_model"]


@public
def jax_model(
    log_density: Callable[[Any], Any],
    like: Any,
    *,
    log_likelihood: Callable[..., Any] | None = None,
    rows: Any = (),
    batched: bool = False,
) -> Model:
    """Make a model whose log density is a JAX function.

    The parameters may take any real value:

        log p(x) = log_density(x) + sum_i log_likelihood(x, row i)

    Use it for a network, a simulator, or an existing potential; `log_density` is minus the
    potential. The result is an ordinary model for `kg.mcmc`, `kg.chain`, `kg.opt` and
    `kg.minibatch`.

    Parameters
    ----------
    log_density
        A function of the parameters that returns one number. Together with `log_likelihood` it is
        the log prior.
    like
        An example of the parameters: an array, or any pytree of arrays. Only shapes and names are
        used. The keys of a dictionary are the names of the unknowns, nested keys joined by
        underscores; a single array is named `q`.
    log_likelihood
        A function of the parameters and one row of each array in `rows`; returns one number.
    rows
        The data: an array, or several arrays with the same number of rows.
    batched
        Whether `log_likelihood` takes all rows at once and returns one number for each row.

    Returns
    -------
    Model
        Its unknowns are in the order of `jax.tree.leaves(like)`. To start a chain from parameters
        use `initial=dict(zip(model.names, jax.tree.leaves(parameters)))`.

    Raises
    ------
    TypeError
        If a function is not callable, or parameters are not real numbers.
    ModelError
        If there are no parameters, or a function does not return one number.
    ShapeError
        If a function does not accept the parameters, or the data have different numbers of rows.

    Examples
    --------
    >>> import jax.numpy as jnp, kinetograph as kg
    >>> def log_density(x):
    ...     return -((x["a"] - 1.0) ** 2) - jnp.sum((x["b"] - x["a"]) ** 2)
    >>> model = kg.jax_model(log_density, {"a": 0.0, "b": jnp.zeros(2)})
    >>> model.names, model.free_size
    (('a', 'b'), 3)
    >>> tree = kg.mcmc(model, seed=1, progress=False)
    >>> bool(abs(tree["posterior"]["b"].mean() - 1.0) < 0.2)
    True
    """
    for role, function in (("log_density", log_density), ("log_likelihood", log_likelihood)):
        if function is not None and not callable(function):
            raise TypeError(f"jax_model: {role} must be a JAX function, got {function!r:.60}")
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    if not leaves:
        raise ModelError("jax_model: `like` holds no arrays, so that there is nothing to sample")
    unknowns = [_unknown(path, leaf) for path, leaf in leaves]
    parameters = jax.tree.unflatten(structure, unknowns)
    factors = [_term("log_density", log_density, lambda function: function, (parameters,), ())]
    arrays = [rows] if hasattr(rows, "shape") else list(rows)
    if bool(arrays) != (log_likelihood is not None):
        raise ModelError("jax_model: give both log_likelihood= and rows=, or neither")
    if log_likelihood is not None:
        row_arrays = [
            x if isinstance(x, Array) else data(x, f"rows_{i}") for i, x in enumerate(arrays)
        ]
        lengths = {x.shape[:1] for x in row_arrays}
        if len(lengths) != 1 or () in lengths:
            shapes = ", ".join(str(x.shape) for x in row_arrays)
            raise ModelError(f"jax_model: rows: arrays need the same number of rows, got {shapes}")

        def by_row(function: Callable[..., Any]) -> Callable[..., Any]:
            if batched:
                return function
            return jax.vmap(function, (None, *(0 for _ in row_arrays)))

        factors.append(
            _term("log_likelihood", log_likelihood, by_row, (parameters, *row_arrays), *lengths)
        )
    return model(*unknowns, factors=factors)


def _unknown(path: Any, leaf: Any) -> Array:
    """The unknown for a leaf of the parameters."""
    name = jax.tree_util.keystr(path, simple=True, separator="_") or "q"
    kind = np.dtype(getattr(leaf, "dtype", None) or np.asarray(leaf).dtype)
    if kind.kind not in "iuf":
        raise TypeError(f"jax_model: {name} must be real numbers, got {kind}")
    return variable(shape=np.shape(leaf), name=name)


def _term(
    role: str,
    function: Callable[..., Any],
    over: Callable[[Any], Any],
    arguments: tuple[Any, ...],
    shape: tuple[int, ...],
) -> Array:
    """The function as a term; `over` maps it over rows."""
    name = getattr(function, "__name__", role)

    def number(*inputs: Any) -> Any:
        value = function(*inputs)
        if not jax.tree_util.all_leaves([value]):
            return value  # a structure, which raises an error below
        value = jnp.asarray(value)
        return value if jnp.issubdtype(value.dtype, jnp.floating) else value.astype(float)

    number.__name__ = name
    term = lift(over(number))(*arguments)
    if not isinstance(term, Array) or term.shape != shape:
        is_array = isinstance(term, Array)
        got = f"an array of shape {term.shape[len(shape) :]}" if is_array else type(term).__name__
        raise ModelError(
            f"jax_model: {role}, {name}{written_at(function)}, must give one number, got {got}"
        )
    return term
