"""The parts of a simulation: data, network and model.

Parts are made when they are first used, and made again after an option on which they depend has
changed.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..graph.errors import DataError
from ..graph.memory_maps import kept_in_its_file
from ..graph.precision import precision
from ..models.minibatch import minibatch
from ..models.model import Model
from ..models.model_of_targets import model
from ..models.restraints import wall
from ..models.variables import variable
from .analysis.files import read_table
from .datasets import InputColumns, LabelledData, read
from .datasets.reading import are_paths
from .landscape import Landscape
from .losses import Loss, check_labels
from .losses import loss as as_loss
from .network import Network, as_network, mlp
from .options import OPTIONS, check_options
from .parameters import ParameterLayout
from .posterior import scale_factor
from .row_values import rows_of_steps

__all__ = [
    "DataPart",
    "ModelPart",
    "NetworkPart",
    "check_source",
    "source",
]


Options = Mapping[str, Any]
PERCEPTRON = {  # options of the perceptron, and the parameters of kg.neural.mlp
    "hidden_dimension": "hidden",
    "hidden_activation": "activations",
    "output_activation": "output_activation",
    "bias": "bias",
    "initial": "initial",
    "dropout": "dropout",
}
_PAIR = "dataset: expected a pair of inputs and labels, [X, Y], or CSV files, got {}"


def check_source(dataset: Any, given: Options) -> None:
    """Refuse files of data together with a dataset.

    Raises
    ------
    ValueError
        With the files.
    """
    files = given.get("batch_data_files")
    if files and dataset is not None:
        raise ValueError(
            f"batch_data_files: got {files[0]!r}, but this simulation has a dataset, and files "
            "would be ignored; give one of them. To take the data of a file, write "
            "simulation.dataset = kg.neural.datasets.read(path)"
        )


def source(dataset: Any) -> tuple[Any, dict[str, Any]]:
    """The dataset without paths, and the options of the source of data."""
    if dataset is None:
        return None, {}
    if getattr(dataset, "ndim", 0) == 1:  # an array of paths
        dataset = list(dataset)
    if are_paths(dataset) and dataset:
        return None, check_options({"batch_data_files": dataset})
    return dataset, {"batch_data_files": ()}


class DataPart(NamedTuple):
    """Inputs (n, ...), labels (n, k), and the names of columns."""

    x: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...]

    @classmethod
    def make(cls, dataset: Any, options: Options) -> "DataPart":
        """The data of a pair of arrays, or of files.

        Raises
        ------
        DataError
            If the data are missing, their rows differ, or a number is not finite.
        """
        files, kind = options["batch_data_files"], np.dtype(options["precision"])
        if dataset is None and not files:
            raise DataError(
                "Simulation: the dataset is missing; write Simulation(dataset=[X, Y]), "
                "simulation.dataset = [X, Y] or batch_data_files='data.csv'"
            )
        if dataset is None:
            data = read(files, labels=options["output_dimension"])
        elif isinstance(dataset, LabelledData):
            data = dataset
        elif hasattr(dataset, "columns") and hasattr(dataset, "iloc"):
            raise DataError(
                _PAIR.format("a frame") + "; write kg.neural.datasets.read(frame, labels=...), "
                "with the names of the columns of labels"
            )
        elif isinstance(dataset, (str, bytes, Mapping)) or not hasattr(dataset, "__len__"):
            raise DataError(_PAIR.format(type(dataset).__name__))
        elif len(dataset) != 2:
            raise DataError(_PAIR.format(f"{type(dataset).__name__} of length {len(dataset)}"))
        else:
            data = read(tuple(dataset))
        x, y = (v.astype(kind, copy=not kept_in_its_file(v)) for v in (data.x, data.y))
        return cls(x, y, data.inputs)

    def is_like(self, other: "DataPart", classes: bool) -> bool:
        """Whether both have the same shapes, columns, and numbers of classes."""
        shapes = [(part.x.shape, part.y.shape, part.columns) for part in (self, other)]
        return shapes[0] == shapes[1] and not (classes and self.y.max() != other.y.max())


class NetworkPart(NamedTuple):
    """The network, the layout of its parameters, its loss, and initial parameters.

    `features` are the features of inputs, if there are any.
    """

    network: Network
    layout: ParameterLayout
    loss: Loss
    seed: int
    width: int
    row: np.ndarray
    features: InputColumns | None = None

    @classmethod
    def make(cls, given: Any, data: DataPart, options: Options, seed: int) -> "NetworkPart":
        """The network for the data."""
        names = options["hidden_activation"]
        for name, keyword in PERCEPTRON.items() if given is not None else ():
            default = OPTIONS[name].default
            if options[name] not in (default, (default,)):
                raise ValueError(
                    f"{name}: the option is for the perceptron of the options, and has no effect "
                    f"on network=; write network=kg.neural.mlp(..., {keyword}=...), or leave "
                    "network= out"
                )
        network = (
            as_network(given, "Simulation")
            if given is not None
            else mlp(
                options["hidden_dimension"],
                names[0] if len(names) == 1 else names,
                options["output_activation"],
                bias=options["bias"],
                initial="normal" if options["initial"] == "prior" else options["initial"],
                dropout=options["dropout"],
            )
        )
        features = None
        if options["input_columns"]:
            features = InputColumns(options["input_columns"], data.columns)
            features.check(data.x, "input_columns")
            network = features.network(network)
        loss = as_loss(options["loss"], "Simulation")
        check_labels(loss, data.y, "Simulation")
        classes = int(data.y.max()) + 1 if loss.labels == "classes" else 0
        width = loss.width(data.y.shape[1], classes)
        tree = network.start(jax.random.key(seed), data.x[0], width)
        layout = ParameterLayout(jax.tree.map(np.asarray, tree))
        if options["fix_parameters"]:
            layout = layout.fixing(options["fix_parameters"])
        return cls(network, layout, loss, seed, width, data.x[0], features)

    def start(self, walker: int, options: Options) -> np.ndarray:
        """The initial free parameters of a walker."""
        key = jax.random.key(self.seed)
        file = options["parse_parameters_file"]
        number = 0 if options["walker_starts"] == "same" else walker
        if file is not None:
            w = _row_of_file(file, options["parse_steps"], number, self.names)
        elif options["initial"] == "prior":
            w = _of_prior(jax.random.fold_in(key, number), len(self.layout.free), options)
        else:
            tree = self.network.start(jax.random.fold_in(key, number), self.row, self.width)
            w = np.asarray(self.layout.vector(tree))[self.layout.free]
        noise = jax.random.normal(jax.random.fold_in(key, 2**20 + walker), w.shape)
        values: np.ndarray = w + options["walker_jitter"] * np.asarray(noise)
        return values.astype(options["precision"])

    @property
    def names(self) -> list[str]:
        """The names of the free parameters."""
        columns = self.layout.columns
        return [columns[i] for i in self.layout.free]


def _of_prior(key: Any, count: int, options: Options) -> np.ndarray:
    """Draws of the normal prior at the inverse temperature, between the walls."""
    sd = options["prior"]
    if sd is None or callable(sd):
        raise ValueError(
            "initial: 'prior' needs the standard deviation of a normal prior; write prior=1.0, "
            "for example, or set the parameters"
        )
    sd = sd / np.sqrt(options["prior_factor"] * options["inverse_temperature"])
    low, high = options["prior_lower_boundary"], options["prior_upper_boundary"]
    low, high = -np.inf if low is None else low / sd, np.inf if high is None else high / sd
    return sd * np.asarray(jax.random.truncated_normal(key, low, high, (count,), float))


def _row_of_file(file: str, steps: Any, walker: int, names: list[str]) -> np.ndarray:
    """The parameters of a row of a trajectory file.

    Walker i takes the i-th of the steps, and the row of walker i there; both begin again after the
    last one.
    """
    frame = pd.DataFrame(read_table(file))
    missing = [name for name in names if name not in frame]
    if missing:
        raise DataError(
            f"parse_parameters_file: {file} has no column {missing[0]!r}; the network has "
            f"{len(names)} free parameters, {names[0]} to {names[-1]}"
        )
    step = steps[walker % len(steps)] if steps else frame["step"].iloc[-1]
    rows = frame[frame["step"] == step]
    if not len(rows):
        raise DataError(f"parse_steps: {file} has no row of step {step}")
    values: np.ndarray = rows[names].to_numpy(float)[walker % len(rows)]
    return values


class ModelPart(NamedTuple):
    """The landscape of the loss, and the density that samplers see."""

    landscape: Landscape
    model: Model

    @classmethod
    def make(cls, data: DataPart, part: NetworkPart, options: Options) -> "ModelPart":
        """The posterior in batches."""
        terms, factor = _prior_terms(part.layout, options), options["prior_factor"]

        def log_prior(tree: Any) -> Any:
            w = jnp.asarray(part.layout.vector(tree))[part.layout.free]
            return -factor * sum(term(w) for term in terms)

        count, size = len(data.x), options["batch_size"]
        if size is not None and size > count:
            raise ValueError(f"batch_size: expected at most the {count} rows of data, got {size}")
        # A number, because the sum over a batch is a part of the sum over the data.
        scale = float(count) if options["loss_scale"] == "sum" else options["loss_scale"]
        with precision(options["precision"]):
            landscape = Landscape(
                part.network,
                part.layout,
                part.loss,
                data.x,
                data.y,
                prior=log_prior if terms else None,
                scale=scale,
            )
            posterior_model = landscape.model
            if size is not None and size < count:
                posterior_model = minibatch(
                    posterior_model, size, order=options["shuffle"], last=options["last_batch"]
                )
        return cls(landscape, posterior_model)

    def with_data(self, data: DataPart) -> "ModelPart":
        """The posterior of other data of the same shape, without another compilation."""
        whole = self.landscape.model
        del self.landscape.__dict__["model"]  # a landscape that is in use makes its own again
        landscape = self.landscape.on(data.x, data.y)
        for each in {id(part): part for part in (whole, self.model)}.values():
            each.set_data(x=data.x, y=data.y)
        landscape.__dict__["model"] = whole
        return ModelPart(landscape, self.model)

    @property
    def scale(self) -> float:
        """The factor s of the mean loss in the potential."""
        count = len(self.landscape.x)
        return scale_factor(self.landscape.scale, count) * count

    @property
    def sees_all_rows(self) -> bool:
        """Whether each step sees all rows."""
        batch = self.model.batch
        return batch is None or batch.size == batch.count

    @property
    def noise(self) -> str | None:
        """The name of the noise of the potential, such as dropout."""
        return None if self.model.batch is None else self.model.batch.noise

    def rows(self, key: np.ndarray, events: np.ndarray) -> np.ndarray | None:
        """The rows of the batches of some transitions.

        None if all rows are used. Batches with fewer rows are filled with the number of all rows.
        """
        batch = self.model.batch
        return None if batch is None else rows_of_steps(batch.order, key, events)

    def epochs(self, steps: np.ndarray) -> np.ndarray:
        """The number of complete epochs after some steps."""
        batch = self.model.batch
        return steps if batch is None else np.asarray(batch.order.epoch(steps))


def _prior_terms(layout: ParameterLayout, options: Options) -> list[Any]:
    """The terms of V without its factor: functions of the free parameters."""
    given, terms = options["prior"], []
    if callable(given):
        terms.append(lambda w: -given(layout.tree(layout.filled(w))))
    elif given is not None:
        terms.append(lambda w: 0.5 * jnp.sum((w / given) ** 2))
    bounds = {
        "lower": options["prior_lower_boundary"],
        "upper": options["prior_upper_boundary"],
    }
    if bounds["lower"] is not None or bounds["upper"] is not None:
        with precision(options["precision"]):
            w = variable(shape=len(layout.free), name="parameters")
            wall(w, **bounds, power=options["prior_power"])
            terms.append(model(w).potential())
    return terms
