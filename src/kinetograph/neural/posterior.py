"""The posterior of a network: a model of one vector of parameters."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.inputs import data
from ..graph.public import public
from ..models.jax_model import jax_model
from ..models.minibatch import in_batches
from ..models.model import Model
from .losses import check_labels, check_outputs, check_widths
from .losses import loss as as_loss
from .network import as_network
from .parameters import ParameterLayout

__all__ = ["Prior", "check_prior", "log_prior_of", "posterior", "posterior_scale", "scale_factor"]

Prior = float | Callable[[Any], Any] | None


@public
def posterior(
    network: Any,
    layout: ParameterLayout,
    loss: Any,
    x: Any,
    y: Any,
    *,
    prior: Prior = 1.0,
    scale: str | float = "sum",
) -> Model:
    """Make a model of the parameters of a network.

        log p(w) = -s / n sum_i loss(outputs(w, x_i), y_i) + log prior(w)

    with s = n for "sum", 1 for "mean", or any number. With minus log likelihoods as losses, "sum"
    is the posterior of the parameters. With "mean", a sampler's inverse temperature of n / T gives
    the same density at temperature T, with a prior of 1 / n of the logarithm.

    Parameters
    ----------
    network, layout
        The network, anything that `kg.neural.network` takes, and the layout of its parameters.
    loss
        The loss of a row: a name, a `kg.neural.Loss`, or a JAX function of outputs and label.
    x, y
        Inputs and labels, with one row for each datum. They are the data `x` and `y` of the model:
        `model.set_data(x=..., y=...)` replaces them, without another compilation if shapes agree.
    prior
        The standard deviation of a normal prior, a JAX function of the tree of parameters that
        returns the log density, or None for a flat prior.
    scale
        "sum", "mean" or a positive number.

    Returns
    -------
    Model
        Of one unknown, `parameters`, the vector of the free parameters. With a network that has
        dropout, each step of a sampler has random units, a batch of all rows; other functions of
        the model are without dropout.

    Raises
    ------
    ValueError
        If the scale or the prior is out of its range, or the activation of the outputs does not fit
        the loss.
    DataError
        If the loss is not made for a label.
    ModelError
        If inputs and labels have different numbers of rows.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([2], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> kg.neural.posterior(network, layout, "mean_squared", x, x**2).free_size
    7
    """
    network, row_loss = as_network(network, "posterior"), as_loss(loss, "posterior")
    check_outputs(row_loss, network.output_activation, "posterior")
    check_labels(row_loss, y, "posterior")
    if not isinstance(x, Array):
        start = layout.tree(np.zeros(layout.size, np.float32))
        check_widths(row_loss, lambda: network.row(start, np.asarray(x)[0]), y, "posterior")
    count = len(x)
    factor = scale_factor(scale, count)

    def tree(free: Any) -> Any:
        return layout.tree(layout.filled(free["parameters"]))

    of_free = log_prior_of(prior, lambda w: layout.tree(layout.filled(w)))

    def log_prior(free: Any) -> Any:
        return of_free(free["parameters"])

    def log_likelihood(free: Any, rows: Any, labels: Any, *words: Any) -> Any:
        w = tree(free)
        outputs = network.noisy_outputs(w, rows, *words) if words else network.outputs(w, rows)
        return -factor * jax.vmap(row_loss.function)(outputs, labels)

    like = {"parameters": np.zeros(len(layout.free))}
    named = {"x": x, "y": y}
    if network.noise is not None:
        named[network.noise] = np.zeros(count, np.int64)
    rows = [v if isinstance(v, Array) else data(v, name) for name, v in named.items()]
    model = jax_model(log_prior, like, log_likelihood=log_likelihood, rows=rows, batched=True)
    if network.noise is None:
        return model
    nodes: Any = tuple(row.node for row in rows)
    return in_batches(model, nodes, count, "cyclic", False, None, False, network.noise)


def check_prior(prior: Any) -> None:
    """Refuse a value that is not a prior.

    Raises
    ------
    ValueError
        If it is not a positive number, a function or None.
    """
    if prior is None or callable(prior):
        return
    is_number = isinstance(prior, (int, float, np.number)) or np.ndim(prior) == 0
    is_text = isinstance(prior, (str, bytes, bool))
    if is_text or not is_number or not 0 < float(prior) < np.inf:
        raise ValueError(
            "prior: expected a positive standard deviation of a normal prior, a JAX function of "
            "the tree of parameters that returns the log density, or None for a flat prior, got "
            f"{prior!r:.60}"
        )


def log_prior_of(prior: Prior, tree: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The log prior of a vector, whose parameters are `tree` of it."""
    check_prior(prior)
    if prior is None:
        return lambda w: jnp.zeros((), w.dtype)
    if callable(prior):
        return lambda w: prior(tree(w))
    sd = float(prior)
    log_norm = np.log(sd * np.sqrt(2 * np.pi))
    return lambda w: -0.5 * jnp.sum((w / sd) ** 2) - w.size * log_norm


def scale_factor(scale: str | float, count: int) -> float:
    """The factor s / n of the loss of a row."""
    if scale == "sum":
        return 1.0
    if scale == "mean":
        return 1.0 / count
    if isinstance(scale, str) or not scale > 0:
        raise ValueError(f"scale must be 'sum', 'mean' or a positive number, got {scale!r}")
    return float(scale) / count


@public
def posterior_scale(count: int, temperature: float = 1.0) -> tuple[float, float]:
    """Inverse temperature and prior factor for a mean loss.

        exp(-beta (mean loss - log prior / n)) = exp(-(sum of losses - log prior) / T)

    with beta = n / T.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.neural.posterior_scale(200, 2.0)
    (100.0, 0.005)
    """
    if count < 1 or not temperature > 0:
        raise ValueError(
            f"posterior_scale: expected a positive number of rows and a positive temperature, got "
            f"{count} and {temperature}"
        )
    return count / temperature, 1.0 / count
