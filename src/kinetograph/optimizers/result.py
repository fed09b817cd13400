"""What `kg.opt` gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.suggestions import meant
from ..models.groups import as_group
from ..models.model import Model

__all__ = ["ConvergenceWarning", "Optimum", "standard_errors"]

_ROWS = 30


class ConvergenceWarning(KinetographWarning):
    """What an optimiser has found is no minimum, or not known to be one."""


@dataclass(frozen=True, repr=False, eq=False)
class Optimum:
    """What `kg.opt` has found; prints as a table.

    `optimum["theta"]` is a target or an unknown by name. As `initial` of `kg.mcmc` or `kg.opt` it
    is where these start.

    Attributes
    ----------
    values
        The values of all unknowns by name, on their constrained scale.
    targets
        The values of the model's targets by name.
    value
        The objective: the negative log density, adjusted by the log Jacobian of the transforms
        or not.
    converged
        Whether the last change of the objective and the norm of its gradient were small enough.
    message
        Why the search ended, in words.
    iterations, evaluations
        Iterations made, and evaluations of objective and gradient.
    gradient_norm
        The Euclidean norm of the gradient of the objective, on the free scale.
    free
        The free state.
    adjusted
        Whether the objective was adjusted.
    reached
        The objective reached from each start; `value` is the least of these.
    optimizer
        The name of the optimiser.
    seed
        Repeats the random starting points.
    hessian
        The second derivatives of the objective with respect to the free state, shape
        (free_size, free_size); None if not asked for.
    standard_errors
        For each unknown and target by name, the square roots of the diagonal of J H^-1 J', with
        J its derivative by the free state and H the Hessian: for adjust=False the classical
        standard errors of maximum likelihood, else those of the Laplace approximation. NaN where
        H is not positive definite; None if the Hessian was not asked for.
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
    # None unless asked for, which type checkers do not know.
    hessian: np.ndarray | Any
    standard_errors: dict[str, np.ndarray] | Any
    model: Model

    def __getitem__(self, name: str) -> np.ndarray:
        for known in (self.targets, self.values):
            if name in known:
                return known[name]
        names = dict.fromkeys([*self.targets, *self.values])
        raise KeyError(
            f"{name!r} is no target and no unknown; there are {', '.join(names)}"
            f"{meant(name, names)}"
        )

    def to_dataset(self) -> Any:
        """The targets as an `xarray.Dataset`, with the dimensions and labels of the model."""
        nodes = dict(zip(self.model.target_names, self.model.targets, strict=True))
        return as_group(self.model, {n: (nodes[n], v) for n, v in self.targets.items()})

    def __repr__(self) -> str:
        what = "log density on the free scale" if self.adjusted else "log density"
        starts = f", the best of {len(self.reached)} starts" if len(self.reached) > 1 else ""
        lines = [
            f"{self.optimizer}{starts}: {self.message}",
            f"{what} {-self.value:.6g}, gradient norm {self.gradient_norm:.2g}, "
            f"{self.iterations} iterations, {self.evaluations} evaluations",
        ]
        dataset = self.to_dataset()
        cells = [["", "value"] + (["standard error"] if self.standard_errors else [])]
        for name, value in self.targets.items():
            errors = self.standard_errors[name] if self.standard_errors else None
            for place, row in zip(np.ndindex(*value.shape), _names(name, dataset[name])):
                if len(cells) <= _ROWS:
                    error = [] if errors is None else [f"{errors[place]:.4g}"]
                    cells.append([row, f"{value[place]:.6g}", *error])
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        for first, *numbers in cells:
            shown = [number.rjust(w) for number, w in zip(numbers, widths[1:])]
            lines.append("  ".join([first.ljust(widths[0]), *shown]))
        left = sum(value.size for value in self.targets.values()) - len(cells) + 1
        return "\n".join(lines + ([f"... and {left} more"] if left else []))


def _names(name: str, variable: Any) -> list[str]:
    """The name of each element: `theta[A]`."""
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
    """The roots of the diagonal of J H^-1 J' for each J, and whether H is positive definite."""
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return {name: np.full(j.shape[:-1], np.nan) for name, j in slopes.items()}, False
    errors = {}
    for name, j in slopes.items():
        rows = np.linalg.solve(factor, j.reshape(-1, j.shape[-1]).T)
        errors[name] = np.sqrt(np.sum(rows * rows, 0)).reshape(j.shape[:-1])
    return errors, True
