"""`kg.neural.Simulation`: training and sampling of a network by one object with options."""

from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import ShapeError
from ..graph.public import public
from ..runs.signals import Terminated
from .analysis.inputs import numbers
from .assembling import ROLES
from .ingredients import DataPart, check_source, source
from .options import check_options
from .record_files import check_files
from .records import TrajectoryData
from .rows import check_columns
from .saving import check_shapes, load_parameters, load_state, save_state
from .values import SimulationValues
from .vectors import WalkerVectors

__all__ = ["Simulation"]

QUIET = {"progress": False, "verbose": 0}


@public
class Simulation(SimulationValues):
    """Training and sampling of a network, with everything that they need.

    The density of the parameters w is

        p(w) ~ exp(-beta U(w)),   U(w) = s L(w) + V(w)

    with L the mean loss of the rows, s the `loss_scale` and V the prior. Everything is made when it
    is first used: the network has as many inputs and outputs as the data. Each walker is a copy of
    the parameters. A change of an option makes only the parts again that depend on it; parameters
    and momenta are kept if their shapes agree. With `fix_parameters`, free numbers keep their
    values, and numbers that become free begin at the values at which they were fixed.

    Parameters
    ----------
    dataset
        A pair [X, Y] of inputs and labels with the same number of rows, the data of
        `kg.neural.datasets.read`, or a CSV file or a list of CSV files, as `batch_data_files`.
        Arrays are copied; a read-only memory map in the precision of the simulation stays in its
        file.
    network
        Anything that `kg.neural.network` takes; by default a multilayer perceptron of the options.
        With a network, options of the perceptron, such as `hidden_dimension`, are refused.
    **options
        Options by name; `kg.neural.Simulation().help()` lists them.

    Raises
    ------
    AttributeError
        If the name of an option is unknown.
    ValueError
        If the value of an option is out of its range.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x = np.linspace(-1, 1, 20)[:, None]
    >>> nn = kg.neural.Simulation([x, 2 * x + 1], max_steps=100, learning_rate=0.3, seed=1)
    >>> trained = nn.fit()
    >>> bool(nn.loss() < 1e-6), nn.num_parameters()
    (True, 2)
    >>> nn.set_options(sampler="BAOAB", inverse_temperature=1000.0)
    >>> nn.sample().trajectory.columns.tolist()
    ['id', 'step', 'loss', 'weight0', 'bias0']

    Source: F. Heber, Z. Trstanova, B. Leimkuhler, arXiv:1903.08640.
    """

    def __init__(self, dataset: Any = None, network: Any = None, **options: Any) -> None:
        super().__init__(dataset, network, **options)
        if self._options["restore_model"] is not None:
            self.set_options(**check_options(options))
        self._check_fixed()

    def set_options(self, **options: Any) -> None:
        """Set options by name.

        Only the parts that depend on them are made again. With `restore_model`, the state of the
        file is read first.

        Raises
        ------
        AttributeError, ValueError
            As the constructor; then no option is changed.
        DataError
            If a file of `restore_model` has another number of walkers, or other parameters, than
            the given options, or if an object that a file cannot keep is missing; then no option
            is changed.
        """
        given = check_options(options)
        path = given.get("restore_model")
        with self._unchanged_by_errors():
            if path is not None:
                check_files(self._options | given)
                check_source(self._dataset, given)
                load_state(self, path, given)
            super().set_options(**given)
            if path is not None and self._positions is not None and self._layout is not None:
                check_shapes(path, self._layout.shapes, self._network.layout)
            self._check_fixed()

    # Runs.
    def fit(self, walker: int | None = None, *, keep: bool = True) -> TrajectoryData:
        """Train for max_steps steps, from the present parameters.

        Ctrl-C stops a run as in `sample`.

        Parameters
        ----------
        walker
            The walker that is trained; by default all. A walker that is trained alone has its own
            state of the optimiser and its own count of steps.
        keep
            Whether rows are returned; with False only files have them.

        Returns
        -------
        TrajectoryData
            The parameters at the end become the parameters of the simulation.
        """
        steps = f"; the number of steps is set by set_options(max_steps={walker})"
        role = "training" if walker is None else f"training:{self._index(walker, steps)}"
        return self._saved_run(role, keep)

    def sample(self, *, keep: bool = True) -> TrajectoryData:
        """Make max_steps steps of the sampler, from the present parameters and momenta.

        Two calls make the steps of one call with twice as many steps, to the last bit. Ctrl-C stops
        a run after a block of some seconds, and the records so far are returned; in the first block
        it raises `KeyboardInterrupt`, and no step is made.

        Parameters
        ----------
        keep
            Whether rows are returned; with False only files have them.
        """
        walkers = self._walkers()
        before, steps_before = (walkers.positions, self._collapsed), walkers.steps_made
        if self._options["collapse_walkers"]:
            self.collapse_walkers()
        try:
            return self._saved_run("sampling", keep)
        except BaseException:
            if walkers.steps_made == steps_before:
                self._positions, self._collapsed = before
            raise

    def collapse_walkers(self, walker: int | None = None) -> None:
        """Move all walkers to one of them, as an annealing step.

        Later records have `attrs["stationary"]` = False until `reset_parameters`, because walkers
        that begin together do not have the density of the sampler.

        Parameters
        ----------
        walker
            The walker to which the other walkers move; by default the one of lowest potential on
            all rows.
        """
        vectors = self._vectors()
        if walker is None:
            chosen = int(np.nanargmin(self.landscape.potential(vectors)))
        else:
            chosen = self._index(walker)
        self._positions = np.repeat(vectors[chosen][None], len(vectors), 0)
        self._collapsed = True

    def _saved_run(self, role: str, keep: bool) -> TrajectoryData:
        """Make a run, and write save_model, also after SIGTERM."""
        path = self._options["save_model"]
        try:
            records = self._run(role, keep)
        except Terminated:
            if path is not None:
                self.save(path)
            raise
        if path is not None:
            self.save(path)
        return records

    def step(self) -> pd.DataFrame:
        """Make one step of the sampler; return its row of each walker.

        With `covariance_blending` these are `covariance_after_steps` steps.
        """
        steps = self._walkers().steps_per_transition
        return self._run(
            "sampling", True, {"max_steps": steps, "every_nth": None, **QUIET}
        ).run_info

    # Parameters and momenta.
    @property
    def parameters(self) -> WalkerVectors:
        """The free parameters, which may be set.

        `parameters[i]` are the N parameters of walker i, and may be set, too; of one walker they
        are `parameters[0]`. As an array they have the shape (N,), or (walkers, N) if there are
        several walkers. To change one number, change a copy, `np.array(simulation.parameters)`,
        and set it.
        """
        return WalkerVectors(self, "parameters")

    @parameters.setter
    def parameters(self, values: Any) -> None:
        self._set("parameters", values)

    @property
    def momenta(self) -> WalkerVectors:
        """The momenta of the sampler, which may be set.

        Raises
        ------
        ModelError
            If the sampler keeps no momenta.
        """
        self._walkers()._need_momenta()
        return WalkerVectors(self, "momenta")

    @momenta.setter
    def momenta(self, values: Any) -> None:
        self._set("momenta", values)

    def _get(self, name: str) -> np.ndarray:
        return self._vectors() if name == "parameters" else self._walkers().momenta

    def _set(self, name: str, values: Any) -> None:
        like = self._vectors()
        array = numbers(values, name).astype(like.dtype)
        if array.shape not in (like.shape, like.shape[1:]):
            raise ShapeError(
                f"{name}: expected {like.shape[1]} numbers, or an array of shape {like.shape} of "
                f"walkers and numbers, got shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: values must be finite")
        full = np.array(np.broadcast_to(array, like.shape))
        if name == "momenta":
            self._walkers().momenta = full
        else:
            self._positions = full

    def init_momenta(self, beta: float | None = None) -> None:
        """Draw momenta: standard normal numbers times beta^(-1/2).

        By default beta is the inverse temperature.
        """
        walkers = self._walkers()
        inverse = self._options["inverse_temperature"] if beta is None else float(beta)
        if not 0 < inverse < np.inf:
            raise ValueError(f"init_momenta: beta must be positive and finite, got {beta!r}")
        rng = np.random.default_rng([self._seed, walkers.steps_made])
        walkers.momenta = rng.normal(size=self._vectors().shape) / np.sqrt(inverse)

    def num_parameters(self) -> int:
        """The number of free parameters, N."""
        return len(self._network.layout.free)

    def num_walkers(self) -> int:
        """The number of walkers."""
        return int(self._options["number_walkers"])

    def reset_parameters(self, seed: int | None = None) -> None:
        """Begin again: initial parameters, and noise, batches and files from the beginning.

        With a seed they are drawn with this seed. Nothing is compiled again.
        """
        if seed is not None:
            self._options |= check_options({"seed": seed})
            self._seed = seed
        part = self._parts.get("network")
        if part is not None:
            self._parts["network"] = part._replace(seed=self._seed)
        for role in ROLES:
            self._forget(role)
        self._positions = self._momenta = None
        self._made.clear()
        self._files = {}
        self._batch, self._collapsed = 0, False

    @property
    def dataset(self) -> list[np.ndarray]:
        """Inputs and labels, [X, Y]; another pair, or files, may be set.

        With data of the same shape nothing is compiled again.
        """
        return list(self._data[:2])

    @dataset.setter
    def dataset(self, dataset: Any) -> None:
        pair, given = source(dataset)  # one takes the place of the other
        check_files(self._options | given)
        data, model = DataPart.make(pair, self._options | given), self._parts.get("model")
        if self._positions is not None and "data" in self._parts:
            before = self._data.columns
            if sorted(data.columns) == sorted(before):
                check_columns(data.columns, before, "dataset")
        if model is not None and self._data.is_like(data, self._network.loss.labels == "classes"):
            if self._network.features is not None:
                self._network.features.check(data.x, "input_columns")
            self._parts["model"] = model.with_data(data)
            self._parts["data"] = data
            for role in ROLES:
                self._forget(role)
        else:
            self._forget("data")
        self._dataset, self._batch = pair, 0
        self._options |= given

    def reset_dataset(self) -> None:
        """Make the first batch the current one."""
        self._batch = 0

    # Files.
    def save(self, path: str) -> None:
        """Write the complete state to a file, from which `load` continues.

        The state has options, parameters, momenta, all other values of the chains, the position in
        the data and the averages. Samplers of `kg.samplers` are kept. Functions and other objects,
        such as `prior=log_density`, are not: `load` needs a simulation that has them.
        """
        save_state(self, path)

    def load(
        self, path: str, *, parameters_only: bool = False, walkers: list[int] | None = None
    ) -> None:
        """Read a state of `save`.

        A run then continues as if it had not been interrupted. The file's options replace the
        options of the simulation, also the number of walkers and the precision; data, options of
        output and `threads` stay. The simulation must have the objects that a file cannot keep,
        such as `network` or a function as `prior`.

        Parameters
        ----------
        path
            The file.
        parameters_only
            Whether only parameters are read. The options of the simulation stay as they are. A
            parameter that is fixed in the file is read, too, if it is free here.
        walkers
            For each walker of this simulation the number of the walker of the file whose parameters
            and momenta it takes. Options stay as they are, and new chains begin.

        Raises
        ------
        DataError
            If the file has other parameters, a number of the walkers is not in the file, an object
            is missing, or with `parameters_only` the file has another number of walkers.
        FileNotFoundError
            If the file does not exist.
        """
        with self._unchanged_by_errors():
            if parameters_only or walkers is not None:
                load_parameters(self, path, walkers, with_momenta=not parameters_only)
            else:
                load_state(self, path, {})
