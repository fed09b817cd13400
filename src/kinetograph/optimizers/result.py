"""The result of `kg.opt`: the optimum and its standard errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.public import public
from ..graph.suggestions import did_you_mean
from ..models.model import Model
from ..models.result_groups import as_group

__all__ = ["ConvergenceWarning", "Optimum", "standard_errors"]

_ROWS = 30


class ConvergenceWarning(KinetographWarning):
    """The result of an optimiser may not be a minimum."""


@public
@dataclass(frozen=True, repr=False, eq=False)
class Optimum:
    """The result of `kg.opt`; prints as a table.

    `optimum["theta"]` is a target or an unknown by name. An optimum can be the `initial` of
    `kg.mcmc` and `kg.opt`.

    Attributes
    ----------
    values
        The values of all unknowns by name, on their constrained scale.
    targets
        The values of the model's targets by name.
    value
        The objective: the negative log density, with the log Jacobian of the transforms if
        `adjusted`.
    converged
        Whether the last change of the objective and the norm of its gradient were small enough.
    message
        The reason for which the search ended.
    iterations, evaluations
        The numbers of iterations and of evaluations of objective and gradient.
    gradient_norm
        The Euclidean norm of the gradient of the objective, on the free scale.
    free
        The free state.
    adjusted
        Whether the objective includes the log Jacobian (the argument `adjust`).
    reached
        The objective reached from each start; `value` is the smallest of these.
    optimizer
        The name of the optimiser.
    seed
        The seed of the random starting points.
    hessian
        The second derivatives of the objective with respect to the free state, shape
        (free_size, free_size); None without `hessian=True`.
    standard_errors
        For each unknown and target by name, the square roots of the diagonal of J H^-1 J', with J
        its derivative by the free state and H the Hessian. With adjust=False they are the classical
        standard errors of maximum likelihood, otherwise standard deviations of the Laplace
        approximation. NaN if H is not positive definite; None without `hessian=True`.
    model
        The model.
    """

    values: dict[str, np.ndarray]
    targets: dict[str, np.ndarray]
    value: float
    converged: bool
    message: str
    iterations: int
    evaluations: int
    gradient_norm: float
    free: np.ndarray
    adjusted: bool
    reached: np.ndarray
    optimizer: str
    seed: int
    # May be None; `Any` saves users of type checkers a test for it.
    hessian: np.ndarray | Any
    standard_errors: dict[str, np.ndarray] | Any
    model: Model

    def __getitem__(self, name: str) -> np.ndarray:
        for values in (self.targets, self.values):
            if name in values:
                return values[name]
        names = dict.fromkeys([*self.targets, *self.values])
        raise KeyError(
            f"{name!r} is neither a target nor an unknown; there are {', '.join(names)}"
            f"{did_you_mean(name, names)}"
        )

    def to_dataset(self) -> Any:
        """The targets as an `xarray.Dataset` with the model's dimensions and labels."""
        nodes = dict(zip(self.model.target_names, self.model.targets, strict=True))
        return as_group(self.model, {n: (nodes[n], v) for n, v in self.targets.items()})

    def __repr__(self) -> str:
        label = "log density on the free scale" if self.adjusted else "log density"
        starts = f", the best of {len(self.reached)} starts" if len(self.reached) > 1 else ""
        lines = [
            f"{self.optimizer}{starts}: {self.message}",
            f"{label} {-self.value:.6g}, gradient norm {self.gradient_norm:.2g}, "
            f"{self.iterations} iterations, {self.evaluations} evaluations",
        ]
        dataset = self.to_dataset()
        cells = [["", "value"] + (["standard error"] if self.standard_errors else [])]
        for name, value in self.targets.items():
            errors = self.standard_errors[name] if self.standard_errors else None
            for index, row in zip(np.ndindex(*value.shape), _names(name, dataset[name])):
                if len(cells) <= _ROWS:
                    error = [] if errors is None else [f"{errors[index]:.4g}"]
                    cells.append([row, f"{value[index]:.6g}", *error])
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        for first, *numbers in cells:
            shown = [number.rjust(w) for number, w in zip(numbers, widths[1:])]
            lines.append("  ".join([first.ljust(widths[0]), *shown]))
        omitted = sum(value.size for value in self.targets.values()) - len(cells) + 1
        return "\n".join(lines + ([f"... and {omitted} more"] if omitted else []))


def _names(name: str, variable: Any) -> list[str]:
    """The names of the elements of a variable, such as `theta[A]`."""
    labels = [variable.coords[dim].values for dim in variable.dims]
    if not labels:
        return [name]
    return [
        f"{name}[{', '.join(str(axis[i]) for axis, i in zip(labels, place))}]"
        for place in np.ndindex(*variable.shape)
    ]


def standard_errors(
    hessian: np.ndarray, slopes: Mapping[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], bool]:
    """The square roots of the diagonals of J H^-1 J'.

    The matrices J are `slopes`. Also returns whether the Hessian H is positive definite; if not,
    the roots are NaN.
    """
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return {name: np.full(j.shape[:-1], np.nan) for name, j in slopes.items()}, False
    errors = {}
    for name, j in slopes.items():
        rows = np.linalg.solve(factor, j.reshape(-1, j.shape[-1]).T)
        errors[name] = np.sqrt(np.sum(rows * rows, 0)).reshape(j.shape[:-1])
    return errors, True
