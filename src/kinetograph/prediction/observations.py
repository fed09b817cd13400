"""The observations that a cross-validation leaves out.

They are the elements of one observed array of a model, or numbers that are observed one by one.
They are left out in units: a unit is one observation, or a group of observations. Its log density
is

    log p(y_unit | the other y, x)

for each draw x of the continuous unknowns.
"""

from typing import Any

import numpy as np

from ..distributions.variable import Distribution
from ..graph.errors import DataError, ModelError, ShapeError
from ..graph.node import Node
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown
from ..models.model import Model, check_model
from ..models.row_labels import warn_of_other_rows
from ..models.unused_data import in_a_list
from .observed_distributions import followed
from .recorded_draws import is_same, recorded_data

__all__ = ["Observations", "log_mean_exp"]

NUMBERS = "observation"  # the dimension of numbers that are observed one by one


class Observations:
    """The observations of one observed array of a model, in units.

    Attributes
    ----------
    parts
        The array and its distribution, or several numbers with distributions.
    name
        The name of the array, or the first and the last name of several numbers.
    shape
        The shape of the array of observations: one for each number, vector or matrix.
    units
        The number of the unit of each observation, of that shape.
    labels
        The labels of the units, or None if each observation is a unit.
    dim
        The dimension of the units in results, if observations are grouped.
    """

    def __init__(self, doing: str, model: Model, var_name: Any = None, by: Any = None) -> None:
        check_model(model, doing)
        if model.batch is not None:
            raise ModelError(
                f"{doing}: the model estimates its likelihood from batches of rows (kg.minibatch); "
                "give the model without kg.minibatch"
            )
        self.parts = _chosen(doing, model, var_name)
        self.names = [model.name(node) for node, _ in self.parts]
        self.name = " to ".join(dict.fromkeys([self.names[0], self.names[-1]]))
        node, distribution = self.parts[0]
        ndim = len(node.shape) - distribution.family.event_ndim
        self.shape: tuple[int, ...] = node.shape[:ndim]
        if len(self.parts) > 1:
            self.shape, ndim = (len(self.parts),), 1
        count = int(np.prod(self.shape))
        self.units, self.dim = np.arange(count).reshape(self.shape), "group"
        self.labels: np.ndarray | None = None
        if by is not None:
            self.check_order(doing, "by", by, model)
            self._group(doing, by)
        if self.count < 2:
            noun = "group" if by is not None else "observation"
            one = "" if ndim or by is not None else ": one vector or number with a joint density"
            raise ModelError(
                f"{doing}: {self.name} has {self.count} {noun}{one}, and without it there is "
                "nothing to learn from; observe an array of observations that are independent "
                "given the unknowns"
            )

    def check_order(self, doing: str, title: str, given: Any, model: Model) -> None:
        """Warn if given values and the data have rows in different orders."""
        node, _ = self.parts[0]
        if len(self.parts) == 1 and node not in model.values:
            warn_of_other_rows(doing, title, given, node)

    def _group(self, doing: str, by: Any) -> None:
        if isinstance(by, str):
            raise TypeError(
                f"{doing}: by= must be the labels themselves, an array with one for each "
                f"observation, got the text {by!r}; write by=data[{by!r}]"
            )
        name = getattr(by, "name", None)
        by = getattr(getattr(by, "node", None), "value", by)  # an array made by kg.data
        values = np.asarray(by)
        if values.shape != self.shape:
            raise ShapeError(
                f"{doing}: by= must have a label for each observation of {self.name}, an array of "
                f"shape {self.shape}, got shape {values.shape}"
            )
        missing = np.array([v is None or v != v for v in values.ravel()], bool)
        if missing.any():
            place = ", ".join(map(str, np.unravel_index(int(missing.argmax()), values.shape)))
            raise DataError(
                f"{doing}: by= has no label at index [{place}]; give each observation a label, "
                "and an observation without a group a label of its own"
            )
        labels, numbers = np.unique(values, return_inverse=True)
        self.units, self.labels = numbers.reshape(self.shape), labels
        self.dim = name if isinstance(name, str) and name.isidentifier() else "group"

    def check_results(self, doing: str, model: Model, results: Any) -> None:
        """Raise if results hold other data than the model has.

        Raises
        ------
        DataError
            If a value or a shape differs.
        """
        nodes = dict(zip(self.names, (node for node, _ in self.parts), strict=True))
        recorded = recorded_data(results)
        nodes |= {model.name(node): node for node in model.data}
        for name, node in nodes.items():
            if name in recorded and not is_same(recorded[name].values, model.value_of(node)):
                raise DataError(
                    f"{doing}: the results are of other values of {name} than the model has; "
                    "sample the model with its present data"
                )

    def values(self, model: Model) -> np.ndarray:
        """The observed values."""
        values = [model.value_of(node) for node, _ in self.parts]
        return np.stack(values) if len(values) > 1 else values[0]

    def densities(self, tree: Any) -> Any:
        """The log densities of the observations in results, (chain, draw, *dims)."""
        import xarray as xr

        each = [tree["log_likelihood"][name] for name in self.names]
        if len(each) == 1:
            return each[0]
        axis = xr.DataArray(self.names, dims=(NUMBERS,), name=NUMBERS)
        together = xr.concat(each, axis, combine_attrs="drop_conflicts").rename(self.name)
        return together.transpose(..., NUMBERS)

    def axes(self, model: Model) -> dict[str, Any]:
        """The dimensions of the observations in results, with their labels."""
        if len(self.parts) > 1:
            return {NUMBERS: self.names}
        dims = model.axes(self.parts[0][0])[: len(self.shape)]
        sizes = zip(dims, self.shape, strict=True)
        return {dim: model.coords.get(dim, np.arange(size)) for dim, size in sizes}

    @property
    def count(self) -> int:
        """The number of units."""
        return int(np.prod(self.shape)) if self.labels is None else len(self.labels)

    def without(self, unit: Any) -> np.ndarray:
        """The mask of the observations that stay without some units."""
        mask: np.ndarray = ~np.isin(self.units, unit)
        return mask

    def text(self, unit: int) -> str:
        """A unit in a message."""
        if self.labels is not None:
            return f"{self.dim} {self.labels[unit]!s}"
        if len(self.parts) > 1:
            return self.names[unit]
        place = ", ".join(str(int(i)) for i in np.unravel_index(unit, self.shape))
        return f"{self.name}[{place}]"

    def by_unit(self, densities: Any) -> Any:
        """Log densities of observations (chain, draw, *dims), summed within units."""
        import xarray as xr

        if self.labels is None:
            return densities
        values = densities.values.reshape((*densities.shape[:2], -1))
        sums = np.zeros((*values.shape[:2], self.count))
        for i, unit in enumerate(self.units.ravel()):
            sums[..., unit] += values[..., i]
        return self.labelled(xr, sums, densities)

    def labelled(self, xr: Any, values: np.ndarray, like: Any) -> Any:
        """Values (chain, draw, unit) with the labels of the units."""
        coords = {dim: like.coords[dim] for dim in ("chain", "draw")}
        if self.labels is not None:
            coords[self.dim] = self.labels
            return xr.DataArray(values, coords, ("chain", "draw", self.dim))
        shaped = values.reshape((*values.shape[:2], *self.shape))
        return like.copy(data=shaped)


def _chosen(doing: str, model: Model, var_name: Any) -> list[tuple[Node, Distribution]]:
    """The chosen observed array and its distribution, or several numbers with distributions."""
    observed = {model.name(node): (node, d) for node, d in followed(doing, model).items()}
    if not observed:
        raise ModelError(
            f"{doing}: the model observes nothing, so that no density of single observations is "
            "known: state the data by kg.observe(y, kg.normal(...)); data in a kg.factor have a "
            "density as a whole only, and kg.distribution makes a distribution of your own"
        )
    if var_name is not None and not isinstance(var_name, str):
        raise TypeError(f"{doing}: var_name must be a name, got {shown(var_name)}")
    numbers = [(node, distribution) for node, distribution in observed.values() if not node.shape]
    if var_name is None:
        if len(observed) in (1, len(numbers)):
            return list(observed.values())
        raise ModelError(
            f"{doing}: the model observes {in_a_list([*observed])}; say which of them is left "
            f"out, as in var_name={next(iter(observed))!r}; the other data stay"
        )
    if var_name not in observed:
        raise ModelError(
            f"{doing}: {var_name!r} is not an observed array of the model, which observes "
            f"{', '.join(observed)}{did_you_mean(var_name, observed)}"
        )
    chosen = observed[var_name]
    if chosen not in numbers:
        return [chosen]
    return [
        (node, distribution)
        for node, distribution in numbers
        if distribution.site == chosen[1].site
    ]


def log_mean_exp(values: np.ndarray, axes: tuple[int, ...] = (0, 1)) -> np.ndarray:
    """The logarithm of the mean of exponentials, over chains and draws."""
    largest = np.max(values, axes, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        mean: np.ndarray = np.log(np.mean(np.exp(values - largest), axes))
    return mean + np.squeeze(largest, axes)
