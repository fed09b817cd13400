"""All analyses of one trajectory, each computed once, on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.public import public
from ..choice import chosen
from .autocorrelation import autocorrelation_times
from .averages import boltzmann_weights, parameter_averages, parameter_names, running_averages
from .covariances import Eigenpairs
from .covariances import covariance as covariance_of
from .covariances import eigenpairs as eigenpairs_of
from .diffusion import DiffusionMap
from .diffusion import diffusion_map as diffusion_map_of
from .files import chains_of, check_same_rows, read_table, write_table
from .free_energies import FreeEnergy
from .free_energies import free_energy as free_energy_of
from .inputs import as_draws, as_rows, tree_arrays
from .levels import LevelSets
from .levels import landmarks as landmarks_of
from .levels import level_sets as level_sets_of
from .sampled_density import (
    check_sampled,
    inverse_temperature_of,
    potential_of,
    settings_temperature,
    warn_of_batches,
)
from .tables import TABLES

__all__ = ["Analysis"]

Columns = dict[str, np.ndarray]
_ENERGIES = ("loss", "kinetic_energy", "total_energy", "potential")


@public
@dataclass(frozen=True, eq=False)
class Analysis:
    """A trajectory with its analyses, which are computed on demand and kept.

    The eigenvectors need the covariance, the landmarks need the diffusion map, and so on: each of
    them is computed once, and only if a result needs it.

    Attributes
    ----------
    draws
        Draws of shape (chain, draw, parameter).
    records
        Arrays of shape (chain, draw) by name, such as loss, kinetic_energy, total_energy.
    names
        The names of the parameters; c0, c1, ... by default.
    inverse_temperature
        The inverse temperature beta that was sampled. By default it is the record beta, or 1
        without this record. A value that differs from the record is an error.
    potential
        The name of the record U of the density exp(-beta U). By default it is `potential`, or if
        this record is missing, total_energy - kinetic_energy. The loss is U only without prior and
        with a scale of 1.
    drop, every
        How many rows of each chain are left out at its start, and which of the rest are used:
        rows drop, drop + every, ...
    steps
        The number of cut points of running averages.
    count
        The number of eigenpairs of the diffusion map.
    landmark_count
        The number of landmarks.
    estimator, walkers
        The estimator of autocorrelation times, and how it treats chains.
    map_options
        Further arguments of `diffusion_map`: method, epsilon, alpha, neighbours, outliers.
    bins
        The bins of free energies, a number or edges.

    Raises
    ------
    ValueError
        If shapes do not match, no row is left, or the inverse temperature is not positive, changes
        within the rows, or differs from the record beta.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.laws.autoregression(0.5, chains=2, draws=300, seed=1)[:, :, None]
    >>> records = {"potential": x[:, :, 0] ** 2 / 2}
    >>> study = kg.neural.analysis.Analysis(x, records, names=["weight0"])
    >>> study.covariance.shape, study.diffusion_map.eigenvalues.shape
    ((1, 1), (4,))
    >>> list(study.table("autocorrelation"))
    ['component', 'tau', 'mean', 'sigma']
    """

    draws: Any
    records: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] | None = None
    inverse_temperature: float = None  # type: ignore[assignment]  # from the records
    potential: str = None  # type: ignore[assignment]
    drop: int = 0
    every: int = 1
    steps: int = 10
    count: int = 4
    landmark_count: int = 5
    estimator: str = "sokal"
    walkers: str = "pooled"
    map_options: Mapping[str, Any] = field(default_factory=dict)
    bins: Any = 50

    def __post_init__(self) -> None:
        x = as_draws(self.draws, "Analysis")
        if self.drop < 0 or self.every < 1 or len(range(self.drop, x.shape[1], self.every)) < 2:
            raise ValueError(
                f"Analysis: drop={self.drop} and every={self.every} must leave two rows or more "
                f"of the {x.shape[1]} draws of a chain"
            )
        rows = {name: as_rows(v, "Analysis", name) for name, v in self.records.items()}
        for name, values in rows.items():
            if values.shape != x.shape[:2]:
                raise ValueError(
                    f"Analysis: expected the record {name} of shape {x.shape[:2]}, as the draws, "
                    f"got {values.shape}"
                )
        part = slice(self.drop, None, self.every)
        rows = {name: values[:, part] for name, values in rows.items()}
        potential, rows = potential_of(self.potential, rows)
        for name, value in (
            ("draws", x[:, part]),
            ("records", rows),
            ("names", parameter_names(self.names, x.shape[2], "Analysis")),
            ("inverse_temperature", inverse_temperature_of(self.inverse_temperature, rows)),
            ("potential", potential),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def from_files(trajectory: Any, run: Any = None, **options: Any) -> "Analysis":
        """The analysis of a trajectory file and a run file.

        Columns that are not records, such as weight0, bias0 or c0, are parameters. Rows of the same
        `id` are a chain. The inverse temperature is the column beta of the run file.

        Parameters
        ----------
        trajectory, run
            CSV files, or folders NAME.zarr; the second one may be None.
        **options
            Attributes of `Analysis`.

        Raises
        ------
        ValueError
            If a walker has fewer rows than another, the files have different rows or another order
            of them, by their columns id and step, or the trajectory has no parameters.
        """
        title = f"trajectory {str(trajectory)!r}"
        draws, names, records = chains_of(read_table(trajectory), title)
        if not names:
            raise ValueError(
                f"Analysis.from_files: {str(trajectory)!r} has no parameters, only the records "
                f"{', '.join(records)}; give the trajectory file first, then the run file"
            )
        if run is not None:
            more = chains_of(read_table(run), f"run file {str(run)!r}")[2]
            for values in more.values():
                if values.shape != draws.shape[:2]:
                    raise ValueError(
                        f"Analysis.from_files: {str(run)!r} has the shape {values.shape} of "
                        f"walkers and rows, but {str(trajectory)!r} has {draws.shape[:2]}"
                    )
            check_same_rows(trajectory, records, run, more, "Analysis.from_files")
            records = more | records
        records.pop("id", None)
        return Analysis(draws, records, names, **options)

    @staticmethod
    def from_tree(tree: Any, **options: Any) -> "Analysis":
        """The analysis of all targets in results of `kg.mcmc`.

        The records are the sample statistics of shape (chain, draw), and `potential` is minus the
        log density `lp`. The inverse temperature is a setting of the sampler. Records of a
        `Simulation` are taken as a tree, too: `from_tree(records.to_tree())`.

        Parameters
        ----------
        tree
            Results.
        **options
            Attributes of `Analysis`.

        Raises
        ------
        TypeError
            If the tree has no posterior.
        """
        draws, names, records = tree_arrays(tree, "Analysis.from_tree")
        beta = settings_temperature(tree.attrs)
        if beta is not None:
            records.setdefault("beta", np.full(draws.shape[:2], beta))
        return Analysis(draws, records, names, **options)

    @cached_property
    def averages(self) -> Columns:
        """Running averages of the loss and the energies, as of `running_averages`."""
        energies = {name: self.records[name] for name in _ENERGIES if name in self.records}
        if not energies:
            raise ValueError(
                f"Analysis.averages: expected one of the records {', '.join(_ENERGIES)}, got "
                f"{', '.join(self.records) or 'none'}; write Analysis(draws, {{'loss': losses}})"
            )
        return running_averages(energies, self.steps)

    def at_temperature(self, inverse_temperature: float) -> Columns:
        """The parameters' averages at another inverse temperature.

        The column `ess` has the effective sample size of the weights.

        Raises
        ------
        ValueError
            If the potential is not among the records, the inverse temperature is not positive, or
            the records are of training.
        """
        weighted = boltzmann_weights(
            self._energy("at_temperature"), self.inverse_temperature, inverse_temperature
        )
        columns = parameter_averages(self.draws, weights=weighted.weights, names=self.names)
        return columns | {"ess": np.full(len(columns["average"]), weighted.ess)}

    def _energy(self, title: str) -> np.ndarray:
        if self.potential not in self.records:
            raise ValueError(
                f"Analysis.{title}: no record {self.potential!r}, the potential U of the sampled "
                f"density exp(-beta U); the records are {', '.join(self.records) or 'none'}; give "
                "the run file, too, or write Analysis(draws, {'potential': values}), or potential= "
                "with the name of a record. The loss is U only without prior and with "
                "loss_scale='mean': then potential='loss' is right"
            )
        check_sampled(f"Analysis.{title}", self.records)
        warn_of_batches(f"Analysis.{title}", self.records)
        return self.records[self.potential]

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance of the parameters, all chains pooled."""
        return covariance_of(self.draws)

    @cached_property
    def eigenpairs(self) -> Eigenpairs:
        """The eigenvalues and eigenvectors of the covariance."""
        return eigenpairs_of(self.covariance)

    @cached_property
    def diffusion_map(self) -> DiffusionMap:
        """The diffusion map of the rows of all chains."""
        options = {"inverse_temperature": self.inverse_temperature} | dict(self.map_options)
        if options.get("method") == "tmdmap":
            options.setdefault("potential", self._energy("diffusion_map").reshape(-1))
        points = self.draws.reshape(-1, self.draws.shape[2])
        return diffusion_map_of(points, count=self.count, **options)

    @cached_property
    def landmarks(self) -> np.ndarray:
        """The indices of the landmarks in the diffusion coordinates."""
        return landmarks_of(self.diffusion_map.coordinates, self.landmark_count)

    @cached_property
    def level_sets(self) -> LevelSets:
        """The level sets of the first diffusion coordinate."""
        return level_sets_of(self.diffusion_map.coordinates[:, 0], self.landmarks)

    @cached_property
    def free_energy(self) -> FreeEnergy:
        """The free energy of the first diffusion coordinate."""
        check_sampled("Analysis.free_energy", self.records)
        first = self.diffusion_map.coordinates[:, 0]
        return free_energy_of(first, self.inverse_temperature, bins=self.bins)

    def autocorrelation_times(self, directions: Any = None) -> Columns:
        """Autocorrelation times of the parameters, or along directions.

        The function `autocorrelation_times` describes the columns.
        """
        return autocorrelation_times(
            self.draws,
            estimator=self.estimator,
            walkers=self.walkers,
            directions=directions,
            names=self.names if directions is None else None,
        )

    def table(self, name: str) -> Columns:
        """The columns of a result, by name.

        The names are averages, parameters, convergence, covariance, eigenvalues, eigenvectors,
        autocorrelation, eigenvector_autocorrelation, diffusion_map, diffusion_coordinates,
        landmarks, free_energy and level_free_energy.

        Raises
        ------
        ValueError
            If the name of the table is unknown, or a record that the table needs is missing.
        """
        return chosen(TABLES, name, "Analysis.table")(self)

    def write(self, folder: Any, *names: str) -> list[Path]:
        """Write tables to files NAME.csv in a folder.

        Parameters
        ----------
        folder
            The folder, which is made if it is missing.
        *names
            The names of tables.

        Returns
        -------
        list
            The files.
        """
        tables = {name: self.table(name) for name in names}
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, columns in tables.items():
            write_table(Path(folder) / f"{name}.csv", columns)
        return [Path(folder) / f"{name}.csv" for name in tables]
