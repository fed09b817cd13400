"""Values of a simulation at its present parameters: losses, derivatives and predictions."""

from typing import Any

import numpy as np
import pandas as pd

from ..graph.public import public
from ..graph.value_texts import shown
from .assembling import DATA_FIRST, SimulationParts
from .ingredients import DataPart
from .landscape import Landscape
from .losses import check_labels
from .prediction import log_predictive_density, predicted
from .records import TrajectoryData, draws_of
from .rows import check_columns, column_names, input_rows

__all__ = ["SimulationValues"]


@public
class SimulationValues(SimulationParts):
    """A simulation with the values at its present parameters."""

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
        """The largest stable step size, 2 / sqrt(k + eta / beta).

        k is the largest eigenvalue of the Hessian of U on all rows.
        Schemes of Langevin dynamics are stable below it near the present parameters. It is infinite
        if U is not curved upwards. eta is `covariance_blending`, beta the inverse temperature: for
        coupled walkers it is the bound if their covariance C is that of the normal approximation,
        because the dynamics then have the Hessian H (I + eta C) with C = H^-1 / beta.
        """
        coupling = self._options["covariance_blending"] / self._options["inverse_temperature"]

        def bound(land: Any, w: np.ndarray) -> float:
            k = land.hessian_eigenpairs(w)[0][0] + coupling
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
            The walker whose parameters, or whose rows of the trajectory, are used; by default all.
        trajectory
            Records of a run: the result is then a `Prediction` with mean, standard deviation and
            quantiles over its rows.
        quantiles
            Probabilities, for a trajectory.

        Raises
        ------
        DataError
            If columns of a frame are not the columns of the data in their order, or a number is
            not finite.
        ShapeError
            If rows have another shape.
        ValueError
            If the trajectory is of another network or has no rows of the walker, or quantiles are
            out of their range or given without a trajectory.
        """
        data, kind = self._data, self._options["precision"]
        x = input_rows(X, data.x.shape[1:], data.columns, kind, "predict")
        if trajectory is not None:
            draws = self._draws(trajectory, "predict", walker)
            return predicted(self._model.landscape, draws, x, quantiles)
        if np.size(quantiles):
            raise ValueError(
                "predict: quantiles are over the draws of a trajectory; write predict(X, "
                "trajectory=simulation.sample(), quantiles=...)"
            )
        return self._each(walker, lambda land, w: land.outputs(w, x), True)

    def log_predictive_density(
        self, X: Any, Y: Any, trajectory: TrajectoryData | pd.DataFrame
    ) -> np.ndarray:
        """log(mean of exp(-loss)) over a trajectory, for each row.

        If the loss is minus a log likelihood, this is the log predictive density of the average
        over the posterior.
        """
        doing = "log_predictive_density"
        check_columns(column_names(X), self._data.columns, doing)
        data, land = DataPart.make([X, Y], self._options), self._model.landscape
        check_labels(land.row_loss, data.y, doing)
        land.check_widths(data.y, doing)
        draws = self._draws(trajectory, doing)
        return log_predictive_density(land.row_values, draws, data.x, data.y)

    def _draws(
        self, trajectory: TrajectoryData | pd.DataFrame, doing: str, walker: int | None = None
    ) -> np.ndarray:
        """The free parameters of the rows of a trajectory of this network."""
        draws = draws_of(trajectory, self._network.layout, doing, walker)
        return draws.astype(self._options["precision"])

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
        if full or model.sees_all_rows:
            return land
        rows = model.rows(self._batch_key(walker), np.array([self._batch]))
        assert rows is not None
        present = rows[0][rows[0] < len(land.x)]
        return land.on(land.x[present], land.y[present])

    def _index(self, walker: int, hint: str = "") -> int:
        count = self._options["number_walkers"]
        whole = isinstance(walker, (int, np.integer)) and not isinstance(walker, bool)
        if not whole or not 0 <= walker < count:
            hint = f"; {DATA_FIRST}" if not np.isscalar(walker) else hint
            raise ValueError(
                f"walker: expected a number below number_walkers={count}, got {shown(walker)}{hint}"
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
