"""`kg.neural.Simulation`: training and sampling of a network by one object with options."""

from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import ShapeError
from ..graph.public import public
from .assembling import SimulationParts
from .ingredients import DataPart
from .landscape import Landscape
from .losses import check_labels
from .options import check_options
from .prediction import log_predictive_density, predicted
from .records import TrajectoryData
from .saving import load_state, save_state
from .vectors import WalkerVectors

__all__ = ["Simulation"]

QUIET = {"progress": False, "verbose": 0}


@public
class Simulation(SimulationParts):
    """Training and sampling of a network, with everything that they need.

    The density of the parameters w is

        p(w) ~ exp(-beta U(w)),   U(w) = s L(w) + V(w)

    with L the mean loss of the rows, s the `loss_scale` and V the prior. Everything is made when it
    is first used: the network has as many inputs and outputs as the data. Each walker is a copy of
    the parameters. A change of an option makes only the parts again that depend on it; parameters
    and momenta are kept if their shapes agree.

    Parameters
    ----------
    dataset
        A pair [X, Y] of inputs and labels with the same number of rows. Files are given by the
        option `batch_data_files`.
    network
        Anything that `kg.neural.network` takes; by default a multilayer perceptron of the options.
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

    def set_options(self, **options: Any) -> None:
        """Set options by name.

        Only the parts that depend on them are made again. With `restore_model`, the state of the
        file is read first.

        Raises
        ------
        AttributeError, ValueError
            As the constructor; then no option is changed.
        DataError
            If a file of `restore_model` has another number of walkers or parameters.
        """
        given = check_options(options)
        if given.get("restore_model") is not None:
            count = given.get("number_walkers", self._options["number_walkers"])
            load_state(self, given["restore_model"], False, None, count)
        super().set_options(**given)

    # Runs.
    def fit(self, walker: int | None = None, *, keep: bool = True) -> TrajectoryData:
        """Train for max_steps steps, from the present parameters.

        Parameters
        ----------
        walker
            The walker that is trained; by default all.
        keep
            Whether rows are returned; with False only files have them.

        Returns
        -------
        TrajectoryData
            The parameters at the end become the parameters of the simulation.
        """
        before = self._vectors().copy()
        records = self._run("training", keep)
        self._save_model()
        if walker is not None:
            index = self._index(walker)
            after = self._vectors()[index].copy()
            before[index] = after
            self._positions = before
            frames = (records.run_info, records.trajectory, records.averages)
            only = [f[f["id"] == index].reset_index(drop=True) for f in frames]
            records = TrajectoryData(only[0], only[1], only[2], records.attrs, records.layout)
        return records

    def sample(self, *, keep: bool = True) -> TrajectoryData:
        """Make max_steps steps of the sampler, from the present parameters and momenta.

        Two calls make the steps of one call with twice as many steps, to the last bit.

        Parameters
        ----------
        keep
            Whether rows are returned; with False only files have them.
        """
        records = self._run("sampling", keep)
        self._save_model()
        return records

    def _save_model(self) -> None:
        if self._options["save_model"] is not None:
            self.save(self._options["save_model"])

    def step(self) -> pd.DataFrame:
        """Make one step of the sampler; return its row of each walker."""
        return self._run("sampling", True, {"max_steps": 1, "every_nth": 1, **QUIET}).run_info

    # Values at the present parameters.
    def loss(self, walker: int | None = None, *, full: bool = False) -> Any:
        """The mean loss L of the current batch, or of all rows."""
        return self._each(walker, lambda land, w: float(land.loss(w)), full)

    def potential(self, walker: int | None = None, *, full: bool = False) -> Any:
        """The potential U of the current batch, or of all rows."""
        return self._each(walker, lambda land, w: float(land.potential(w)), full)

    def gradients(self, walker: int | None = None, *, full: bool = False) -> Any:
        """The gradient of the potential U, (N,), on the current batch."""
        return self._each(walker, lambda land, w: land.gradient(w), full)

    def hessians(self, walker: int | None = None, *, full: bool = False) -> Any:
        """The Hessian of U, (N, N), on the current batch."""
        return self._each(walker, lambda land, w: land.hessian(w), full)

    def hessian_vector(self, v: Any, walker: int | None = None, *, full: bool = False) -> Any:
        """The Hessian of U times a vector, (N,), on the current batch."""
        vector = np.asarray(v, self._options["precision"])
        return self._each(walker, lambda land, w: land.hessian_vector(w, vector), full)

    def score(self, walker: int | None = None, *, full: bool = False) -> Any:
        """The accuracy on the current batch; NaN for a regression."""
        return self._each(walker, lambda land, w: float(land.accuracy(w)), full)

    def next_batch(self) -> None:
        """Take the next batch as the current one."""
        self._batch += 1

    def gradient_covariance(self, walker: int | None = None) -> Any:
        """The covariance of the gradients of the rows' losses, (N, N)."""
        values = self._model.landscape.row_values
        return self._each(walker, lambda land, w: np.cov(values.gradients(w).T), True)

    def hessian_spectrum(
        self, count: int = 1, which: str = "largest", walker: int | None = None
    ) -> Any:
        """Extreme eigenvalues of the Hessian of U on all rows, descending."""
        return self._each(walker, lambda land, w: land.hessian_eigenpairs(w, count, which)[0], True)

    def optimal_step_width(self, walker: int | None = None) -> Any:
        """The largest stable step size, 2 / sqrt(k).

        k is the largest eigenvalue of the Hessian of U on all rows.
        Schemes of Langevin dynamics are stable below it near the present parameters. It is infinite
        if U is not curved upwards.
        """

        def bound(land: Any, w: np.ndarray) -> float:
            (k,) = land.hessian_eigenpairs(w)[0]
            return float(2 / np.sqrt(k)) if k > 0 else float("inf")

        return self._each(walker, bound, True)

    def predict(
        self,
        X: Any,
        walker: int | None = None,
        *,
        trajectory: TrajectoryData | pd.DataFrame | None = None,
        quantiles: Any = (),
    ) -> Any:
        """The outputs of the network for rows of inputs, (rows, outputs).

        Parameters
        ----------
        X
            Inputs.
        walker
            The walker whose parameters are used.
        trajectory
            Records of a run: the result is then a `Prediction` with mean, standard deviation and
            quantiles over all of its rows and walkers.
        quantiles
            Probabilities.
        """
        x = np.asarray(X, self._options["precision"])
        shape = self._data.x.shape[1:]
        x = x[:, None] if x.ndim == 1 and shape == (1,) else x
        if x.shape[1:] != shape or not len(x):
            raise ShapeError(
                f"predict: expected rows of inputs, each of shape {shape}, got shape {x.shape}"
            )
        if trajectory is not None:
            draws = self._draws(trajectory)
            return predicted(self._model.landscape, draws, x, quantiles)
        return self._each(walker, lambda land, w: land.outputs(w, x), True)

    def log_predictive_density(
        self, X: Any, Y: Any, trajectory: TrajectoryData | pd.DataFrame
    ) -> np.ndarray:
        """log(mean of exp(-loss)) over a trajectory, for each row.

        If the loss is minus a log likelihood, this is the log predictive density of the average
        over the posterior.
        """
        data, land = DataPart.make([X, Y], self._options), self._model.landscape
        check_labels(land.row_loss, data.y, "log_predictive_density")
        land.check_widths(data.y, "log_predictive_density")
        draws = self._draws(trajectory)
        return log_predictive_density(land.row_values, draws, data.x, data.y)

    def _draws(self, trajectory: TrajectoryData | pd.DataFrame) -> np.ndarray:
        frame = trajectory.trajectory if isinstance(trajectory, TrajectoryData) else trajectory
        names = self._network.names
        if any(name not in frame for name in names):
            raise ValueError(
                f"predict: the trajectory needs the columns {names[0]} to {names[-1]}, got "
                f"{', '.join(map(str, frame.columns[:6]))}, ..."
            )
        if not len(frame):
            raise ValueError("predict: the trajectory has no rows")
        return frame[names].to_numpy(self._options["precision"])

    def _each(self, walker: int | None, value: Any, full: bool) -> Any:
        """A value of one walker, or the stacked values of several."""
        vectors = self._vectors()
        which = range(len(vectors)) if walker is None else [self._index(walker)]
        values = [value(self._landscape(i, full), vectors[i]) for i in which]
        single = walker is not None or (len(values) == 1 and not self._options["always_list"])
        return values[0] if single else np.stack(values)

    def _landscape(self, walker: int, full: bool) -> Any:
        """The landscape on a walker's current batch, or on all rows."""
        model = self._model
        land = model.landscape
        if full or model.model.batch is None:
            return land
        rows = model.rows(self._walkers().key(walker), np.array([self._batch]))
        assert rows is not None
        return land.on(land.x[rows[0]], land.y[rows[0]])

    def _index(self, walker: int) -> int:
        count = self._options["number_walkers"]
        if not isinstance(walker, (int, np.integer)) or not 0 <= walker < count:
            raise ValueError(
                f"walker: expected a number below number_walkers={count}, got {walker!r}"
            )
        return int(walker)

    @property
    def landscape(self) -> Landscape:
        """The losses of all rows at any free parameters, a `kg.neural.Landscape`."""
        return self._model.landscape

    @property
    def seed(self) -> int:
        """The seed, also if it was drawn from the system's entropy."""
        return int(self._seed)

    # Parameters and momenta.
    @property
    def parameters(self) -> WalkerVectors:
        """The free parameters, which may be set.

        `parameters[i]` are the parameters of walker i, and may be set, too.
        As an array they have the shape (N,), or (walkers, N) if there are several walkers.
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
        array = np.asarray(values, like.dtype)
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
        if not inverse > 0:
            raise ValueError(f"init_momenta: beta must be positive, got {beta!r}")
        rng = np.random.default_rng([self._seed, walkers.made])
        walkers.momenta = rng.normal(size=self._vectors().shape) / np.sqrt(inverse)

    def num_parameters(self) -> int:
        """The number of free parameters, N."""
        return len(self._network.layout.free)

    def num_walkers(self) -> int:
        """The number of walkers."""
        return int(self._options["number_walkers"])

    def reset_parameters(self, seed: int | None = None) -> None:
        """Begin again: initial parameters, and noise, batches and files from the beginning.

        With a seed they are drawn with this seed.
        """
        if seed is not None:
            self._options |= check_options({"seed": seed})
            self._seed = seed
        self._forget("network")
        self._positions = self._momenta = None
        self._made.clear()
        self._files = {role: {} for role in self._files}
        self._batch = 0

    @property
    def dataset(self) -> list[np.ndarray]:
        """Inputs and labels, [X, Y]; another pair may be set."""
        return list(self._data[:2])

    @dataset.setter
    def dataset(self, pair: Any) -> None:
        DataPart.make(pair, self._options)
        self._dataset = pair
        self._forget("data")
        self._batch = 0

    def reset_dataset(self) -> None:
        """Make the first batch the current one."""
        self._batch = 0

    # Files.
    def save(self, path: str) -> None:
        """Write the complete state to a file, from which `load` continues.

        The state has options, parameters, momenta, all other values of the chains, the position in
        the data and the averages.
        """
        save_state(self, path)

    def load(
        self, path: str, *, parameters_only: bool = False, walkers: list[int] | None = None
    ) -> None:
        """Read a state of `save`.

        A run then continues as if it had not been interrupted.

        Parameters
        ----------
        path
            The file.
        parameters_only
            Whether only parameters are read.
        walkers
            For each walker of this simulation the number of the walker of the file whose parameters
            it takes. It is needed if the numbers of walkers differ; new chains then begin.

        Raises
        ------
        DataError
            If the file has another number of walkers or parameters.
        """
        load_state(self, path, parameters_only, walkers, self._options["number_walkers"])
