"""The loss of a network as a function of its free parameters.

Each function takes points of shape (..., size). They are computed in parts on the device, so that
the memory does not grow with the number of points.
"""

import copy
import re
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from ..graph.errors import ShapeError
from ..graph.memory_maps import kept_in_its_file
from ..graph.precision import float_dtype, x64
from ..graph.public import public
from ..models.model import Model
from .accuracy import accuracy_of
from .analysis.covariances import Eigenpairs, signed
from .analysis.inputs import numbers
from .batched import BatchedProgram
from .losses import check_labels, check_outputs, check_widths
from .losses import loss as as_loss
from .network import as_network
from .parameters import ParameterLayout
from .posterior import Prior, log_prior_of, posterior, scale_factor
from .row_values import RowValues
from .rows import check_array

__all__ = ["Landscape"]

DENSE = 500  # parameters up to which all eigenpairs are computed


@public
class Landscape:
    """The loss of a network and its derivatives at free parameters.

        loss(w)      = 1 / n sum_i loss(outputs(w, x_i), y_i)
        potential(w) = s / n sum_i loss(outputs(w, x_i), y_i) - log prior(w)

    The potential is minus the log density of `kg.neural.posterior` with the same arguments. By
    default it is the loss. Points have the shape (..., size): free parameters in the order of the
    layout, for any number of points. Programs are compiled when first used, for each power of two
    of points.

    Parameters
    ----------
    network, layout
        The network, anything that `kg.neural.network` takes, and the layout of its parameters.
    loss
        The loss of a row: a name, a `kg.neural.Loss`, or a JAX function of outputs and label.
    x, y
        Inputs and labels, with one row for each datum.
    prior
        The standard deviation of a normal prior, a JAX function of the tree of parameters that
        returns the log density, or None for a flat prior.
    scale
        "mean", "sum" or a positive number.

    Raises
    ------
    ShapeError
        If inputs and labels have different numbers of rows.
    DataError
        If the loss is not made for a label.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([2], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, np.sin(x))
    >>> w = np.full((3, 7), 0.1)
    >>> land.loss(w).shape, land.gradient(w).shape, land.hessian(w[0]).shape
    ((3,), (3, 7), (7, 7))
    """

    def __init__(
        self,
        network: Any,
        layout: ParameterLayout,
        loss: Any,
        x: Any,
        y: Any,
        *,
        prior: Prior = None,
        scale: str | float = "mean",
    ) -> None:
        self.network, self.layout = as_network(network, "Landscape"), layout
        self.row_loss, self.prior, self.scale = as_loss(loss, "Landscape"), prior, scale
        self.dtype = float_dtype()
        check_outputs(self.row_loss, self.network.output_activation, "Landscape")
        self._take(x, y)
        self.check_widths(y, "Landscape")

    def check_widths(self, y: Any, doing: str) -> None:
        """Refuse labels that do not fit the number of outputs."""
        tree = self.layout.tree(np.zeros(self.layout.size, self.dtype))
        check_widths(self.row_loss, lambda: self.network.row(tree, self.x[0]), y, doing)

    def _take(self, x: Any, y: Any) -> None:
        if len(x) != len(y) or not len(x):
            raise ShapeError(f"Landscape: got {len(x)} rows of inputs and {len(y)} labels")
        check_array(x, "Landscape: inputs")
        check_array(y, "Landscape: labels")
        check_labels(self.row_loss, y, "Landscape")
        self.x, self.y = (self._as_data(values) for values in (x, y))
        scale_factor(self.scale, len(x))  # raises for a wrong scale
        self._accuracy = accuracy_of(self.row_loss, self.y)

    def _as_data(self, values: Any) -> np.ndarray:
        """An array in the precision of the landscape.

        A memory map stays in its file.
        """
        array = values if kept_in_its_file(values) else np.asarray(values)
        return array.astype(self.dtype, copy=False) if array.dtype.kind == "f" else array

    def on(self, x: Any, y: Any) -> "Landscape":
        """The landscape of other data; programs are shared if shapes agree."""
        if np.shape(x)[1:] != self.x.shape[1:]:
            raise ShapeError(
                f"Landscape.on: expected rows of inputs, each of shape {self.x.shape[1:]}, got "
                f"shape {np.shape(x)}"
            )
        other = copy.copy(self)
        for name in ("model", "checksum"):
            other.__dict__.pop(name, None)
        other._take(x, y)
        if other._accuracy is not self._accuracy:
            for name in ("_functions", "row_values"):
                other.__dict__.pop(name, None)
        elif "row_values" in other.__dict__:
            other.__dict__["row_values"] = self.row_values.of(other)
        return other

    @property
    def size(self) -> int:
        """The number of free parameters."""
        return len(self.layout.free)

    @property
    def names(self) -> list[str]:
        """The names of the free parameters, such as weight0 and bias0."""
        return [self.layout.columns[i] for i in self.layout.free]

    @cached_property
    def model(self) -> Model:
        """The model whose log density is minus the potential."""
        return posterior(
            *(self.network, self.layout, self.row_loss, self.x, self.y),
            prior=self.prior,
            scale=self.scale,
        )

    @cached_property
    def checksum(self) -> str:
        """The checksum of the potential, a computation, and of the data."""
        network, like = self.network, np.zeros(self.size, self.dtype)
        functions = [(self._functions["potential"].function, (like, self.x, self.y))]
        if network.noise is not None:
            words = np.zeros(len(self.x), np.int64)
            noisy = lambda w, x, *words: network.noisy_outputs(self.layout.tree(w), x, *words)
            functions.append((noisy, (np.zeros(self.layout.size, self.dtype), self.x, words)))
        result = sha256()
        for function, values in functions:
            with x64():
                traced = jax.make_jaxpr(function)(*values)
            result.update(re.sub(r"0x[0-9a-f]+", "", str(traced)).encode())  # without addresses
            for each in (*traced.consts, *values):
                result.update(np.ascontiguousarray(each).reshape(-1).view(np.uint8))
        return result.hexdigest()

    @cached_property
    def row_values(self) -> RowValues:
        """Values on batches of rows, and of each row."""
        return RowValues(self)

    def loss(self, points: Any) -> np.ndarray:
        """The mean loss of points, (...)."""
        return self._values("loss", points)

    def accuracy(self, points: Any) -> np.ndarray:
        """The share of correct answers, (...); NaN for a regression."""
        return self._values("accuracy", points)

    def loss_and_accuracy(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """The mean loss and the accuracy of points, computed together."""
        values = self._values("both", points)
        return values[..., 0], values[..., 1]

    def potential(self, points: Any) -> np.ndarray:
        """The potential of points, (...)."""
        return self._values("potential", points)

    def gradient(self, points: Any) -> np.ndarray:
        """The gradients of the potential, (..., size)."""
        return self._values("gradient", points)

    def hessian(self, points: Any) -> np.ndarray:
        """The Hessians of the potential, (..., size, size)."""
        return self._values("hessian", points)

    def hessian_vector(self, points: Any, vectors: Any) -> np.ndarray:
        """The products of Hessians of the potential with vectors, (..., size).

        Points and vectors broadcast against each other.
        """
        if np.shape(vectors)[-1:] != (self.size,):
            raise ShapeError(
                f"hessian_vector: expected vectors of shape (..., {self.size}), the free "
                f"parameters, got {np.shape(vectors)}"
            )
        return self._values("hessian_vector", *np.broadcast_arrays(points, vectors))

    def outputs(self, points: Any, x: Any) -> np.ndarray:
        """The outputs for rows of inputs, (..., rows, width).

        Raises
        ------
        ShapeError
            If the rows do not have the shape of the rows of the data.
        """
        rows = np.asarray(x, self.dtype)
        if rows.shape[1:] != self.x.shape[1:] or not rows.ndim:
            raise ShapeError(
                f"Landscape.outputs: expected rows of inputs, each of shape {self.x.shape[1:]}, "
                f"got shape {rows.shape}"
            )
        return self._values("outputs", points, x=rows)

    def hessian_eigenpairs(self, point: Any, count: int = 1, which: str = "largest") -> Eigenpairs:
        """Extreme eigenvalues of the Hessian of the potential, and their eigenvectors.

        They are computed by Lanczos iterations of Hessian-vector products, or by a dense solver if
        there are few parameters.

        Parameters
        ----------
        point
            Free parameters, (size,).
        count
            The number of eigenpairs.
        which
            "largest" or "smallest".

        Returns
        -------
        Eigenpairs
            With `values` (count,) in descending order and `vectors` (size, count).

        Raises
        ------
        ValueError
            If count is not between 1 and the number of free parameters, or `which` is another word.
        """
        if which not in ("largest", "smallest") or not 1 <= count <= self.size:
            raise ValueError(
                "hessian_eigenpairs: expected which='largest' or 'smallest' and a count between 1 "
                f"and {self.size}, got {which!r} and {count!r}"
            )
        if self.size <= DENSE or count >= self.size - 1:
            values, vectors = np.linalg.eigh(self.hessian(point))
            part = slice(-count, None) if which == "largest" else slice(count)
            values, vectors = values[part], vectors[:, part]
        else:
            product = LinearOperator(
                (self.size, self.size),
                lambda v: self.hessian_vector(point, v.reshape(-1)),
                dtype=self.dtype,
            )
            start = np.random.default_rng(0).standard_normal(self.size)
            values, vectors = eigsh(product, count, which=which[0].upper() + "A", v0=start)
        order = np.argsort(-values, kind="stable")
        return Eigenpairs(values[order], signed(vectors[:, order]))

    @cached_property
    def _functions(self) -> dict[str, Any]:
        """Functions of one point, its vectors and the data, compiled for batches."""
        layout, network, row_loss = self.layout, self.network, self.row_loss
        rule = self._accuracy

        def tree(w: Any) -> Any:
            return layout.tree(layout.filled(w).astype(w.dtype))

        log_prior = log_prior_of(self.prior, tree)

        def mean(function: Callable[[Any, Any], Any] | None, w: Any, x: Any, y: Any) -> Any:
            if function is None:
                return jnp.full((), jnp.nan, w.dtype)
            return jnp.mean(jax.vmap(function)(network.outputs(tree(w), x), y), dtype=w.dtype)

        def potential(w: Any, x: Any, y: Any) -> Any:
            factor = scale_factor(self.scale, len(x)) * len(x)
            return factor * mean(row_loss.function, w, x, y) - log_prior(w)

        def both(w: Any, x: Any, y: Any) -> Any:
            return jnp.stack([mean(f, w, x, y) for f in (row_loss.function, rule)])

        def hessian_vector(w: Any, v: Any, x: Any, y: Any) -> Any:
            return jax.jvp(lambda w: jax.grad(potential)(w, x, y), (w,), (v,))[1]

        functions: dict[str, Callable[..., Any]] = {
            "loss": lambda w, x, y: mean(row_loss.function, w, x, y),
            "accuracy": lambda w, x, y: mean(rule, w, x, y),
            "both": both,
            "potential": potential,
            "gradient": jax.grad(potential),
            "hessian": jax.hessian(potential),
            "hessian_vector": hessian_vector,
            "outputs": lambda w, x, y: network.outputs(tree(w), x),
        }
        return {name: BatchedProgram(function) for name, function in functions.items()}

    def _values(self, name: str, *given: Any, x: Any = None) -> np.ndarray:
        """The values of a function at points, computed in parts."""
        points = [numbers(v, f"Landscape.{name}: points").astype(self.dtype) for v in given]
        if points[0].ndim == 0 or points[0].shape[-1] != self.size:
            raise ShapeError(
                f"Landscape.{name}: expected points of shape (..., {self.size}), the free "
                f"parameters, got {points[0].shape}"
            )
        shape = points[0].shape[:-1]
        rows = [values.reshape(-1, self.size) for values in points]
        with x64():
            results = self._functions[name](rows, (self.x if x is None else x, self.y))
        return results.reshape((*shape, *results.shape[1:]))
