"""The tables of an `Analysis`, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .averages import parameter_averages
from .chains import convergence
from .free_energies import level_free_energy

if TYPE_CHECKING:
    from .trajectory import Analysis

__all__ = ["TABLES"]

Columns = dict[str, np.ndarray]


def _matrix(study: "Analysis", matrix: np.ndarray, prefix: str = "") -> Columns:
    """Columns of a matrix with a row for each parameter."""
    heads = [f"{prefix}{i}" for i in range(matrix.shape[1])] if prefix else study.names
    return {"parameter": np.array(study.names)} | dict(zip(heads or [], matrix.T, strict=True))


def _row_ids(study: "Analysis") -> Columns:
    """The chain and the draw of each row."""
    chains, length = study.draws.shape[:2]
    draw = study.drop + study.every * np.arange(length)
    return {"id": np.repeat(np.arange(chains), length), "draw": np.tile(draw, chains)}


def _eigenvalues(study: "Analysis") -> Columns:
    values = study.eigenpairs.values
    return {"index": np.arange(len(values)), "eigenvalue": values}


def _eigenvector_times(study: "Analysis") -> Columns:
    return study.autocorrelation_times(study.eigenpairs.vectors)


def _map(study: "Analysis") -> Columns:
    result = study.diffusion_map
    return {
        "index": np.arange(1, len(result.eigenvalues) + 1),
        "eigenvalue": result.eigenvalues,
        "rate": result.rates(inverse_temperature=study.inverse_temperature),
        "epsilon": np.full(len(result.eigenvalues), result.epsilon),
    }


def _coordinates(study: "Analysis") -> Columns:
    coordinates = study.diffusion_map.coordinates.T
    named = {f"coordinate{m}": values for m, values in enumerate(coordinates, 1)}
    labels = study.level_sets.labels
    return _row_ids(study) | named | {"level_set": labels}


def _landmarks(study: "Analysis") -> Columns:
    indices = study.landmarks
    ids = {name: values[indices] for name, values in _row_ids(study).items()}
    points = study.draws.reshape(-1, study.draws.shape[2])[indices]
    return ids | dict(zip(study.names or [], points.T, strict=True))


def _levels(study: "Analysis") -> Columns:
    beta = study.inverse_temperature
    columns = level_free_energy(study.level_sets, beta).columns()
    return columns | {"points": study.level_sets.counts}


TABLES: dict[str, Callable[["Analysis"], Columns]] = {
    "averages": lambda study: study.averages,
    "parameters": lambda study: parameter_averages(study.draws, names=study.names),
    "convergence": lambda study: convergence(study.draws, names=study.names),
    "covariance": lambda study: _matrix(study, study.covariance),
    "eigenvalues": _eigenvalues,
    "eigenvectors": lambda study: _matrix(study, study.eigenpairs.vectors, "vector"),
    "autocorrelation": lambda study: study.autocorrelation_times(),
    "eigenvector_autocorrelation": _eigenvector_times,
    "diffusion_map": _map,
    "diffusion_coordinates": _coordinates,
    "landmarks": _landmarks,
    "free_energy": lambda study: study.free_energy.columns(),
    "level_free_energy": _levels,
}
